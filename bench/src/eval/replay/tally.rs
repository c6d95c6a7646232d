//! Counts that explain an arm: carried sources, gained and lost passages, verdicts, and the agreement of markers with judgements.

use std::collections::BTreeMap;

use super::ReplayedConversation;
use super::arm::CONTEXT;
use super::scope::Scope;
use super::turn::ReplayedTurn;
use crate::attribution::marking::holds_a_sentence;

/// Carried sources in judged contexts, and relevant passages gained and lost against the baseline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Judged contexts.
    pub contexts: usize,
    /// Of these, contexts with a carried source.
    pub carrying: usize,
    /// Carried sources.
    pub sources: usize,
    /// Of these, relevant to the turn.
    pub relevant: usize,
    /// Relevant passages that the baseline lacks in the same turn.
    pub gained: usize,
    /// Relevant passages that only the baseline has.
    pub lost: usize,
}

impl Carried {
    /// Counts the later turns of an arm; the baseline must have the same conversations.
    pub fn of(replayed: &[ReplayedConversation], baseline: &[ReplayedConversation]) -> Self {
        let turns = Scope::LATER.of(replayed).flatten();
        let others = Scope::LATER.of(baseline).flatten();
        let mut tally = Self::default();
        for (turn, other) in turns.zip(others).filter(|(turn, _)| turn.judged()) {
            let carried = turn.sources.iter().filter(|source| source.carried());
            let count = carried.clone().count();
            tally.contexts += 1;
            tally.carrying += usize::from(count > 0);
            tally.sources += count;
            tally.relevant += carried.filter(|source| source.gold).count();
            tally.gained += turn.found.difference(&other.found).count();
            tally.lost += other.found.difference(&turn.found).count();
        }
        tally
    }
}

/// Turns whose context has fewer than [`CONTEXT`] sources.
pub fn short(replayed: &[ReplayedConversation]) -> Vec<&ReplayedTurn> {
    let turns = replayed.iter().flat_map(|replayed| &replayed.turns);
    turns.filter(|turn| turn.sources.len() < CONTEXT).collect()
}

/// Ids of the judged turns whose context size differs from the baseline's.
pub fn unequal(
    replayed: &[ReplayedConversation],
    baseline: &[ReplayedConversation],
) -> Vec<String> {
    let turns = replayed.iter().flat_map(|replayed| &replayed.turns);
    let others = baseline.iter().flat_map(|replayed| &replayed.turns);
    turns
        .zip(others)
        .filter(|(turn, other)| turn.judged() && turn.sources.len() != other.sources.len())
        .map(|(turn, _)| turn.id.clone())
        .collect()
}

/// Verdicts on the citations of an arm.
#[derive(Debug, Default)]
pub struct Verdicts {
    /// Answers.
    pub answers: usize,
    /// Of these, answers with citations.
    pub citing: usize,
    /// Citations.
    pub citations: usize,
    /// Of these, strings that are no marker of the context: bracketed words of the human answer.
    pub not_ours: usize,
    /// Citations by status.
    pub statuses: BTreeMap<String, usize>,
    /// Mean support of the citations that have a support.
    pub support: Option<f64>,
    /// Mean citation fidelity score of the answers with citations.
    pub cfs: Option<f64>,
    /// The same weighted by support.
    pub grounded_cfs: Option<f64>,
}

impl Verdicts {
    /// Counts all turns of an arm.
    pub fn of(replayed: &[ReplayedConversation]) -> Self {
        let turns = || replayed.iter().flat_map(|replayed| &replayed.turns);
        let mut tally = Self {
            support: mean(
                turns()
                    .flat_map(|turn| &turn.verdicts)
                    .filter_map(|one| one.support),
            ),
            cfs: mean(turns().filter_map(|turn| turn.cfs)),
            grounded_cfs: mean(turns().filter_map(|turn| turn.grounded_cfs)),
            ..Self::default()
        };
        for turn in turns() {
            tally.answers += 1;
            tally.citing += usize::from(!turn.verdicts.is_empty());
            for verdict in &turn.verdicts {
                let ours = |marker: &str| verdict.raw == format!("[{marker}]");
                let ours = turn.sources.iter().any(|source| ours(&source.marker));
                tally.citations += 1;
                tally.not_ours += usize::from(!ours);
                *tally.statuses.entry(verdict.status.clone()).or_default() += 1;
            }
        }
        tally
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Agreement of the text-based markers with the human judgements, over the sources of judged contexts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Sources.
    pub sources: usize,
    /// Judged relevant.
    pub relevant: usize,
    /// Marked, because they contain a sentence of the answer.
    pub marked: usize,
    /// Marked and judged relevant.
    pub both: usize,
}

impl Agreement {
    /// Marks the sources that contain `share` of a sentence of the answer.
    pub fn at(share: f64, replayed: &[ReplayedConversation]) -> Self {
        let turns = replayed.iter().flat_map(|replayed| &replayed.turns);
        let mut tally = Self::default();
        for turn in turns.filter(|turn| turn.judged()) {
            for source in &turn.sources {
                let marked = holds_a_sentence(&turn.answer, &source.content, share);
                tally.sources += 1;
                tally.relevant += usize::from(source.gold);
                tally.marked += usize::from(marked);
                tally.both += usize::from(marked && source.gold);
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::super::turn::{Source, Verdict};
    use super::*;
    use crate::data::Domain;

    fn turn(number: u32, found: &[&str], carried: &[bool]) -> ReplayedTurn {
        ReplayedTurn {
            number,
            gold: ["x", "y", "z"].map(String::from).into(),
            found: found.iter().map(|class| (*class).to_owned()).collect(),
            sources: carried
                .iter()
                .map(|&gold| Source {
                    origin: "carried".into(),
                    marker: "A1".into(),
                    gold,
                    ..Source::default()
                })
                .collect(),
            ..ReplayedTurn::default()
        }
    }

    fn replayed(turns: Vec<ReplayedTurn>) -> [ReplayedConversation; 1] {
        [ReplayedConversation {
            domain: Domain::Cloud,
            turns,
        }]
    }

    #[test]
    fn gains_and_losses_are_counted_in_later_turns() {
        let arm = replayed(vec![
            turn(1, &["x"], &[]),
            turn(2, &["y", "z"], &[true, false]),
            turn(3, &["x"], &[]),
        ]);
        let baseline = replayed(vec![
            turn(1, &[], &[]),
            turn(2, &["x"], &[]),
            turn(3, &["x"], &[]),
        ]);
        let expected = Carried {
            contexts: 2,
            carrying: 1,
            sources: 2,
            relevant: 1,
            gained: 2,
            lost: 1,
        };
        assert_eq!(Carried::of(&arm, &baseline), expected);
        assert_eq!(unequal(&arm, &baseline).len(), 1);
        assert_eq!(short(&arm).len(), 3);
    }

    #[test]
    fn citations_without_a_marker_of_the_context_are_counted() {
        let verdict = |raw: &str, support| Verdict {
            raw: raw.into(),
            status: "unsupported".into(),
            support,
        };
        let mut one = turn(1, &[], &[true]);
        one.verdicts = vec![
            verdict("[A1]", Some(0.25)),
            verdict("[A1]", Some(0.75)),
            verdict("[IBM Cloudant]", None),
        ];
        one.cfs = Some(1.0);
        let tally = Verdicts::of(&replayed(vec![one, turn(2, &[], &[])]));
        assert_eq!(
            (tally.answers, tally.citing, tally.citations, tally.not_ours),
            (2, 1, 3, 1)
        );
        assert_eq!(tally.statuses["unsupported"], 3);
        assert_eq!(
            (tally.support, tally.cfs, tally.grounded_cfs),
            (Some(0.5), Some(1.0), None)
        );
    }

    #[test]
    fn markers_are_compared_with_the_judgements() {
        let mut one = turn(1, &[], &[true, false, true]);
        one.answer = "The warranty lasts ten years.".into();
        one.sources[0].content = "The warranty lasts ten years.".into();
        one.sources[1].content = "A warranty, ten years.".into();
        let replayed = replayed(vec![one]);
        let half = Agreement {
            sources: 3,
            relevant: 2,
            marked: 2,
            both: 1,
        };
        assert_eq!(Agreement::at(0.5, &replayed), half);
        assert_eq!(
            Agreement::at(1.0, &replayed),
            Agreement { marked: 1, ..half }
        );
    }
}
