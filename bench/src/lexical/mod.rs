//! The command `lexical`: full-text search ranked by relevance, index beside index, on passages made of real sentences.

mod ask;
mod competitor;
#[cfg(feature = "tantivy")]
mod in_process;
mod options;
mod passages;
mod report;

use std::time::Instant;

use anyhow::{Context, Result};
use postgres::Client;

use self::ask::{ask, connected, inserts, nothing, rate};
use self::competitor::present;
use self::options::{Options, USAGE};
use self::report::{Report, Row, Times};
use crate::data::queries::Form;
use crate::data::{Domain, Folder, queries};
use crate::machine;
use crate::server;

/// Words of a query from which on all are one group.
const MOST_WORDS: usize = 8;
/// Rows that are inserted one by one to see what that takes.
const INSERTS: usize = 2000;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Arguments that are none, data or a server that refuse.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let address = server::nearest(&options.uri)?;
    let mut client = server::connect(&address)?;
    let digest = passages::load(&mut client, &folder, options.passages)?;
    let queries = by_words(&mut client, &folder, options.queries)?;
    let competitors = present(&mut client, &options.only)?;
    let mut rows = Vec::new();
    for competitor in &competitors {
        eprintln!("{}: CREATE INDEX …", competitor.name);
        let begun = Instant::now();
        competitor.build(&mut client)?;
        rows.push(Row {
            name: competitor.name,
            built: begun.elapsed(),
            bytes: competitor.size(&mut client)?,
            ..Row::default()
        });
    }
    client.batch_execute("VACUUM ANALYZE lexical.passages")?;
    client.batch_execute("CHECKPOINT")?;
    let nothing = nothing(&mut client)?;
    #[cfg(feature = "tantivy")]
    let mut in_process = {
        eprintln!("tantivy: reading the passages …");
        let built = in_process::InProcess::build(&mut client)?;
        rows.push(Row {
            name: "tantivy, in process",
            built: built.built,
            bytes: built.bytes,
            // What a client waits for the server is no part of it.
            waits: false,
            ..Row::default()
        });
        built
    };
    let mut asked = Vec::new();
    for competitor in &competitors {
        asked.push(connected(&address, competitor, options.limit)?);
    }
    #[cfg(feature = "tantivy")]
    asked.push(Box::new(|query: &str| {
        in_process.search(query, options.limit)?;
        Ok(())
    }));
    let note = |rows: &mut [Row], into: fn(&mut Row) -> &mut Times, times: Vec<Times>| {
        for (row, times) in rows.iter_mut().zip(times) {
            *into(row) = times;
        }
    };
    note(&mut rows, |row| &mut row.fresh, ask(&mut asked, &queries)?);
    // It has no rows that change.
    asked.truncate(competitors.len());
    for (row, competitor) in rows.iter_mut().zip(&competitors) {
        row.rate = Some(rate(&address, &queries, options.limit, competitor)?);
        row.insert = Some(inserts(&mut client, competitor, &mut |client| {
            passages::insert(client, INSERTS)
        })?);
    }
    eprintln!("updating a tenth of the rows …");
    client
        .batch_execute("UPDATE lexical.passages SET body = body || ' again' WHERE id % 10 = 3")?;
    note(
        &mut rows,
        |row| &mut row.updated,
        ask(&mut asked, &queries)?,
    );
    client.batch_execute("VACUUM lexical.passages")?;
    note(
        &mut rows,
        |row| &mut row.vacuumed,
        ask(&mut asked, &queries)?,
    );
    let report = Report {
        machine: machine::describe(&mut client, &address)?,
        passages: options.passages,
        digest,
        limit: options.limit,
        inserts: INSERTS,
        queries: queries.iter().map(Vec::len).collect(),
        nothing,
        rows,
    };
    let text = report.markdown()?;
    print!("{text}");
    if let Some(out) = &options.out {
        std::fs::write(out, &text).with_context(|| out.display().to_string())?;
    }
    Ok(())
}

/// The users' last words and their rewrites, by the number of distinct words that an index knows; the last group has more.
fn by_words(client: &mut Client, folder: &Folder, most: usize) -> Result<Vec<Vec<String>>> {
    let count = client.prepare("SELECT coalesce(length(to_tsvector('english', $1)), 0)")?;
    let mut groups = vec![Vec::new(); MOST_WORDS];
    for domain in Domain::ALL {
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
