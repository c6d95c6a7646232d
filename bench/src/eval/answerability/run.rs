//! Replays all turns, also those without relevant passages, and reads their answerability.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::{Client, GenericClient};
use reground_grounding::begin::answerability::Features;
use reground_grounding::begin::fuse::{BranchScores, SearchResults};
use reground_grounding::passage::{Branch, Hit, Metric, RankedList};
use serde_json::json;

use super::{ForeignQuestion, LabelledTurn, Measured};
use crate::attribution::marking::cite;
use crate::data::embedder::Embedder;
use crate::data::queries::{self, Form};
use crate::data::tasks::{Conversation, Turn};
use crate::data::{Domain, Folder};
use crate::eval::query::queried::QueryFrom;
use crate::parallel;
use crate::progress::Progress;

/// Words from which on a follow-up is not short, as in the extension.
const ENOUGH_WORDS: i32 = 3;

/// Vectors of questions by turn: the given ones, and those of the local model for turns that the data set has none for.
///
/// # Errors
/// Missing or malformed files, errors of the model.
pub fn embeddings(
    folder: &Folder,
    embedder: &mut Embedder,
    conversations: &[Conversation],
) -> Result<BTreeMap<String, Vec<f32>>> {
    let mut embeddings = BTreeMap::new();
    for domain in Domain::ALL {
        let queries = queries::queries(folder, domain, Form::LastTurn)?;
        embeddings.extend(queries.into_iter().map(|query| (query.id, query.embedding)));
    }
    let turns = conversations.iter().flat_map(|one| &one.turns);
    let missing: Vec<&Turn> = turns
        .filter(|turn| !embeddings.contains_key(&turn.id))
        .collect();
    let texts: Vec<&str> = missing.iter().map(|turn| turn.question.as_str()).collect();
    let computed = embedder.embed("questions without a vector", &texts)?;
    let ids = missing.iter().map(|turn| turn.id.clone());
    embeddings.extend(ids.zip(computed));
    Ok(embeddings)
}

/// Replays every conversation, and asks its first question to the other corpora. Each conversation is a transaction that is rolled
/// back.
///
/// # Errors
/// Errors of the server, and values that the stored candidates do not explain.
pub fn run(
    clients: &mut [Client],
    conversations: &[Conversation],
    embeddings: &BTreeMap<String, Vec<f32>>,
) -> Result<Measured> {
    let turns = conversations.iter().map(|one| one.turns.len()).sum();
    let progress = Progress::new("answerability", turns);
    let parts = parallel::over(clients, conversations, |client, conversation| {
        let mut transaction = client.transaction()?;
        let mut measured = Measured::default();
        for turn in &conversation.turns {
            let embedding = embeddings.get(&turn.id);
            let embedding = embedding.with_context(|| format!("turn {} has no vector", turn.id))?;
            let embedding = Vector::from(embedding.clone());
            if turn.number == 1 {
                for corpus in conversation.domain.others() {
                    let foreign = ask_elsewhere(&mut transaction, turn, &embedding, corpus)?;
                    measured.foreign.push(foreign);
                }
            }
            let labelled = replay(&mut transaction, conversation, turn, &embedding)
                .with_context(|| format!("turn {}", turn.id))?;
            measured.turns.push(labelled);
        }
        transaction.rollback()?;
        progress.step(conversation.turns.len());
        Ok(measured)
    })?;
    progress.finish();
    let mut all = Measured::default();
    for part in parts {
        all.turns.extend(part.turns);
        all.foreign.extend(part.foreign);
    }
    Ok(all)
}

/// What `begin_turn` returned and stored.
struct Begun {
    turn_id: i64,
    /// Markers and texts.
    sources: Vec<(String, String)>,
    answerability: f64,
    warned: bool,
}

fn begin(
    client: &mut impl GenericClient,
    name: &str,
    question: &str,
    embedding: &Vector,
    corpus: Domain,
) -> Result<Begun> {
    let mut settings = QueryFrom::Contextual(1.0).settings();
    // The trace has the ranks of a class of twins, not those of each passage.
    settings["collapse_twins"] = json!(false);
    let rows = client.query(
        "SELECT turn_id, marker, content, answerability \
         FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, settings => $5)",
        &[&name, &question, &corpus.corpus(), embedding, &settings],
    )?;
    let first = rows.first().context("begin_turn returned no row")?;
    let turn_id: i64 = first.get(0);
    let answerability: Option<f64> = first.get(3);
    let answerability = answerability.context("the turn has no answerability")?;
    let stored = client.query_one(
        "SELECT answerability, 'nothing_fits' = ANY (warnings) FROM reground.turns WHERE turn_id = $1",
        &[&turn_id],
    )?;
    ensure!(
        stored.get::<_, Option<f64>>(0) == Some(answerability),
        "the stored answerability is not the returned one"
    );
    let sources = rows
        .iter()
        .filter_map(|row| Some((row.get::<_, Option<String>>(1)?, row.get(2))));
    Ok(Begun {
        turn_id,
        sources: sources.collect(),
        answerability,
        warned: stored.get(1),
    })
}

fn ask_elsewhere(
    client: &mut impl GenericClient,
    turn: &Turn,
    embedding: &Vector,
    corpus: Domain,
) -> Result<ForeignQuestion> {
    let name = format!("foreign-{}-{}", corpus.name(), turn.id);
    let begun = begin(client, &name, &turn.question, embedding, corpus)?;
    Ok(ForeignQuestion {
        corpus,
        warned: begun.warned,
        shipped: begun.answerability,
    })
}

fn replay(
    client: &mut impl GenericClient,
    conversation: &Conversation,
    turn: &Turn,
    embedding: &Vector,
) -> Result<LabelledTurn> {
    let domain = conversation.domain;
    let name = format!("answerability-{}", conversation.id);
    let begun = begin(client, &name, &turn.question, embedding, domain)?;
    let missing_words: i32 = client
        .query_one(
            "SELECT greatest(0, $2 - length(to_tsvector('pg_catalog.english', $1::text)))",
            &[&turn.question, &ENOUGH_WORDS],
        )?
        .get(0);
    let missing_words = if turn.number > 1 { missing_words } else { 0 };
    let results = candidates(client, begun.turn_id)?;
    let features = Features::of(&results, usize::try_from(missing_words)?)
        .context("the stored candidates have no features")?;
    ensure!(
        (features.answerability() - begun.answerability).abs() < 1e-6,
        "the stored candidates give the answerability {}, begin_turn returned {}",
        features.answerability(),
        begun.answerability
    );
    let (best_similarity, best_bm25) = best(client, &turn.question, embedding, domain)?;
    let sources = begun.sources.iter();
    let sources = sources.map(|(marker, content)| (marker.as_str(), content.as_str()));
    let answer = cite(&turn.answer, sources);
    client.execute(
        "SELECT FROM reground.end_turn($1, $2)",
        &[&begun.turn_id, &answer],
    )?;
    Ok(LabelledTurn {
        domain,
        conversation: conversation.id.clone(),
        label: turn.answerability,
        features,
        shipped: begun.answerability,
        warned: begun.warned,
        best_similarity,
        best_bm25,
    })
}

/// The lists of a turn, from its trace. They are ordered by their values: in a comparison, the ranks are those of the best list, and
/// the values those of the whole question.
fn candidates(client: &mut impl GenericClient, turn_id: i64) -> Result<SearchResults> {
    let rows = client.query(
        "SELECT chunk_id, lexical_score::float8, vector_distance::float8 FROM reground.explain_turn($1) \
         WHERE origin = 'fresh' AND retrieval_no = 0",
        &[&turn_id],
    )?;
    let mut scores = BranchScores::default();
    let (mut lexical, mut vector) = (Vec::new(), Vec::new());
    for row in &rows {
        let chunk_id: String = row.get(0);
        let (score, distance): (Option<f64>, Option<f64>) = (row.get(1), row.get(2));
        lexical.extend(score.map(|score| hit(&chunk_id, score)));
        vector.extend(distance.map(|distance| hit(&chunk_id, distance)));
        scores.lexical.extend(score.map(|score| (chunk_id, score)));
    }
    lexical.sort_by(|a: &Hit, b: &Hit| b.value.total_cmp(&a.value));
    vector.sort_by(|a: &Hit, b: &Hit| a.value.total_cmp(&b.value));
    let list = |branch, hits: Vec<Hit>| RankedList {
        branch,
        weight: 1.0,
        entity: None,
        hits,
    };
    Ok(SearchResults {
        lists: vec![list(Branch::Lexical, lexical), list(Branch::Vector, vector)],
        scores,
        metric: Metric::Cosine,
        ..SearchResults::default()
    })
}

fn hit(chunk_id: &str, value: f64) -> Hit {
    Hit {
        chunk_id: chunk_id.to_owned(),
        value,
    }
}

/// Largest cosine and largest BM25 score of the user's words alone.
fn best(
    client: &mut impl GenericClient,
    question: &str,
    embedding: &Vector,
    corpus: Domain,
) -> Result<(f64, f64)> {
    let settings = json!({"lexical_search": "exact", "vector_search": "exact"});
    let row = client.query_one(
        "SELECT coalesce(1 - min(vector_distance), -1), coalesce(max(lexical_score), 0) \
         FROM reground.search($1, $2, embedding => $3, max_results => 100, settings => $4)",
        &[&corpus.corpus(), &question, embedding, &settings],
    )?;
    Ok((row.get(0), row.get(1)))
}
