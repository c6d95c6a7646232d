//! The command `eval`: how good retrieval and the turn are, held against human judgements.

mod asking;
mod figures;
mod floors;
mod graph;
mod options;
mod parallel;
mod reference;
mod relations;
mod replay;
mod report;
mod retrieval;
mod sample;
mod strategies;

pub use replay::{citing, overlap};

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use postgres::{Client, NoTls};

use crate::data::corpus::Corpus;
use crate::data::queries::{self, Judgements};
use crate::data::tasks::{self, Conversation};
use crate::data::{Domain, Folder};
use crate::load::{self, Load};
use crate::twins::Twins;
use asking::{Asked, Asking, Way, folds};
use options::{Options, Part};
use replay::Held;
use replay::arm::Arm;
use replay::tally;
use retrieval::{List, Measured};

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Arguments that are none, data or a server that refuse, figures below their floors.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let begun = Instant::now();
    let folder = Folder::below(&options.data)?;
    let mut clients = (0..options.connections)
        .map(|_| connect(&options.uri))
        .collect::<Result<Vec<Client>>>()?;

    println!("# Evaluation on MTRAG\n");
    let (corpora, loads) = corpora(&folder, &mut clients[0])?;
    report::loads::print(&loads);
    let conversations = conversations(&folder, options.sample)?;
    if let Some(id) = &options.show {
        return show(&folder, &mut clients[0], &corpora, &conversations, id);
    }
    report::loads::scope(&conversations, options.sample);

    let mut measured = Vec::new();
    if options.runs(Part::Retrieval) {
        measured = retrieval(&folder, &mut clients, &corpora, &options)?;
    }
    let mut ways = Vec::new();
    if options.runs(Part::Asking) {
        ways = asking(
            &folder,
            &mut clients,
            &corpora,
            &conversations,
            options.sample,
        )?;
    }
    if options.only(Part::Graph) {
        let edges = graph::put(&mut clients[0], &corpora)?;
        let replay = replay::Replay::read(&folder, &corpora)?;
        let held = replay.hold_all(&mut clients, &graph::ARMS, &conversations)?;
        report::graph::print(&edges, &held);
    }
    let mut arms = Vec::new();
    if options.runs(Part::Replay) {
        arms = replay(
            &folder,
            &mut clients,
            &corpora,
            &conversations,
            options.sample,
        )?;
    }
    if options.runs(Part::Strategies) {
        strategies(&folder, &mut clients, &corpora, &conversations, &options)?;
    }
    let verdict = judge(&measured, &ways, &arms, &options);
    report::loads::total(begun.elapsed());
    verdict
}

/// A connection that does not repeat warnings which are meant: lists of one branch have no embedding.
fn connect(uri: &str) -> Result<Client> {
    let mut client = Client::connect(uri, NoTls).context("no connection to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

/// A corpus that stands in the database, with what is needed to judge a result.
struct Standing {
    domain: Domain,
    judgements: Judgements,
    twins: Twins,
}

impl Standing {
    /// What humans judged relevant to a query, twins as one; empty for an unjudged one.
    fn gold(&self, query: &str) -> BTreeSet<String> {
        let judged = self.judgements.get(query);
        judged.map_or_else(BTreeSet::new, |ids| self.twins.of_ids(ids))
    }
}

/// Loads both corpora.
fn corpora(folder: &Folder, client: &mut Client) -> Result<(Vec<Standing>, Vec<Load>)> {
    let mut loads = Vec::new();
    let corpora = Domain::ALL
        .into_iter()
        .map(|domain| {
            loads.push(load::load(client, &Corpus::read(folder, domain)?)?);
            Ok(Standing {
                domain,
                judgements: queries::judgements(folder, domain)?,
                twins: Twins::read(client, &domain.corpus())?,
            })
        })
        .collect::<Result<_>>()?;
    Ok((corpora, loads))
}

/// The conversations of both domains, or the sample of them.
fn conversations(folder: &Folder, sample: bool) -> Result<Vec<Conversation>> {
    let mut all = Vec::new();
    for domain in Domain::ALL {
        all.extend(tasks::conversations(folder, domain)?);
    }
    all.retain(|conversation| !sample || sample::holds(&conversation.id));
    Ok(all)
}

fn retrieval(
    folder: &Folder,
    clients: &mut [Client],
    corpora: &[Standing],
    options: &Options,
) -> Result<Vec<Measured>> {
    let mut measured = Vec::new();
    for &form in &options.forms {
        let first = measured.len();
        for corpus in corpora {
            let mut queries = queries::queries(folder, corpus.domain, form)?;
            queries.retain(|query| !options.sample || sample::holds(query.conversation()));
            for list in List::ALL {
                let which = (corpus.domain, form, list);
                measured.push(retrieval::measure(clients, which, &queries, corpus)?);
            }
        }
        report::retrieval::print(form, &measured[first..], options.sample);
    }
    Ok(measured)
}

/// Ways of asking, each with the judged turns.
type Ways = Vec<(Way, Vec<Asked>)>;

fn asking(
    folder: &Folder,
    clients: &mut [Client],
    corpora: &[Standing],
    conversations: &[Conversation],
    sample: bool,
) -> Result<Ways> {
    let asking = Asking::read(folder, corpora)?;
    let tried: &[Way] = if sample { &[] } else { &Way::TRIED };
    let mut ways = Vec::new();
    for &way in Way::COMPARED.iter().chain(tried) {
        ways.push((way, asking.ask(clients, way, conversations)?));
    }
    let choices = ways
        .iter()
        .filter(|(way, _)| matches!(way, Way::Turn | Way::Contextual(_)));
    let choices: Vec<(Way, &[Asked])> = choices.map(|(way, asked)| (*way, &asked[..])).collect();
    let chosen = if sample {
        None
    } else {
        folds::choose(&choices)
    };
    ways.truncate(Way::COMPARED.len());
    report::asking::print(&ways, chosen.as_ref());
    Ok(ways)
}

fn replay(
    folder: &Folder,
    clients: &mut [Client],
    corpora: &[Standing],
    conversations: &[Conversation],
    sample: bool,
) -> Result<Vec<(Arm, Vec<Held>)>> {
    let replay = replay::Replay::read(folder, corpora)?;
    let arms: &[Arm] = if sample { &Arm::SAMPLE } else { &Arm::ALL };
    let held = replay.hold_all(clients, arms, conversations)?;
    report::replay::print(&held);
    report::citations::print(&held);
    let baseline = held.iter().find(|(arm, _)| *arm == Arm::None);
    for (arm, held) in held.iter().filter(|(arm, _)| arm.equal_size()) {
        let unequal =
            baseline.map_or_else(Vec::new, |(_, baseline)| tally::unequal(held, baseline));
        ensure!(
            unequal.is_empty(),
            "contexts of {} that are not as large as without carry-over, so that nothing can be compared: {}",
            arm.name(),
            unequal.join(", ")
        );
    }
    Ok(held)
}

/// Holds the conversations again by each strategy. No citation may be lost, whatever a history is compressed to.
fn strategies(
    folder: &Folder,
    clients: &mut [Client],
    corpora: &[Standing],
    conversations: &[Conversation],
    options: &Options,
) -> Result<()> {
    let replay = replay::Replay::read(folder, corpora)?;
    let arms = strategies::arms(options.sample);
    let held = replay.hold_all(clients, &arms, conversations)?;
    let measured = strategies::measured(&held);
    let lines = measured.iter().map(serde_json::to_string);
    let lines = lines
        .collect::<serde_json::Result<Vec<String>>>()?
        .join("\n");
    // The command `simulation` makes a table of it, beside the published model.
    match &options.strategies {
        Some(path) => fs::write(path, lines + "\n")?,
        None => println!("## Strategies\n\n{lines}\n"),
    }
    let lost = report::compression::print(&held);
    ensure!(lost == 0, "{lost} citations are not in the ledgers");
    Ok(())
}

/// Holds the figures against their floors and relations, and raises the floors where that is asked for.
fn judge(
    measured: &[Measured],
    ways: &[(Way, Vec<Asked>)],
    arms: &[(Arm, Vec<Held>)],
    options: &Options,
) -> Result<()> {
    let Some(floors) = &options.floors else {
        return Ok(());
    };
    let figures = [
        figures::of_retrieval(measured),
        figures::of_asking(ways),
        figures::of_replay(arms),
    ]
    .concat();
    let relations = if options.sample {
        relations::of_sample(measured)
    } else {
        [relations::of_all(measured), relations::of_asking(ways)].concat()
    };
    report::floors::relations(&relations);
    let below = [
        relations::broken(&relations),
        floors.apply(options.sample, &figures)?,
    ]
    .concat();
    ensure!(!floors.check() || below.is_empty(), "{}", below.join("\n"));
    Ok(())
}

/// Holds one conversation again under the default settings, keeps it in the database and prints it turn by turn.
fn show(
    folder: &Folder,
    client: &mut Client,
    corpora: &[Standing],
    conversations: &[Conversation],
    id: &str,
) -> Result<()> {
    let conversation = match id {
        "longest" => tasks::longest(conversations),
        id => conversations.iter().find(|one| one.id == id),
    };
    let conversation =
        conversation.with_context(|| format!("the data hold no conversation {id}"))?;
    let replay = replay::Replay::read(folder, corpora)?;
    let (name, held) = replay.keep(client, Arm::Default, conversation)?;
    report::conversation::print(&name, conversation, &held);
    Ok(())
}
