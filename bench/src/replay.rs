//! A conversation held again, turn by turn, with the answers that humans gave.
//!
//! The answers of the data set carry no markers. They get those of the sources in the turn's context that humans judged
//! relevant to the question, and no others: where none of these is in the context, the answer cites nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::Client;

use crate::data::queries::{Judgements, Query};
use crate::data::tasks::{Conversation, Turn};
use crate::twins::Twins;

/// A source in the context of a turn.
#[derive(Debug)]
pub struct Source {
    /// What the answer cites it by.
    pub marker: String,
    /// fresh, carried or pinned.
    pub origin: String,
    /// Relevance to the turn's query, in [0, 1], where it was scored.
    pub relevance: Option<f64>,
    /// Carry score on entry, in [0, 1], where it was remembered from an earlier turn.
    pub carry_score: Option<f64>,
    /// Title of its document.
    pub title: Option<String>,
    /// Text that the model is given.
    pub content: String,
    /// Humans judged it, or a passage merged into it, relevant to this turn.
    pub gold: bool,
}

/// A turn as it went.
#[derive(Debug)]
pub struct Replayed {
    /// Number in the conversation, from 1.
    pub number: u32,
    /// The user's words.
    pub query: String,
    /// The judged intent.
    pub intent: String,
    /// The confidence in it, in [0, 1].
    pub confidence: f32,
    /// What was degraded.
    pub warnings: Vec<String>,
    /// The context in prompt order.
    pub sources: Vec<Source>,
    /// Different passages that humans judged relevant, twins as one.
    pub gold: usize,
    /// Of these, those in the context.
    pub gold_found: usize,
    /// Characters of the prompt's block.
    pub prompt_chars: usize,
    /// Verdicts on the citations of the answer.
    pub verdicts: Vec<Verdict>,
    /// Citation fidelity score of the answer; `None` without citations.
    pub cfs: Option<f64>,
    /// The same weighted by support.
    pub grounded_cfs: Option<f64>,
}

/// What `end_turn` says of a citation.
#[derive(Debug)]
pub struct Verdict {
    /// The citation as it stands in the answer.
    pub raw: String,
    /// Its status.
    pub status: String,
    /// Support of the claim by the source, in [0, 1].
    pub support: Option<f64>,
}

/// What a conversation is replayed with.
pub struct Replay<'a> {
    /// Embeddings of the user's words, where there are any.
    pub queries: &'a [Query],
    /// What humans judged relevant.
    pub judgements: &'a Judgements,
    /// Passages of the same text.
    pub twins: &'a Twins,
}

impl Replay<'_> {
    /// Holds the conversation under a new name; the name, and its turns.
    ///
    /// # Errors
    /// Those of the server, and a prompt that lacks one of its markers.
    pub fn hold(
        &self,
        client: &mut Client,
        conversation: &Conversation,
    ) -> Result<(String, Vec<Replayed>)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        let name = format!("eval-{}-{now}", conversation.id);
        let corpus = conversation.domain.corpus();
        let turns = conversation
            .turns
            .iter()
            .map(|turn| {
                eprintln!(
                    "replay: turn {} of {}",
                    turn.number,
                    conversation.turns.len()
                );
                self.turn(client, &name, &corpus, turn)
                    .with_context(|| format!("turn {}", turn.number))
            })
            .collect::<Result<_>>()?;
        Ok((name, turns))
    }

    fn turn(
        &self,
        client: &mut Client,
        conversation: &str,
        corpus: &str,
        turn: &Turn,
    ) -> Result<Replayed> {
        let embedding = self
            .queries
            .iter()
            .find(|query| query.id == turn.id)
            .map(|query| Vector::from(query.embedding.clone()));
        let rows = client.query(
            "SELECT turn_id, marker, origin, title, content FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4)",
            &[&conversation, &turn.question, &corpus, &embedding],
        )?;
        let turn_id: i64 = rows.first().context("begin_turn gave no row")?.get(0);
        let prompt: String = client
            .query_one("SELECT reground.prompt_context($1)", &[&turn_id])?
            .get(0);

        let gold = self
            .judgements
            .get(&turn.id)
            .map(|ids| self.twins.of_ids(ids))
            .unwrap_or_default();
        let mut found = BTreeSet::new();
        let mut traced = traced(client, turn_id)?;
        let mut sources = Vec::new();
        for row in &rows {
            let Some(marker) = row.get::<_, Option<String>>(1) else {
                continue;
            };
            ensure!(
                prompt.contains(&format!("[{marker}]")),
                "the prompt lacks [{marker}]"
            );
            let trace = traced
                .remove(&marker)
                .with_context(|| format!("explain_turn lacks {marker}"))?;
            let classes = self.twins.of_keys(&trace.members);
            let hits: Vec<String> = classes.intersection(&gold).cloned().collect();
            sources.push(Source {
                origin: row.get(2),
                relevance: trace.relevance,
                carry_score: trace.carry_score,
                title: row.get(3),
                content: row.get(4),
                gold: !hits.is_empty(),
                marker,
            });
            found.extend(hits);
        }

        let verdicts = end_turn(client, turn_id, &cited(&turn.answer, &sources))?;
        let audit = client.query_one(
            "SELECT intent, intent_confidence, warnings, cfs, grounded_cfs FROM reground.turn_audit WHERE turn_id = $1",
            &[&turn_id],
        )?;
        Ok(Replayed {
            number: turn.number,
            query: turn.question.clone(),
            intent: audit.get(0),
            confidence: audit.get(1),
            warnings: audit.get(2),
            sources,
            gold: gold.len(),
            gold_found: found.len(),
            prompt_chars: prompt.chars().count(),
            verdicts,
            cfs: audit.get(3),
            grounded_cfs: audit.get(4),
        })
    }
}

/// A source as the trace knows it.
struct Traced {
    members: Vec<String>,
    relevance: Option<f64>,
    carry_score: Option<f64>,
}

fn traced(client: &mut Client, turn_id: i64) -> Result<BTreeMap<String, Traced>> {
    let rows = client.query(
        "SELECT marker, members, relevance, carry_score FROM reground.explain_turn($1) WHERE in_context",
        &[&turn_id],
    )?;
    Ok(rows
        .iter()
        .map(|row| {
            let traced = Traced {
                members: row.get(1),
                relevance: row.get(2),
                carry_score: row.get(3),
            };
            (row.get(0), traced)
        })
        .collect())
}

/// The answer with the markers of the relevant sources before its last full stop.
///
/// The judgements are about the answer as a whole, not about a sentence of it, so the markers stand at its end. There they
/// are read as citations of its last sentence: a source of an earlier one is then marked down, and that is the answer's
/// form, not the source's fault.
fn cited(answer: &str, sources: &[Source]) -> String {
    let markers: String = sources
        .iter()
        .filter(|source| source.gold)
        .map(|source| format!(" [{}]", source.marker))
        .collect();
    match answer.trim_end().strip_suffix('.') {
        Some(sentence) => format!("{sentence}{markers}."),
        None => format!("{}{markers}", answer.trim_end()),
    }
}

fn end_turn(client: &mut Client, turn_id: i64, answer: &str) -> Result<Vec<Verdict>> {
    let rows = client.query(
        "SELECT raw, status, support FROM reground.end_turn($1, $2) WHERE citation_id IS NOT NULL",
        &[&turn_id, &answer],
    )?;
    Ok(rows
        .iter()
        .map(|row| Verdict {
            raw: row.get(0),
            status: row.get(1),
            support: row.get(2),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(marker: &str, gold: bool) -> Source {
        Source {
            marker: marker.into(),
            origin: "fresh".into(),
            relevance: None,
            carry_score: None,
            title: None,
            content: String::new(),
            gold,
        }
    }

    #[test]
    fn only_relevant_sources_are_cited() {
        let sources = [source("A1", true), source("B1", false), source("A2", true)];
        assert_eq!(cited("It is so. ", &sources), "It is so [A1] [A2].");
        assert_eq!(cited("Is it?", &sources), "Is it? [A1] [A2]");
        assert_eq!(cited("It is so.", &sources[1..2]), "It is so.");
    }
}
