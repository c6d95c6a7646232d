//! The sources of a turn's context, with their facts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Candidate, CharRange, Origin};

/// A source of a turn's context: `begin_turn` returns it, `prompt_context` prints it, and `end_turn` judges citations
/// against it.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSource {
    /// Its marker.
    pub marker: String,
    /// Position in the prompt, from 1.
    pub position: u32,
    /// The passage and its scores.
    pub candidate: Candidate,
    /// Key facts: supplied by the application, or sentences chosen for the query.
    pub facts: Vec<Fact>,
    /// The retrieval of the turn that found it: 0 for the one at its beginning.
    pub retrieval_no: u32,
}

impl ContextSource {
    /// Whether it is shown by its facts only: its text is the facts of an earlier turn, not the passage.
    #[must_use]
    pub fn is_remembered(&self) -> bool {
        self.candidate.origin == Origin::Remembered
    }

    /// The offsets within the text of the row of a part of the shown text; `None` if the row does not contain that part.
    #[must_use]
    pub fn in_row(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let (start, end) = self.in_passage(start, end)?;
        let range = self.candidate.passage.in_row(start..end);
        Some((range.start, range.end))
    }

    /// The offsets within the passage of a part of the shown text.
    fn in_passage(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        if !self.is_remembered() {
            return Some((start, end));
        }
        let mut fact_start = 0;
        for fact in &self.facts {
            let fact_end = fact_start + fact.text.chars().count();
            if (fact_start..fact_end).contains(&start) && end <= fact_end {
                let offset = fact.chars?.start as usize;
                return Some((offset + start - fact_start, offset + end - fact_start));
            }
            fact_start = fact_end + 1;
        }
        None
    }
}

/// A key fact of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// A sentence of the source, verbatim, or a fact that the application supplies.
    pub text: String,
    /// Offsets of the fact within the passage's text; `None` for a supplied fact that is not a part of the text.
    #[serde(default)]
    pub chars: Option<CharRange>,
}

/// The facts of a turn, by marker. The next turn starts from this fact sheet.
pub type FactSheet = BTreeMap<String, BTreeSet<String>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};

    #[test]
    fn a_part_of_a_fact_has_its_place_in_the_passage() {
        let fact = |text: &str, start: Option<u32>| Fact {
            text: text.to_owned(),
            chars: start.map(|start| CharRange {
                start,
                end: start + text.chars().count() as u32,
            }),
        };
        let mut source = ContextSource {
            marker: "A1".to_owned(),
            position: 1,
            candidate: candidate(passage("d", "1", 0, 0, "über\nmilk\nwool"), 0.5),
            facts: vec![
                fact("über", Some(100)),
                fact("milk", None),
                fact("wool", Some(7)),
            ],
            retrieval_no: 0,
        };
        assert_eq!(source.in_passage(1, 3), Some((1, 3)));
        source.candidate.origin = Origin::Remembered;
        assert_eq!(source.in_passage(1, 3), Some((101, 103)));
        assert_eq!(source.in_passage(10, 14), Some((7, 11)));
        // A supplied fact is not a part of the passage, and no part reaches over two facts.
        assert_eq!(source.in_passage(5, 9), None);
        assert_eq!(source.in_passage(2, 6), None);
        assert_eq!(source.in_passage(40, 41), None);
    }
}
