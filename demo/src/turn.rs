//! A turn as the database tells it: its sources when it begins, its verdicts when it ends.

use std::time::{Duration, Instant};

use anyhow::Result;
use pgvector::Vector;
use postgres::{Client, Row};

use crate::answer::Answer;
use crate::ingest::CORPUS;

/// A source of a turn's context.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its marker, for the life of the conversation.
    pub marker: String,
    /// The document's id.
    pub doc_id: String,
    /// The passage's id.
    pub chunk_id: String,
    /// The document's title.
    pub title: String,
    /// Its place in the document.
    pub locator: String,
    /// Pages of the document, where it has any.
    pub page_count: Option<i32>,
    /// Its text.
    pub content: String,
    /// Key sentences of it, for the question.
    pub facts: Vec<String>,
    /// fresh, carried or pinned.
    pub origin: String,
    /// Relevance to the question, as `begin_turn` gives it.
    pub score: f64,
    /// What the conversation remembered of it when the turn began.
    pub carry_score: Option<f64>,
}

/// A turn that has begun.
#[derive(Clone, Debug, Default)]
pub struct Begun {
    /// Its id.
    pub turn_id: i64,
    /// What it is after (C1).
    pub intent: String,
    /// How sure, in [0, 1].
    pub confidence: f32,
    /// What decided.
    pub signals: Vec<String>,
    /// What it had to do without.
    pub warnings: Vec<String>,
    /// Tokens of its context.
    pub tokens: i32,
    /// How long `begin_turn` took, the round trip included.
    pub took: Duration,
    /// Its sources, in prompt order.
    pub sources: Vec<Source>,
    /// Every passage in its context, those that were merged into others included.
    pub passages: Vec<String>,
}

/// The verdict on one citation.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The citation as it stands in the answer.
    pub raw: String,
    /// Its first character in the answer.
    pub start: usize,
    /// Verdict.
    pub status: String,
    /// Whether it stands; `None` where that cannot be said.
    pub holds: Option<bool>,
    /// I5's diagnostic.
    pub diagnostic: Option<String>,
    /// What the status leaves open.
    pub detail: Option<String>,
    /// Share of the claim's content that stands there, in [0, 1].
    pub support: Option<f64>,
    /// Another source of the context that supports the claim.
    pub best_other: Option<String>,
}

/// An answer that was judged.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// A verdict for every citation, in the answer's order.
    pub verdicts: Vec<Verdict>,
    /// Citation fidelity score, in [0, 1].
    pub cfs: Option<f64>,
    /// Mean of score × support.
    pub grounded_cfs: Option<f64>,
    /// accept or regenerate.
    pub decision: String,
    /// Why it should be regenerated.
    pub reasons: Vec<String>,
}

/// The id of a conversation that this database has not had yet.
///
/// # Errors
/// Whatever the database finds wrong; so in all functions here.
pub fn next_conversation(client: &mut Client) -> Result<String> {
    let row = client.query_one(
        "SELECT 'demo-' || count(*) + 1 FROM reground.conversations
         WHERE tenant = reground.current_tenant() AND external_id ~ '^demo-[0-9]+$'",
        &[],
    )?;
    Ok(row.get(0))
}

/// Begins a turn.
pub fn begin(
    client: &mut Client,
    conversation: &str,
    question: &str,
    embedding: Option<Vec<f32>>,
) -> Result<Begun> {
    let embedding = embedding.map(Vector::from);
    let clock = Instant::now();
    let rows = client.query(
        "SELECT * FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4)",
        &[&conversation, &question, &CORPUS, &embedding],
    )?;
    let took = clock.elapsed();
    let turn_id: i64 = rows.first().map_or(0, |row| row.get("turn_id"));
    let turn = client.query_one(
        "SELECT intent, intent_confidence, intent_signals, warnings, context_tokens,
                ARRAY(SELECT unnest(members) FROM reground.explain_turn($1) WHERE in_context)
         FROM reground.turns WHERE turn_id = $1",
        &[&turn_id],
    )?;
    let mut begun = Begun {
        turn_id,
        intent: turn.get(0),
        confidence: turn.get(1),
        signals: turn.get(2),
        warnings: turn.get(3),
        tokens: turn.get(4),
        took,
        sources: rows.iter().filter_map(source).collect(),
        passages: turn.get(5),
    };
    for row in client.query(
        "SELECT c.marker, c.carry_score, d.page_count
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

/// A row of `begin_turn`; `None` for the one that says that nothing was found.
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
pub fn end(client: &mut Client, begun: &Begun, answer: &Answer, number: usize) -> Result<Judged> {
    let message = format!("answer-{number}");
    let row = client.query_one(
        "SELECT DISTINCT message_id FROM reground.end_turn($1, $2, message => $3, model => 'planted')",
        &[&begun.turn_id, &answer.text, &message],
    )?;
    let message_id: i64 = row.get(0);
    let scores = client.query_one(
        "SELECT cfs, grounded_cfs, decision, reasons FROM reground.messages WHERE message_id = $1",
        &[&message_id],
    )?;
    let verdicts = client.query(
        "SELECT raw, char_start, status, holds, diagnostic, detail, support, best_other
         FROM reground.message_citations WHERE message_id = $1 ORDER BY citation_no",
        &[&message_id],
    )?;
    Ok(Judged {
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
        start: usize::try_from(row.get::<_, i32>("char_start")).unwrap_or_default(),
        status: row.get("status"),
        holds: row.get("holds"),
        diagnostic: row.get("diagnostic"),
        detail: row.get("detail"),
        support: row.get("support"),
        best_other: row.get("best_other"),
    }
}
