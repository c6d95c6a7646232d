//! The command `lexical`: compares indexes for ranked full-text search, on passages made of real sentences.

mod competitor;
mod filters;
mod options;
mod pairs;
pub mod passages;
mod report;
#[cfg(feature = "tantivy")]
mod tantivy_index;
mod timing;

use std::time::Instant;

use anyhow::{Context, Result};
use postgres::Client;

use self::competitor::{Competitor, available};
use self::options::{Options, USAGE};
use self::report::{Report, Row, Times};
use self::timing::{LONG_LIST, Search, connect, inserts, rate, round_trip, time_queries};
use crate::data::queries::Form;
use crate::data::{Domain, Folder, queries};
use crate::database::machine;
use crate::database::server::{self, Address};

/// Queries with this number of words or more are one group.
const MOST_WORDS: usize = 8;
/// Rows of the insert measurement.
const INSERTS: usize = 2000;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    let digest = passages::load(&mut client, &folder, options.passages)?;
    let queries = group_by_words(&mut client, &folder, options.queries)?;
    let competitors = available(&mut client, &options.only)?;
    let rows = build(&mut client, &competitors)?;
    let round_trip = round_trip(&mut client)?;
    let mut rows = searches(&address, &competitors, &queries, options.limit, rows)?;
    let (mut filters, mut pairs) = (Vec::new(), Vec::new());
    if !options.searches_only {
        changes(
            &mut client,
            &address,
            &competitors,
            &queries,
            options.limit,
            &mut rows,
        )?;
        filters = filters::measure(&mut client, &address, &competitors, &queries, options.limit)?;
        pairs = pairs::measure(&mut client, &address, options.limit)?;
    }
    let report = Report {
        machine: machine::describe(&mut client, &address)?,
        passages: options.passages,
        digest,
        limit: options.limit,
        inserts: INSERTS,
        queries: queries.iter().map(Vec::len).collect(),
        round_trip,
        rows,
        filters,
        pairs,
    };
    let text = report.markdown()?;
    print!("{text}");
    if let Some(out) = &options.out {
        std::fs::write(out, &text).with_context(|| out.display().to_string())?;
    }
    Ok(())
}

/// Builds the index of each competitor; one row of the report for each.
fn build(client: &mut Client, competitors: &[Competitor]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for competitor in competitors {
        eprintln!("{}: CREATE INDEX …", competitor.name);
        let begun = Instant::now();
        competitor.build(client)?;
        rows.push(Row {
            name: competitor.name,
            built: begun.elapsed(),
            bytes: competitor.size(client)?,
            ..Row::default()
        });
    }
    client.batch_execute("VACUUM ANALYZE lexical.passages")?;
    client.batch_execute("CHECKPOINT")?;
    Ok(rows)
}

/// Measures the searches in the fresh indexes. Adds a row for tantivy if it is compiled in.
fn searches(
    address: &Address,
    competitors: &[Competitor],
    queries: &[Vec<String>],
    limit: usize,
    mut rows: Vec<Row>,
) -> Result<Vec<Row>> {
    #[cfg(feature = "tantivy")]
    let mut tantivy = {
        eprintln!("tantivy: reading the passages …");
        let index = tantivy_index::TantivyIndex::build(&mut server::connect(address)?)?;
        rows.push(Row {
            name: "tantivy, in process",
            built: index.built,
            bytes: index.bytes,
            // No round trip to a server.
            round_trips: false,
            ..Row::default()
        });
        index
    };
    let mut searches = connect_all(address, competitors, limit)?;
    #[cfg(feature = "tantivy")]
    searches.push(Box::new(|query: &str| {
        tantivy.search(query, limit)?;
        Ok(())
    }));
    note(&mut rows, &mut searches, queries, |row| &mut row.fresh)?;
    let mut long = connect_all(address, competitors, LONG_LIST)?;
    note(&mut rows, &mut long, queries, |row| &mut row.long)?;
    for (row, competitor) in rows.iter_mut().zip(competitors) {
        row.rate = Some(rate(address, queries, limit, competitor)?);
    }
    Ok(rows)
}

/// Measures inserts, and the searches after changes of the rows. The rows of tantivy do not change.
fn changes(
    client: &mut Client,
    address: &Address,
    competitors: &[Competitor],
    queries: &[Vec<String>],
    limit: usize,
    rows: &mut [Row],
) -> Result<()> {
    for (row, competitor) in rows.iter_mut().zip(competitors) {
        row.insert = Some(inserts(client, competitor, &mut |client| {
            passages::insert(client, INSERTS)
        })?);
    }
    let mut searches = connect_all(address, competitors, limit)?;
    eprintln!("updating a tenth of the rows …");
    client
        .batch_execute("UPDATE lexical.passages SET body = body || ' again' WHERE id % 10 = 3")?;
    note(rows, &mut searches, queries, |row| &mut row.updated)?;
    client.batch_execute("VACUUM lexical.passages")?;
    note(rows, &mut searches, queries, |row| &mut row.vacuumed)
}

/// Connects to the server once for each competitor.
fn connect_all<'a>(
    address: &Address,
    competitors: &[Competitor],
    limit: usize,
) -> Result<Vec<Search<'a>>> {
    let each = competitors.iter();
    each.map(|competitor| Ok(connect(address, competitor, limit)? as Search<'a>))
        .collect()
}

/// Runs all queries, and notes the times of each search in its row.
fn note(
    rows: &mut [Row],
    searches: &mut [Search<'_>],
    queries: &[Vec<String>],
    into: SelectTimes,
) -> Result<()> {
    for (row, times) in rows.iter_mut().zip(time_queries(searches, queries)?) {
        *into(row) = times;
    }
    Ok(())
}

/// Selects the times of a row that a measurement fills.
type SelectTimes = fn(&mut Row) -> &mut Times;

/// The users' last words and their rewrites, grouped by their number of distinct lexemes; the last group has more.
fn group_by_words(client: &mut Client, folder: &Folder, most: usize) -> Result<Vec<Vec<String>>> {
    let count = client.prepare("SELECT coalesce(length(to_tsvector('english', $1)), 0)")?;
    let mut groups = vec![Vec::new(); MOST_WORDS];
    for domain in Domain::ORIGINAL {
        for form in [Form::LastTurn, Form::Rewrite] {
            for query in queries::queries(folder, domain, form)? {
                let words: i32 = client.query_one(&count, &[&query.text])?.get(0);
                let group = usize::try_from(words).unwrap_or_default().min(MOST_WORDS);
                if let Some(group) = group.checked_sub(1).and_then(|at| groups.get_mut(at))
                    && group.len() < most
                    && !group.contains(&query.text)
                {
                    group.push(query.text);
                }
            }
        }
    }
    Ok(groups)
}
