//! Probes: questions with a known source, which are run through the pipeline to find the stage that loses the source.

use serde::Serialize;

use crate::begin::Composed;

/// The source that a probe expects in the context.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Its document.
    pub doc_id: &'a str,
    /// Its passage; `None` for any passage of the document.
    pub chunk_id: Option<&'a str>,
}

/// Whether the expected source exists and is visible to the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Whether any passage of its document exists; false if its corpus cannot be read.
    pub document: bool,
    /// Whether its passage exists in the document; true if no passage was named.
    pub chunk: bool,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Whether it is in the context.
    pub found: bool,
    /// Its position there, from 1.
    pub position: Option<usize>,
    /// The stage that lost it: document, chunk, retrieval, or a stage of the turn.
    pub lost_stage: Option<&'static str>,
    /// The reason for the loss.
    pub reason: Option<&'static str>,
}

impl Outcome {
    /// The outcome if the expected source does not exist; `None` if the probe can run.
    #[must_use]
    pub fn missing(presence: Presence) -> Option<Self> {
        let stage = match presence {
            Presence {
                document: false, ..
            } => "document",
            Presence { chunk: false, .. } => "chunk",
            _ => return None,
        };
        Some(Self {
            found: false,
            position: None,
            lost_stage: Some(stage),
            reason: Some("gone"),
        })
    }

    /// The outcome of a probe that cannot run: its embedding, filter or settings no longer fit the corpus.
    #[must_use]
    pub const fn not_run() -> Self {
        Self {
            found: false,
            position: None,
            lost_stage: None,
            reason: Some("cannot_be_asked"),
        }
    }

    /// The outcome of a turn: the position in the context, else the stage and reason of the matching dropped candidate
    /// that came furthest.
    #[must_use]
    pub fn of(turn: &Composed, expected: Expected<'_>) -> Self {
        let is = |doc_id: &str, members: &[String]| {
            let mut members = members.iter();
            doc_id == expected.doc_id
                && expected
                    .chunk_id
                    .is_none_or(|chunk| members.any(|member| member == chunk))
        };
        let mut context = turn.context.iter();
        let place = context.position(|source| {
            is(
                &source.candidate.passage.doc_id,
                &source.candidate.member_chunk_ids,
            )
        });
        if let Some(place) = place {
            return Self {
                found: true,
                position: Some(place + 1),
                lost_stage: None,
                reason: None,
            };
        }
        let left = turn.dropped.iter();
        let furthest = left
            .filter(|left| {
                is(
                    &left.candidate.passage.doc_id,
                    &left.candidate.member_chunk_ids,
                )
            })
            .max_by_key(|left| left.stage);
        Self {
            found: false,
            position: None,
            lost_stage: Some(furthest.map_or("retrieval", |left| left.stage.name())),
            reason: furthest.map(|left| left.reason.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::passage::{Candidate, Dropped, Reason, Stage};

    fn candidate(doc_id: &str, members: &[&str]) -> Candidate {
        let mut candidate =
            fixtures::candidate(fixtures::passage(doc_id, members[0], 0, 0, "words"), 1.0);
        candidate.member_chunk_ids = members.iter().map(|&member| member.to_owned()).collect();
        candidate
    }

    fn turn(dropped: Vec<(Candidate, Stage, Reason)>) -> Composed {
        Composed {
            context: Vec::new(),
            new_markers: Vec::new(),
            dropped: dropped
                .into_iter()
                .map(|(candidate, stage, reason)| Dropped {
                    candidate,
                    stage,
                    reason,
                    into: None,
                })
                .collect(),
            warnings: Vec::new(),
            answerability: None,
            rerank: None,
            tokens: 0,
        }
    }

    const RYE: Expected<'_> = Expected {
        doc_id: "rye",
        chunk_id: Some("7"),
    };

    #[test]
    fn probes_for_deleted_passages_are_not_run() {
        let stage = |document, chunk| {
            let gone = Outcome::missing(Presence { document, chunk });
            gone.map(|gone| (gone.lost_stage, gone.reason))
        };
        assert_eq!(stage(true, true), None);
        assert_eq!(stage(true, false), Some((Some("chunk"), Some("gone"))));
        for chunk in [false, true] {
            assert_eq!(stage(false, chunk), Some((Some("document"), Some("gone"))));
        }
    }

    #[test]
    fn passages_that_no_branch_found_are_lost_at_retrieval() {
        let of_another = (
            candidate("oat", &["7"]),
            Stage::Context,
            Reason::OverTokenBudget,
        );
        let outcome = Outcome::of(&turn(vec![of_another]), RYE);
        assert_eq!(
            (outcome.found, outcome.lost_stage, outcome.reason),
            (false, Some("retrieval"), None)
        );
    }

    #[test]
    fn the_candidate_that_came_furthest_counts() {
        let left = vec![
            (
                candidate("rye", &["7"]),
                Stage::Context,
                Reason::OverTokenBudget,
            ),
            (candidate("rye", &["6", "7"]), Stage::Collapse, Reason::Twin),
            (
                candidate("rye", &["8"]),
                Stage::Context,
                Reason::OverMaxSources,
            ),
        ];
        let outcome = Outcome::of(&turn(left.clone()), RYE);
        assert_eq!(
            (outcome.lost_stage, outcome.reason),
            (Some("context"), Some("over_token_budget"))
        );
        let merged = Outcome::of(
            &turn(left),
            Expected {
                chunk_id: Some("6"),
                ..RYE
            },
        );
        assert_eq!(
            (merged.lost_stage, merged.reason),
            (Some("collapse"), Some("twin"))
        );
    }
}
