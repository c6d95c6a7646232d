//! The members of the comparison that a query makes: "difference between X and Y", "X versus Y", "is X better than Y".

use crate::query::cues::{CueMatch, Cues, Kind};
use crate::query::words::{content_word, unspaced, words};

/// Maximum number of members. A longer enumeration keeps the first ones.
const MOST_ENTITIES: usize = 4;
/// Maximum number of words of a member. A longer span is a clause, not a name.
const MOST_WORDS: usize = 8;

/// The comparison in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The cue of the comparison.
    pub cue: String,
    /// Whether the cue alone makes a comparison. A bare comparative needs two members.
    pub explicit: bool,
    /// Its members as written in the query, at most four, in order of mention. Empty for "compare them".
    pub entities: Vec<String>,
}

/// The comparison in a query, if there is one. Linear in the query.
#[must_use]
pub fn comparison(query: &str, cues: &Cues) -> Option<Comparison> {
    let text = Text {
        query,
        words: words(query),
        cues,
    };
    text.assessment()
        .or_else(|| text.infix())
        .or_else(|| text.prefix())
        .or_else(|| text.suffix())
        .or_else(|| text.alternatives())
}

struct Text<'a> {
    query: &'a str,
    words: Vec<(usize, String)>,
    cues: &'a Cues,
}

impl Text<'_> {
    /// "X versus Y", "is X better than Y": the member before the cue and those after it.
    fn infix(&self) -> Option<Comparison> {
        let cue = self
            .cues
            .find(&self.words, Kind::CompareInfix)
            .or_else(|| self.comparative_than())?;
        let mut entities = self.members(self.clause_start(cue.start), cue.start);
        entities.extend(self.members(cue.end, self.clause_end(cue.end)));
        Some(Comparison {
            cue: cue.cue,
            explicit: true,
            entities: distinct(entities),
        })
    }

    /// "more difficult than": a comparative, at most two words, and "than". A bound such as "less than 5" is not a
    /// comparison.
    fn comparative_than(&self) -> Option<CueMatch> {
        (0..self.words.len()).find_map(|at| {
            let found = self.cues.at(&self.words, at, Kind::Comparative)?;
            let than = (found.end..self.words.len().min(found.end + 3))
                .find_map(|i| self.cues.at(&self.words, i, Kind::Than))?;
            let bound = self.words.get(than.end);
            if bound.is_some_and(|(_, word)| word.starts_with(char::is_numeric)) {
                return None;
            }
            Some(CueMatch {
                start: found.start,
                end: than.end,
                cue: format!("{} … {}", found.cue, than.cue),
            })
        })
    }

    /// "difference between X and Y", "compare X with Y".
    fn prefix(&self) -> Option<Comparison> {
        let cue = self.cues.find(&self.words, Kind::ComparePrefix)?;
        let entities = self.members(cue.end, self.clause_end(cue.end));
        Some(Comparison {
            cue: cue.cue,
            explicit: true,
            entities: distinct(entities),
        })
    }

    /// "pros and cons of X and Y". An assessment of one thing is no comparison: there is nothing to search for besides it.
    fn assessment(&self) -> Option<Comparison> {
        let cue = self.cues.find(&self.words, Kind::AssessPrefix)?;
        let end = self.clause_end(cue.end);
        let entities = distinct(self.members_joined_by(Kind::AssessJoiner, cue.end, end));
        (entities.len() > 1).then_some(Comparison {
            cue: cue.cue,
            explicit: true,
            entities,
        })
    }

    /// "are X and Y the same thing": two members before the cue, and at most one word after it. "with different tools"
    /// does not match.
    fn suffix(&self) -> Option<Comparison> {
        let cue = self.cues.find(&self.words, Kind::CompareSuffix)?;
        if self.clause_end(cue.end) > cue.end + 1 {
            return None;
        }
        let entities = distinct(self.members(self.clause_start(cue.start), cue.start));
        (entities.len() > 1).then_some(Comparison {
            cue: cue.cue,
            explicit: true,
            entities,
        })
    }

    /// The first comparative that does not ask for more of the same, as "more about" does.
    fn comparative(&self) -> Option<CueMatch> {
        (0..self.words.len()).find_map(|at| {
            let found = self.cues.at(&self.words, at, Kind::Comparative)?;
            let longer = self.cues.at(&self.words, at, Kind::Continuation);
            longer
                .is_none_or(|longer| longer.end <= found.end)
                .then_some(found)
        })
    }

    /// "which is faster, X or Y": a comparative and two alternatives.
    fn alternatives(&self) -> Option<Comparison> {
        let cue = self.comparative()?;
        let or = (cue.end..self.words.len())
            .find_map(|i| self.cues.at(&self.words, i, Kind::Alternative));
        // "more reliable, X or Y": the graded word is not a member.
        let degree = self.cues.at(&self.words, cue.start, Kind::Degree).is_some();
        let from = cue.end + usize::from(degree && self.gap_after(cue.end).contains(','));
        let mut entities = Vec::new();
        if let Some(or) = or {
            entities = self.members(from, or.start);
            entities.extend(self.members(or.end, self.clause_end(or.end)));
            entities = distinct(entities);
        }
        Some(Comparison {
            cue: cue.cue,
            explicit: false,
            entities,
        })
    }

    /// First word of the clause that ends before word `end`: after the last boundary word or full stop.
    fn clause_start(&self, end: usize) -> usize {
        (0..end)
            .rev()
            .find(|&i| {
                self.cues.at(&self.words, i, Kind::Boundary).is_some()
                    || self.sentence_ends_after(i)
            })
            .map_or(0, |i| i + 1)
    }

    /// One past the last word of the members that start at word `start`.
    fn clause_end(&self, start: usize) -> usize {
        (start..self.words.len())
            .find_map(|i| {
                if i > start && self.cues.at(&self.words, i, Kind::Boundary).is_some() {
                    Some(i)
                } else {
                    self.sentence_ends_after(i).then_some(i + 1)
                }
            })
            .unwrap_or(self.words.len())
    }

    /// Whether a sentence ends between word `i` and the next.
    fn sentence_ends_after(&self, i: usize) -> bool {
        self.gap_after(i)
            .chars()
            .any(|c| matches!(c, '?' | '!' | '。' | '？' | '！' | ';' | '\n'))
            || self.gap_after(i).starts_with(". ")
    }

    fn end_of(&self, i: usize) -> usize {
        self.words.get(i).map_or(self.query.len(), |(at, word)| {
            // Lower-casing can change the length, so the end is computed from the query itself.
            let lowered: usize = word.chars().count();
            self.query.get(*at..).map_or(self.query.len(), |rest| {
                at + rest
                    .chars()
                    .take(lowered)
                    .map(char::len_utf8)
                    .sum::<usize>()
            })
        })
    }

    fn gap_after(&self, i: usize) -> &str {
        let next = self
            .words
            .get(i + 1)
            .map_or(self.query.len(), |(at, _)| *at);
        self.query.get(self.end_of(i)..next).unwrap_or("")
    }

    /// The members among words `start..end`: split at joiners and commas, with stop words trimmed from both ends.
    fn members(&self, start: usize, end: usize) -> Vec<String> {
        self.members_joined_by(Kind::Joiner, start, end)
    }

    fn members_joined_by(&self, kind: Kind, start: usize, end: usize) -> Vec<String> {
        let mut members = Vec::new();
        let mut from = start;
        for i in start..end {
            let joiner = self.cues.at(&self.words, i, kind).is_some();
            let comma = self.gap_after(i).contains([',', '、', '，', '&', '/']);
            if joiner || comma || i + 1 == end {
                members.extend(self.member(from, if joiner { i } else { i + 1 }));
                from = i + 1;
            }
        }
        members
    }

    fn member(&self, start: usize, end: usize) -> Option<String> {
        let content = |i: &usize| {
            self.words.get(*i).is_some_and(|(_, word)| {
                content_word(word, self.cues)
                    || word.chars().all(|c| c.is_uppercase() || unspaced(c))
                    || self.is_name(*i)
            })
        };
        let first = (start..end).find(content)?;
        let last = (start..end).rev().find(content)?;
        if last + 1 - first > MOST_WORDS {
            return None;
        }
        let from = self.words.get(first)?.0;
        self.query.get(from..self.end_of(last)).map(str::to_owned)
    }

    /// Whether word `i` is a name: a capital letter within the query, as in "Plan B".
    fn is_name(&self, i: usize) -> bool {
        i > 0
            && self.words.get(i).is_some_and(|(at, word)| {
                word != "i"
                    && self
                        .query
                        .get(*at..)
                        .is_some_and(|rest| rest.starts_with(char::is_uppercase))
            })
    }
}

fn distinct(mut entities: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    entities.retain(|entity| seen.insert(entity.to_lowercase()));
    entities.truncate(MOST_ENTITIES);
    entities
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entities(query: &str) -> Vec<String> {
        comparison(query, Cues::built_in())
            .map(|c| c.entities)
            .unwrap_or_default()
    }

    #[test]
    fn members_of_a_comparison() {
        for (query, expected) in [
            (
                "What is the difference between the lite plan and the standard plan?",
                vec!["lite plan", "standard plan"],
            ),
            ("compare HNSW with IVFFlat", vec!["HNSW", "IVFFlat"]),
            ("Postgres vs MySQL for analytics", vec!["Postgres", "MySQL"]),
            (
                "Is a static secret better than a dynamic secret?",
                vec!["static secret", "dynamic secret"],
            ),
            (
                "differences among Fixed, Metered, and Tiered",
                vec!["Fixed", "Metered", "Tiered"],
            ),
            (
                "Which is faster, the index or the scan?",
                vec!["index", "scan"],
            ),
            (
                "Which is more reliable, the index or the scan?",
                vec!["index", "scan"],
            ),
            (
                "Is air photography more difficult than ground photography?",
                vec!["air photography", "ground photography"],
            ),
            (
                "Are object storage and block storage the same thing?",
                vec!["object storage", "block storage"],
            ),
            (
                "What are the pros and cons of HNSW and IVFFlat?",
                vec!["HNSW", "IVFFlat"],
            ),
            ("Pros/cons of bonds vs stocks", vec!["bonds", "stocks"]),
            (
                "Was sind die Vor- und Nachteile von Kanälen und Webhooks?",
                vec!["Kanälen", "Webhooks"],
            ),
            ("compare them", vec![]),
            (
                "Was ist der Unterschied zwischen Lite-Tarif und Standard-Tarif?",
                vec!["Lite-Tarif", "Standard-Tarif"],
            ),
            (
                "Ist die Blockspeicherung schneller als die Objektspeicherung?",
                vec!["Blockspeicherung", "Objektspeicherung"],
            ),
            (
                "Worin unterscheiden sich Kanäle und Webhooks?",
                vec!["Kanäle", "Webhooks"],
            ),
        ] {
            assert_eq!(entities(query), expected, "{query}");
        }
        for query in [
            "Where do guinea pigs sleep?",
            "advantages and disadvantages of moving to Berlin",
            "What are the strengths and weaknesses of remote work?",
            "Tell me more about HNSW or IVFFlat",
            "Can I work on drafts and notes with different tools of the suite?",
        ] {
            assert_eq!(comparison(query, Cues::built_in()), None, "{query}");
        }
        assert!(
            comparison("Is the limit less than 5?", Cues::built_in()).is_none_or(|c| !c.explicit)
        );
    }

    proptest! {
        #[test]
        fn every_member_is_a_substring_of_the_query(query in "\\PC{0,80}( vs | or |, | and |compare )\\PC{0,80}") {
            let found = entities(&query);
            prop_assert!(found.len() <= MOST_ENTITIES);
            for entity in found {
                prop_assert!(query.contains(&entity));
                prop_assert!(!entity.trim().is_empty());
            }
        }
    }
}
