//! Replays one turn: its context, and the verdicts of `end_turn` on the answer.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::{GenericClient, Row};

use super::arm::Arm;
use super::compressed::Compressed;
use crate::attribution::marking::cite;
use crate::data::tasks::Turn;
use crate::eval::corpora::JudgedCorpus;

/// A source in the context of a turn.
#[derive(Debug, Default)]
pub struct Source {
    /// Its marker.
    pub marker: String,
    /// fresh, carried, pinned or graph.
    pub origin: String,
    /// Relevance to the turn's query, in [0, 1], if it was scored.
    pub relevance: Option<f64>,
    /// Carry score on entry, in [0, 1], if it was remembered from an earlier turn.
    pub carry_score: Option<f64>,
    /// Title of its document.
    pub title: Option<String>,
    /// Its text.
    pub content: String,
    /// Whether humans judged it, or a passage merged into it, relevant to this turn.
    pub gold: bool,
}

impl Source {
    /// Whether it was carried over from an earlier turn.
    pub fn carried(&self) -> bool {
        self.origin == "carried"
    }
}

/// A replayed turn.
#[derive(Debug, Default)]
pub struct ReplayedTurn {
    /// Conversation and turn.
    pub id: String,
    /// Number in the conversation, from 1.
    pub number: u32,
    /// The user's words.
    pub query: String,
    /// The human-written answer, without markers.
    pub answer: String,
    /// The judged intent.
    pub intent: String,
    /// The confidence in it, in [0, 1].
    pub confidence: f32,
    /// Warnings of `begin_turn`.
    pub warnings: Vec<String>,
    /// The context in prompt order.
    pub sources: Vec<Source>,
    /// Passages that humans judged relevant, as classes of equal passages; empty for an unjudged turn.
    pub gold: BTreeSet<String>,
    /// Of these, the classes in the context.
    pub found: BTreeSet<String>,
    /// Classes of the candidates, in the order of the search; a merged candidate has several.
    pub ranked: Vec<BTreeSet<String>>,
    /// o200k_base tokens of the context's passages.
    pub tokens: i32,
    /// o200k_base tokens of the history.
    pub history_tokens: i64,
    /// The history after the turn, if the strategy compresses it.
    pub compressed: Option<Compressed>,
    /// Verdicts on the citations of the answer.
    pub verdicts: Vec<Verdict>,
    /// Citation fidelity score of the answer; `None` without citations.
    pub cfs: Option<f64>,
    /// The same weighted by support.
    pub grounded_cfs: Option<f64>,
}

impl ReplayedTurn {
    /// Whether humans judged passages relevant to it.
    pub fn judged(&self) -> bool {
        !self.gold.is_empty()
    }

    /// Share of the relevant passages that the context contains; `None` for an unjudged turn.
    pub fn recall(&self) -> Option<f64> {
        self.judged()
            .then(|| self.found.len() as f64 / self.gold.len() as f64)
    }

    /// Share of the sources that are relevant, 0 for an empty context; `None` for an unjudged turn.
    pub fn precision(&self) -> Option<f64> {
        let relevant = self.sources.iter().filter(|source| source.gold).count();
        self.judged()
            .then(|| relevant as f64 / self.sources.len().max(1) as f64)
    }
}

/// The verdict of `end_turn` on a citation.
#[derive(Debug)]
pub struct Verdict {
    /// The citation as written in the answer.
    pub raw: String,
    /// Its status.
    pub status: String,
    /// Support of the claim by the source, in [0, 1].
    pub support: Option<f64>,
}

/// Replays a turn: `begin_turn`, `prompt_context`, and `end_turn` with the human answer and the markers of [`cite`].
///
/// # Errors
/// Errors of the server; a prompt or a trace that lacks a source of the context.
pub fn replay(
    client: &mut impl GenericClient,
    conversation: &str,
    arm: Arm,
    turn: &Turn,
    embedding: Option<&Vec<f32>>,
    corpus: &JudgedCorpus,
) -> Result<ReplayedTurn> {
    let embedding = embedding.map(|values| Vector::from(values.clone()));
    let name = corpus.domain.corpus();
    let rows = client.query(
        "SELECT turn_id, marker, origin, title, content \
         FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, settings => $5)",
        &[
            &conversation,
            &turn.question,
            &name,
            &embedding,
            &arm.settings(),
        ],
    )?;
    let turn_id: i64 = rows.first().context("begin_turn returned no row")?.get(0);
    let gold = corpus.gold(&turn.id);
    let context = read_context(client, turn_id, &rows, corpus, &gold)?;
    let sources = &context.sources;
    let marked = sources
        .iter()
        .map(|source| (source.marker.as_str(), source.content.as_str()));
    let verdicts = end_turn(client, turn_id, &cite(&turn.answer, marked))?;
    let audit = client.query_one(
        "SELECT a.intent, a.intent_confidence, a.warnings, a.cfs, a.grounded_cfs, a.context_tokens, t.history_tokens \
         FROM reground.turn_audit AS a JOIN reground.turns AS t USING (turn_id) WHERE a.turn_id = $1",
        &[&turn_id],
    )?;
    let compressed = match arm {
        Arm::Strategy(strategy) if strategy.compresses() => {
            Some(Compressed::after(client, conversation, audit.get(5))?)
        }
        _ => None,
    };
    Ok(ReplayedTurn {
        id: turn.id.clone(),
        number: turn.number,
        query: turn.question.clone(),
        answer: turn.answer.clone(),
        intent: audit.get(0),
        confidence: audit.get(1),
        warnings: audit.get(2),
        sources: context.sources,
        gold,
        found: context.found,
        ranked: context.ranked,
        tokens: audit.get(5),
        history_tokens: audit.get(6),
        compressed,
        verdicts,
        cfs: audit.get(3),
        grounded_cfs: audit.get(4),
    })
}

/// The context of a turn and its ranking.
struct JudgedContext {
    sources: Vec<Source>,
    /// The relevant passages among the sources.
    found: BTreeSet<String>,
    ranked: Vec<BTreeSet<String>>,
}

/// Reads the sources from the rows of `begin_turn` and from the trace, and checks that the prompt contains each marker.
fn read_context(
    client: &mut impl GenericClient,
    turn_id: i64,
    rows: &[Row],
    corpus: &JudgedCorpus,
    gold: &BTreeSet<String>,
) -> Result<JudgedContext> {
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn_id])?
        .get(0);
    let Trace { mut shown, ranked } = trace(client, turn_id, corpus)?;
    let (mut sources, mut found) = (Vec::new(), BTreeSet::new());
    for row in rows {
        let Some(marker) = row.get::<_, Option<String>>(1) else {
            continue;
        };
        ensure!(
            prompt.contains(&format!("[{marker}]")),
            "the prompt lacks [{marker}]"
        );
        let trace = shown
            .remove(&marker)
            .with_context(|| format!("explain_turn lacks {marker}"))?;
        let origin: String = row.get(2);
        if origin == "remembered" {
            // Facts of an earlier answer are no passage of this turn.
            continue;
        }
        let classes = corpus.duplicates.of_keys(&trace.member_chunk_ids);
        let hits: Vec<String> = classes.intersection(gold).cloned().collect();
        sources.push(Source {
            origin,
            relevance: trace.relevance,
            carry_score: trace.carry_score,
            title: row.get(3),
            content: row.get(4),
            gold: !hits.is_empty(),
            marker,
        });
        found.extend(hits);
    }
    Ok(JudgedContext {
        sources,
        found,
        ranked,
    })
}

/// A source in the trace.
struct TracedSource {
    member_chunk_ids: Vec<String>,
    relevance: Option<f64>,
    carry_score: Option<f64>,
}

/// The trace of a turn.
struct Trace {
    /// The sources of the context, by marker.
    shown: BTreeMap<String, TracedSource>,
    /// Classes of the candidates that the search found, in its order.
    ranked: Vec<BTreeSet<String>>,
}

fn trace(client: &mut impl GenericClient, turn_id: i64, corpus: &JudgedCorpus) -> Result<Trace> {
    let rows = client.query(
        "SELECT marker, member_chunk_ids, relevance::float8, carry_score::float8, in_context, lexical_rank IS NOT NULL OR vector_rank IS NOT NULL \
         FROM reground.explain_turn($1) ORDER BY fused_score DESC, chunk_id",
        &[&turn_id],
    )?;
    let mut trace = Trace {
        shown: BTreeMap::new(),
        ranked: Vec::new(),
    };
    for row in &rows {
        let member_chunk_ids: Vec<String> = row.get(1);
        // Also sources that were carried over and found again.
        if row.get(5) {
            trace
                .ranked
                .push(corpus.duplicates.of_keys(&member_chunk_ids));
        }
        if row.get(4) {
            let traced = TracedSource {
                member_chunk_ids,
                relevance: row.get(2),
                carry_score: row.get(3),
            };
            trace.shown.insert(row.get(0), traced);
        }
    }
    Ok(trace)
}

fn end_turn(client: &mut impl GenericClient, turn_id: i64, answer: &str) -> Result<Vec<Verdict>> {
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

    fn replayed(sources: &[bool], gold: &[&str], found: &[&str]) -> ReplayedTurn {
        let set = |classes: &[&str]| classes.iter().map(|class| (*class).to_owned()).collect();
        ReplayedTurn {
            sources: sources
                .iter()
                .map(|&gold| Source {
                    gold,
                    ..Source::default()
                })
                .collect(),
            gold: set(gold),
            found: set(found),
            ..ReplayedTurn::default()
        }
    }

    #[test]
    fn recall_and_precision_have_their_definitions() {
        let turn = replayed(&[true, false, false, false], &["x", "y"], &["x"]);
        assert_eq!((turn.recall(), turn.precision()), (Some(0.5), Some(0.25)));
        let empty = replayed(&[], &["x"], &[]);
        assert_eq!((empty.recall(), empty.precision()), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn an_unjudged_turn_has_no_score() {
        let turn = replayed(&[false], &[], &[]);
        assert_eq!((turn.recall(), turn.precision()), (None, None));
    }
}
