//! The command `eval`: the quality of retrieval and of whole turns, measured by human judgements.

mod answerability;
pub mod corpora;
mod floors;
mod graph;
mod near_twins;
mod options;
mod partly_embedded;
mod query;
mod reference;
mod replay;
mod report;
mod retrieval;
mod sample;
mod strategies;
pub mod titles;

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use postgres::{Client, NoTls};

use crate::data::corpus::Corpus;
use crate::data::embedder::Embedder;
use crate::data::tasks::{self, Conversation};
use crate::data::{Domain, Folder, queries};
use corpora::JudgedCorpus;
use floors::file::Below;
use floors::{figures, relations};
use options::{ModelFolders, Options, Part};
use query::contexts::{self, Contexts};
use query::folds;
use query::queried::{QueriedTurn, QueryFrom};
use query::run::QueryRunner;
use replay::ReplayedConversation;
use replay::arm::Arm;
use replay::tally;
use retrieval::{List, Measured};
use titles::MeasuredTitles;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server, figures below their floors.
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
    let (corpora, loads) = corpora::load_all(&folder, &mut clients[0], &Domain::ALL)?;
    report::loads::print(&loads);
    let embedder = embedder(&folder, options.model.as_ref())?;
    let conversations = corpora::conversations(&folder, &Domain::ALL, options.sample)?;
    let mut evaluation = Evaluation {
        folder,
        clients,
        corpora,
        conversations,
        embedder,
        options,
    };
    if let Some(id) = evaluation.options.show.clone() {
        return evaluation.show(&id);
    }
    report::loads::scope(&evaluation.conversations, evaluation.options.sample);

    let mut measured = Vec::new();
    if evaluation.options.runs(Part::Retrieval) {
        measured = evaluation.retrieval()?;
    }
    let mut queried = Vec::new();
    if evaluation.options.runs(Part::Query) {
        queried = evaluation.query()?;
    }
    let mut titles = Vec::new();
    if evaluation.options.runs(Part::Titles) {
        titles = evaluation.titles()?;
    }
    let mut near_twins = Vec::new();
    if evaluation.options.runs(Part::NearTwins) {
        near_twins = evaluation.near_twins()?;
    }
    if evaluation.options.only(Part::Graph) {
        evaluation.graph()?;
    }
    if evaluation.options.only(Part::PartlyEmbedded) {
        evaluation.partly_embedded()?;
    }
    let mut arms = Vec::new();
    if evaluation.options.runs(Part::Replay) {
        arms = evaluation.replay()?;
    }
    if evaluation.options.runs(Part::Strategies) {
        evaluation.strategies()?;
    }
    let mut answerability = answerability::Measured::default();
    if evaluation.options.runs(Part::Answerability) {
        answerability = evaluation.answerability()?;
    }
    let verdict = check(
        &measured,
        &titles,
        &near_twins,
        &queried,
        &arms,
        &answerability,
        &evaluation.options,
    );
    report::loads::total(begun.elapsed());
    verdict
}

/// Opens a session without warnings: a search without an embedding warns.
fn connect(uri: &str) -> Result<Client> {
    let mut client = Client::connect(uri, NoTls).context("cannot connect to the server")?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

/// Loads the local model, and compares its vectors with the given ones of each corpus.
fn embedder(folder: &Folder, model: Option<&ModelFolders>) -> Result<Option<Embedder>> {
    let Some(ModelFolders { model, cache }) = model else {
        return Ok(None);
    };
    let mut embedder = Embedder::open(model, cache)?;
    for domain in Domain::ALL {
        let most = embedder.compare(&Corpus::read(folder, domain)?)?;
        report::loads::compared(domain, most);
    }
    Ok(Some(embedder))
}

/// The inputs of all parts.
struct Evaluation {
    folder: Folder,
    clients: Vec<Client>,
    corpora: Vec<JudgedCorpus>,
    conversations: Vec<Conversation>,
    /// The local model, for texts that the data set has no vector for; `None` if the options name none.
    embedder: Option<Embedder>,
    options: Options,
}

/// Judged turns by the way in which their queries were made.
type QueriedTurns = Vec<(QueryFrom, Vec<QueriedTurn>)>;

/// Replayed conversations by arm.
type Arms = Vec<(Arm, Vec<ReplayedConversation>)>;

impl Evaluation {
    /// Ranked lists of `reground.search`.
    fn retrieval(&mut self) -> Result<Vec<Measured>> {
        let sample = self.options.sample;
        let mut measured = Vec::new();
        for &form in &self.options.forms {
            let first = measured.len();
            for corpus in &self.corpora {
                let mut queries = queries::queries(&self.folder, corpus.domain, form)?;
                queries.retain(|query| !sample || sample::contains(query.conversation()));
                for list in List::ALL {
                    let which = (corpus.domain, form, list);
                    measured.push(retrieval::measure(
                        &mut self.clients,
                        which,
                        &queries,
                        corpus,
                    )?);
                }
            }
            report::retrieval::print(form, &measured[first..], sample);
        }
        Ok(measured)
    }

    /// Ways to make the query of a turn. The cross-validation needs all conversations, so the sample has none.
    fn query(&mut self) -> Result<QueriedTurns> {
        let mut ways = QueryFrom::COMPARED.to_vec();
        let mut contexts = Contexts::new();
        if let Some(embedder) = &mut self.embedder {
            contexts = contexts::embed(embedder, &self.conversations)?;
            ways.extend(QueryFrom::EMBEDDED);
        }
        let compared = ways.len();
        if !self.options.sample {
            ways.extend(QueryFrom::TRIED);
            if self.embedder.is_some() {
                ways.extend(QueryFrom::EMBEDDED_TRIED);
            }
        }
        let runner = QueryRunner::read(&self.folder, &self.corpora, contexts)?;
        let mut queried = Vec::new();
        for from in ways {
            let turns = runner.run(&mut self.clients, from, &self.conversations)?;
            queried.push((from, turns));
        }
        let choices = queried
            .iter()
            .filter(|(from, _)| matches!(from, QueryFrom::Turn | QueryFrom::Contextual(_)));
        let choices: Vec<(QueryFrom, &[QueriedTurn])> =
            choices.map(|(from, turns)| (*from, &turns[..])).collect();
        let chosen = if self.options.sample {
            None
        } else {
            folds::choose(&choices)
        };
        report::query::print(&queried[..compared], chosen.as_ref());
        if !self.options.sample {
            report::follow_ups::print(&queried);
        }
        queried.truncate(compared);
        Ok(queried)
    }

    /// Search with and without titles; nothing without a model for the embeddings. The sample leaves it out, because all passages are
    /// embedded again.
    fn titles(&mut self) -> Result<Vec<MeasuredTitles>> {
        let Some(embedder) = &mut self.embedder else {
            return Ok(Vec::new());
        };
        if self.options.sample {
            return Ok(Vec::new());
        }
        let measured = titles::measure(&self.folder, &mut self.clients, embedder)?;
        report::titles::print(&measured);
        Ok(measured)
    }

    /// Contexts before and after near twins are removed.
    fn near_twins(&mut self) -> Result<Vec<near_twins::Measured>> {
        let sample = self.options.sample;
        let mut measured = Vec::new();
        for corpus in &self.corpora {
            for form in near_twins::FORMS {
                let mut queries = queries::queries(&self.folder, corpus.domain, form)?;
                queries.retain(|query| !sample || sample::contains(query.conversation()));
                let of_form = near_twins::measure(&mut self.clients, corpus, form, &queries)?;
                measured.push(of_form);
            }
        }
        report::near_twins::print(&measured);
        Ok(measured)
    }

    /// Search in corpora of which some documents have no vectors.
    fn partly_embedded(&mut self) -> Result<()> {
        let embedder = self.embedder.as_mut();
        let measured =
            partly_embedded::measure(&self.folder, &mut self.clients, &self.corpora, embedder)?;
        report::partly_embedded::print(&measured);
        Ok(())
    }

    /// Replays with and without a knowledge graph.
    fn graph(&mut self) -> Result<()> {
        let edges = graph::put(&mut self.clients[0], &self.corpora)?;
        let replay = replay::Replay::read(&self.folder, &self.corpora)?;
        let arms = replay.replay_all(&mut self.clients, &graph::ARMS, &self.conversations)?;
        report::graph::print(&edges, &arms);
        Ok(())
    }

    /// Replays in every arm. Fails if the contexts of an arm do not have the size of the baseline's.
    fn replay(&mut self) -> Result<Arms> {
        let replay = replay::Replay::read(&self.folder, &self.corpora)?;
        let arms: &[Arm] = if self.options.sample {
            &Arm::SAMPLE
        } else {
            &Arm::ALL
        };
        let arms = replay.replay_all(&mut self.clients, arms, &self.conversations)?;
        report::replay::print(&arms);
        report::citations::print(&arms);
        let baseline = arms.iter().find(|(arm, _)| *arm == Arm::None);
        for (arm, conversations) in arms.iter().filter(|(arm, _)| arm.equal_size()) {
            let unequal = baseline.map_or_else(Vec::new, |(_, baseline)| {
                tally::unequal(conversations, baseline)
            });
            ensure!(
                unequal.is_empty(),
                "contexts of {} differ in size from those without carry-over, so they cannot be compared: {}",
                arm.name(),
                unequal.join(", ")
            );
        }
        Ok(arms)
    }

    /// Answerability of all turns. The sample has too few unanswerable ones, and other texts need the local model.
    fn answerability(&mut self) -> Result<answerability::Measured> {
        let Some(embedder) = self.embedder.as_mut().filter(|_| !self.options.sample) else {
            return Ok(answerability::Measured::default());
        };
        let embeddings =
            answerability::run::embeddings(&self.folder, embedder, &self.conversations)?;
        let measured =
            answerability::run::run(&mut self.clients, &self.conversations, &embeddings)?;
        report::answerability::print(&measured);
        Ok(measured)
    }

    /// Replays with each history strategy. Fails if a compressed history lost a citation.
    fn strategies(&mut self) -> Result<()> {
        let replay = replay::Replay::read(&self.folder, &self.corpora)?;
        let arms = strategies::arms(self.options.sample);
        let original: Vec<Conversation> = self
            .conversations
            .iter()
            .filter(|one| Domain::ORIGINAL.contains(&one.domain))
            .cloned()
            .collect();
        let arms = replay.replay_all(&mut self.clients, &arms, &original)?;
        let measured = strategies::measured(&arms);
        let lines = measured.iter().map(serde_json::to_string);
        let lines = lines
            .collect::<serde_json::Result<Vec<String>>>()?
            .join("\n");
        // The command `simulation` compares them with the published model.
        match &self.options.strategies {
            Some(path) => fs::write(path, lines + "\n")?,
            None => println!("## Strategies\n\n{lines}\n"),
        }
        let lost = report::compression::print(&arms);
        ensure!(lost == 0, "{lost} citations are missing from the ledgers");
        Ok(())
    }

    /// Replays one conversation with the default settings, stores it and prints it turn by turn.
    fn show(&mut self, id: &str) -> Result<()> {
        let conversation = match id {
            "longest" => tasks::longest(&self.conversations),
            id => self.conversations.iter().find(|one| one.id == id),
        };
        let conversation =
            conversation.with_context(|| format!("the data contain no conversation {id}"))?;
        let replay = replay::Replay::read(&self.folder, &self.corpora)?;
        let (name, replayed) =
            replay.replay_and_store(&mut self.clients[0], Arm::Default, conversation)?;
        report::conversation::print(&name, conversation, &replayed);
        Ok(())
    }
}

/// Compares the figures with their floors and relations, and raises the floors if the options say so.
fn check(
    measured: &[Measured],
    titles: &[MeasuredTitles],
    near_twins: &[near_twins::Measured],
    queried: &[(QueryFrom, Vec<QueriedTurn>)],
    arms: &[(Arm, Vec<ReplayedConversation>)],
    answerability: &answerability::Measured,
    options: &Options,
) -> Result<()> {
    let Some(floors) = &options.floors else {
        return Ok(());
    };
    let figures = [
        figures::of_retrieval(measured),
        figures::of_titles(titles),
        figures::of_near_twins(near_twins),
        figures::of_queries(queried),
        figures::of_replay(arms),
        figures::of_answerability(&answerability.turns),
    ]
    .concat();
    let relations = if options.sample {
        relations::of_sample(measured)
    } else {
        [relations::of_all(measured), relations::of_queries(queried)].concat()
    };
    report::floors::relations(&relations);
    let comparison = floors.compare(options.sample, &figures);
    report::floors::below(comparison.floors, &comparison.below);
    if let Some(raised) = &comparison.raised {
        report::floors::raised(raised);
        floors.write(options.sample, raised)?;
    }
    let below = comparison.below.iter().map(Below::to_string);
    let below: Vec<String> = relations::broken(&relations)
        .into_iter()
        .chain(below)
        .collect();
    ensure!(!floors.check() || below.is_empty(), "{}", below.join("\n"));
    Ok(())
}
