//! Turns in the database: begins a turn and reads its sources, ends it with an answer and reads the verdicts.

use std::time::{Duration, Instant};

use anyhow::Result;
use pgvector::Vector;
use postgres::{Client, Row};

use crate::ingest::CORPUS;
use crate::service::MODEL;

/// A source in a turn's context.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Marker, which stays the same throughout the conversation.
    pub marker: String,
    /// Id of the document.
    pub doc_id: String,
    /// Id of the passage.
    pub chunk_id: String,
    /// Title of the document.
    pub title: String,
    /// Position in the document.
    pub locator: String,
    /// Number of pages of the document, if known.
    pub page_count: Option<i32>,
    /// Text of the passage.
    pub content: String,
    /// Key sentences for the question.
    pub facts: Vec<String>,
    /// Origin: fresh, carried or pinned.
    pub origin: String,
    /// Relevance to the question, as `begin_turn` returns it.
    pub score: f64,
    /// Carry score of the source when the turn began.
    pub carry_score: Option<f64>,
}

/// A turn that has begun.
#[derive(Clone, Debug, Default)]
pub struct BegunTurn {
    /// Id of the turn.
    pub turn_id: i64,
    /// Intent of the question.
    pub intent: String,
    /// Confidence of the intent, in [0, 1].
    pub confidence: f32,
    /// Signals that determined the intent.
    pub signals: Vec<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Tokens of the context.
    pub tokens: i32,
    /// Duration of `begin_turn`, including the round trip.
    pub took: Duration,
    /// Sources in prompt order.
    pub sources: Vec<Source>,
    /// Ids of all passages in the context, including passages that were merged into others.
    pub chunk_ids: Vec<String>,
}

/// The verdict on one citation.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Text of the citation in the answer.
    pub raw: String,
    /// Start of the citation in the answer, in characters.
    pub answer_start: usize,
    /// Status.
    pub status: String,
    /// Whether the citation holds; `None` if it cannot be judged.
    pub holds: Option<bool>,
    /// Diagnostic.
    pub diagnostic: Option<String>,
    /// Details of the status.
    pub detail: Option<String>,
    /// Share of the claim's content that the source supports, in [0, 1].
    pub support: Option<f64>,
    /// Marker of another source in the context that supports the claim.
    pub best_other_marker: Option<String>,
}

/// A judged answer.
#[derive(Clone, Debug, Default)]
pub struct JudgedAnswer {
    /// Verdicts in the order of the citations.
    pub verdicts: Vec<Verdict>,
    /// Citation fidelity score, in [0, 1].
    pub cfs: Option<f64>,
    /// Mean of score × support of the citations.
    pub grounded_cfs: Option<f64>,
    /// Decision: accept or regenerate.
    pub decision: String,
    /// Reasons for the decision.
    pub reasons: Vec<String>,
}

/// Returns the id of a new conversation: demo-1, demo-2 and so on.
///
/// # Errors
/// An error of the database. This applies to all functions of this module.
pub fn next_conversation(client: &mut Client) -> Result<String> {
    let row = client.query_one(
        "SELECT 'demo-' || count(*) + 1 FROM reground.conversations
         WHERE tenant = reground.current_tenant() AND conversation_ref ~ '^demo-[0-9]+$'",
        &[],
    )?;
    Ok(row.get(0))
}

/// The text whose embedding finds the passages of a follow-up.
pub fn context_text(client: &mut Client, conversation_ref: &str, question: &str) -> Result<String> {
    let row = client.query_one(
        "SELECT reground.context_text($1, $2)",
        &[&conversation_ref, &question],
    )?;
    Ok(row.get(0))
}

/// Begins a turn with the embeddings of the question and of its context text.
pub fn begin(
    client: &mut Client,
    conversation_ref: &str,
    question: &str,
    embeddings: Option<[Vec<f32>; 2]>,
) -> Result<BegunTurn> {
    let embeddings = embeddings.map(|embeddings| embeddings.map(Vector::from));
    let (embedding, context_embedding) = embeddings.map(<(Vector, Vector)>::from).unzip();
    let clock = Instant::now();
    let rows = client.query(
        "SELECT * FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, embedding_model => $5, context_embedding => $6)",
        &[
            &conversation_ref,
            &question,
            &CORPUS,
            &embedding,
            &embedding.as_ref().map(|_| MODEL),
            &context_embedding,
        ],
    )?;
    let took = clock.elapsed();
    let turn_id: i64 = rows.first().map_or(0, |row| row.get("turn_id"));
    let turn = client.query_one(
        "SELECT intent, intent_confidence, intent_signals, warnings, context_tokens,
                ARRAY(SELECT unnest(member_chunk_ids) FROM reground.explain_turn($1) WHERE in_context)
         FROM reground.turns WHERE turn_id = $1",
        &[&turn_id],
    )?;
    let mut begun = BegunTurn {
        turn_id,
        intent: turn.get(0),
        confidence: turn.get(1),
        signals: turn.get(2),
        warnings: turn.get(3),
        tokens: turn.get(4),
        took,
        sources: rows.iter().filter_map(source).collect(),
        chunk_ids: turn.get(5),
    };
    for row in client.query(
        "SELECT c.marker, c.carry_score::float8, d.page_count
         FROM reground.explain_turn($1) AS c
         JOIN reground.corpora AS k USING (corpus)
         JOIN reground.documents AS d ON d.corpus_id = k.corpus_id AND d.doc_id = c.doc_id AND d.replaced_at IS NULL
         WHERE c.in_context",
        &[&turn_id],
    )? {
        let marker: &str = row.get(0);
        if let Some(source) = begun.sources.iter_mut().find(|source| source.marker == marker) {
            source.carry_score = row.get(1);
            source.page_count = row.get(2);
        }
    }
    Ok(begun)
}

/// Converts a row of `begin_turn`. Returns `None` for the row of a turn without sources.
fn source(row: &Row) -> Option<Source> {
    let text = |column: &str| row.get::<_, Option<String>>(column).unwrap_or_default();
    Some(Source {
        marker: row.get::<_, Option<String>>("marker")?,
        doc_id: text("doc_id"),
        chunk_id: text("chunk_id"),
        title: text("title"),
        locator: text("locator"),
        page_count: None,
        content: text("content"),
        facts: row.get("facts"),
        origin: text("origin"),
        score: row.get::<_, Option<f64>>("score").unwrap_or_default(),
        carry_score: None,
    })
}

/// Ends a turn with an answer, and reads the verdicts.
pub fn end(
    client: &mut Client,
    turn_id: i64,
    answer: &str,
    number: usize,
    model: &str,
) -> Result<JudgedAnswer> {
    let message_ref = format!("answer-{number}");
    let row = client.query_one(
        "SELECT DISTINCT message_id FROM reground.end_turn($1, $2, message_ref => $3, model => $4)",
        &[&turn_id, &answer, &message_ref, &model],
    )?;
    let message_id: i64 = row.get(0);
    let scores = client.query_one(
        "SELECT cfs, grounded_cfs, decision, reasons FROM reground.messages WHERE message_id = $1",
        &[&message_id],
    )?;
    let verdicts = client.query(
        "SELECT raw, answer_start, status, holds, diagnostic, detail, support, best_other_marker
         FROM reground.message_citations WHERE message_id = $1 ORDER BY citation_no",
        &[&message_id],
    )?;
    Ok(JudgedAnswer {
        verdicts: verdicts.iter().map(verdict).collect(),
        cfs: scores.get(0),
        grounded_cfs: scores.get(1),
        decision: scores.get(2),
        reasons: scores.get(3),
    })
}

fn verdict(row: &Row) -> Verdict {
    Verdict {
        raw: row.get("raw"),
        answer_start: usize::try_from(row.get::<_, i32>("answer_start")).unwrap_or_default(),
        status: row.get("status"),
        holds: row.get("holds"),
        diagnostic: row.get("diagnostic"),
        detail: row.get("detail"),
        support: row.get("support"),
        best_other_marker: row.get("best_other_marker"),
    }
}
