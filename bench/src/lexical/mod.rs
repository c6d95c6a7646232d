//! The command `lexical`: full-text search ranked by relevance, index beside index, on passages made of real sentences.

mod competitor;
mod passages;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};
use postgres::Client;

use crate::data::queries::Form;
use crate::data::{Domain, Folder, queries};
use crate::machine;
use crate::server::{self, Address};
use competitor::{Competitor, present};
use report::{Report, Row};

const USAGE: &str = "usage: reground-bench lexical --uri URI --data FOLDER [OPTION]…

  --uri URI        server with the extension; a schema `lexical` of the database is made anew
  --data FOLDER    folder that holds mtrag/
  --passages N     passages that are made of its sentences (default 100000)
  --queries N      queries a number of words, at most (default 60)
  --limit N        rows that a query asks for (default 10)
  --out FILE       write the report there, besides standard output";

/// Words of a query from which on all are one group.
const MOST_WORDS: usize = 8;
/// Times that each query is asked of each competitor; the least counts, since the machine is never quiet.
const REPEATS: usize = 3;
/// A query that takes so long is asked once.
const LONG: Duration = Duration::from_millis(20);
/// Rows that are inserted one by one to see what that takes.
const INSERTS: usize = 2000;

/// What the command line asks for.
struct Options {
    uri: String,
    data: PathBuf,
    passages: usize,
    queries: usize,
    limit: usize,
    out: Option<PathBuf>,
}

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
    let mut rows = Vec::new();
    for competitor in present(&mut client)? {
        eprintln!("{}: CREATE INDEX …", competitor.name);
        let begun = Instant::now();
        competitor.build(&mut client)?;
        let built = begun.elapsed();
        rows.push(Row {
            name: competitor.name,
            built,
            bytes: competitor.size(&mut client)?,
            fresh: Vec::new(),
            updated: Vec::new(),
            vacuumed: Vec::new(),
            insert: Duration::ZERO,
            competitor,
        });
    }
    client.batch_execute("VACUUM ANALYZE lexical.passages")?;
    client.batch_execute("CHECKPOINT")?;
    let nothing = nothing(&mut client)?;
    ask(&address, &queries, &options, &mut rows, |row| {
        &mut row.fresh
    })?;
    for row in &mut rows {
        row.insert = inserts(&mut client, &row.competitor, &mut |client| {
            passages::insert(client, INSERTS)
        })?;
    }
    eprintln!("updating a tenth of the rows …");
    client
        .batch_execute("UPDATE lexical.passages SET body = body || ' again' WHERE id % 10 = 3")?;
    ask(&address, &queries, &options, &mut rows, |row| {
        &mut row.updated
    })?;
    client.batch_execute("VACUUM lexical.passages")?;
    ask(&address, &queries, &options, &mut rows, |row| {
        &mut row.vacuumed
    })?;
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

impl Options {
    fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut uri, mut data, mut out) = (None, None, None);
        let (mut passages, mut queries, mut limit) = (100_000, 60, 10);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("passages") => passages = parser.value()?.parse()?,
                Long("queries") => queries = parser.value()?.parse()?,
                Long("limit") => limit = parser.value()?.parse()?,
                Long("out") => out = Some(PathBuf::from(parser.value()?)),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(
            passages > 0 && queries > 0 && limit > 0,
            "numbers must be at least 1"
        );
        Ok(Some(Self {
            uri: uri.with_context(|| format!("no --uri\n\n{USAGE}"))?,
            data: data.with_context(|| format!("no --data\n\n{USAGE}"))?,
            passages,
            queries,
            limit,
            out,
        }))
    }
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

/// The time of a statement that does nothing, prepared.
fn nothing(client: &mut Client) -> Result<Duration> {
    let statement = client.prepare("SELECT 1")?;
    let mut times = Vec::new();
    for _ in 0..500 {
        let begun = Instant::now();
        client.query(&statement, &[])?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Asks every query of every competitor in turn, and notes the least of some times for each.
fn ask(
    address: &Address,
    queries: &[Vec<String>],
    options: &Options,
    rows: &mut [Row],
    into: fn(&mut Row) -> &mut Vec<Vec<Duration>>,
) -> Result<()> {
    let mut client = server::connect(address)?;
    client.batch_execute("SET jit = off")?;
    let mut statements = Vec::new();
    for row in rows.iter() {
        statements.push(client.prepare(&row.competitor.query(options.limit))?);
    }
    for group in queries {
        let mut times = vec![Vec::new(); rows.len()];
        for (number, query) in group.iter().enumerate() {
            let mut least = vec![Duration::MAX; rows.len()];
            for repeat in 0..=REPEATS {
                for step in 0..rows.len() {
                    // Each begins as often as the others.
                    let at = (step + number + repeat) % rows.len();
                    // What takes long is measured once: it would not be another order the next time.
                    if repeat > 0 && least[at] > LONG {
                        continue;
                    }
                    let begun = Instant::now();
                    client.query(&statements[at], &[query])?;
                    let took = begun.elapsed();
                    // The first time warms up.
                    least[at] = if repeat == 1 && least[at] <= LONG {
                        took
                    } else {
                        least[at].min(took)
                    };
                }
            }
            for (times, least) in times.iter_mut().zip(least) {
                times.push(least);
            }
        }
        for (row, mut times) in rows.iter_mut().zip(times) {
            times.sort_unstable();
            into(row).push(times);
        }
    }
    Ok(())
}

/// The time of inserts with this index alone.
fn inserts(
    client: &mut Client,
    competitor: &Competitor,
    insert: &mut dyn FnMut(&mut Client) -> Result<()>,
) -> Result<Duration> {
    competitor.alone(client)?;
    // Waiting for the disk is the same for all.
    client.batch_execute("SET synchronous_commit = off")?;
    let begun = Instant::now();
    insert(client)?;
    let took = begun.elapsed();
    client.batch_execute("RESET synchronous_commit; DROP TABLE lexical.inserted")?;
    Ok(took)
}
