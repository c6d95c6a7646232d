//! Evaluation of the extension on data that nobody on the project wrote, through its public SQL functions.

mod data;
mod load;
mod progress;
mod reference;
mod replay;
mod report;
mod retrieval;
mod twins;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use lexopt::prelude::{Long, Value, ValueExt};
use postgres::{Client, NoTls};

use data::corpus::Corpus;
use data::queries::{self, Form, Judgements};
use data::{Domain, Folder, tasks};
use replay::Replay;
use retrieval::List;
use twins::Twins;

const USAGE: &str = "usage: reground-bench eval --uri URI --data FOLDER [--all] [--connections N]

  --uri URI          server with the extension
  --data FOLDER      folder that holds mtrag/
  --all              besides the user's words, their rewrites and all questions so far
  --connections N    searches at a time (default 2)";

struct Options {
    uri: String,
    data: PathBuf,
    forms: &'static [Form],
    connections: usize,
}

fn main() -> Result<()> {
    let Some(options) = options()? else {
        println!("{USAGE}");
        return Ok(());
    };
    evaluate(&options)
}

/// What the command line asks for; `None` for help.
fn options() -> Result<Option<Options>> {
    let mut parser = lexopt::Parser::from_env();
    let (mut command, mut uri, mut data) = (None, None, None);
    let (mut all, mut connections) = (false, 2);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") => return Ok(None),
            Long("uri") => uri = Some(parser.value()?.string()?),
            Long("data") => data = Some(PathBuf::from(parser.value()?)),
            Long("all") => all = true,
            Long("connections") => connections = parser.value()?.parse()?,
            Value(value) if command.is_none() => command = Some(value.string()?),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    if command.as_deref() != Some("eval") || connections == 0 {
        bail!("{USAGE}");
    }
    Ok(Some(Options {
        uri: uri.context(USAGE)?,
        data: data.context(USAGE)?,
        forms: if all { &Form::ALL } else { &Form::ALL[..1] },
        connections,
    }))
}

fn evaluate(options: &Options) -> Result<()> {
    let begun = Instant::now();
    let folder = Folder::below(&options.data)?;
    let mut clients = (0..options.connections)
        .map(|_| connect(&options.uri))
        .collect::<Result<Vec<Client>>>()?;

    println!("# Evaluation on MTRAG\n");
    let (corpora, loads) = corpora(&folder, &mut clients[0])?;
    report::loads(&loads);
    for &form in options.forms {
        let mut measured = Vec::new();
        for (domain, judgements, twins) in &corpora {
            let queries = queries::queries(&folder, *domain, form)?;
            for list in List::ALL {
                measured.push(retrieval::measure(
                    &mut clients,
                    (*domain, form, list),
                    &queries,
                    judgements,
                    twins,
                )?);
            }
        }
        report::retrieval(form, &measured);
    }
    replay(&folder, &mut clients[0], &corpora)?;
    report::total(begun.elapsed());
    Ok(())
}

/// A connection that does not repeat warnings which are meant: lists of one branch have no embedding.
fn connect(uri: &str) -> Result<Client> {
    let mut client = Client::connect(uri, NoTls).context("no connection to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

/// A corpus that stands in the database, with what is needed to judge a result.
type Standing = (Domain, Judgements, Twins);

/// Loads both corpora.
fn corpora(folder: &Folder, client: &mut Client) -> Result<(Vec<Standing>, Vec<load::Load>)> {
    let mut loads = Vec::new();
    let corpora = Domain::ALL
        .into_iter()
        .map(|domain| {
            loads.push(load::load(client, &Corpus::read(folder, domain)?)?);
            let judgements = queries::judgements(folder, domain)?;
            Ok((domain, judgements, Twins::read(client, &domain.corpus())?))
        })
        .collect::<Result<_>>()?;
    Ok((corpora, loads))
}

/// Holds the longest conversation of the data again.
fn replay(folder: &Folder, client: &mut Client, corpora: &[Standing]) -> Result<()> {
    let mut all = Vec::new();
    for domain in Domain::ALL {
        all.extend(tasks::conversations(folder, domain)?);
    }
    let longest = tasks::longest(all).context("the data hold no conversation")?;
    let (domain, judgements, twins) = corpora
        .iter()
        .find(|(domain, ..)| *domain == longest.domain)
        .context("the conversation belongs to no corpus")?;
    let queries = queries::queries(folder, *domain, Form::LastTurn)?;
    let replay = Replay {
        queries: &queries,
        judgements,
        twins,
    };
    let (name, turns) = replay.hold(client, &longest)?;
    report::replay(&name, &longest, &turns);
    Ok(())
}
