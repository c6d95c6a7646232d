//! How a source of a context is stored. A fact that is a part of the passage is stored by its range alone, because the text
//! of the passage is stored with it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::context::{ContextSource, Fact};
use crate::passage::{Candidate, CharRange};

/// A stored source: written with references and [`ShortFact`], read with values and [`ReadFact`].
#[derive(Serialize, Deserialize)]
struct StoredSource<M, C, F> {
    marker: M,
    position: u32,
    #[serde(flatten)]
    candidate: C,
    #[serde(default = "Vec::new")]
    facts: Vec<F>,
    #[serde(default, skip_serializing_if = "is_zero")]
    retrieval_no: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct ShortFact<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    chars: Option<CharRange>,
}

#[derive(Deserialize)]
struct ReadFact {
    text: Option<String>,
    chars: Option<CharRange>,
}

impl Serialize for ContextSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let content = &self.candidate.passage.content;
        let has_range =
            |fact: &Fact| fact.chars.and_then(|chars| chars.of_text(content)) == Some(&fact.text);
        StoredSource {
            marker: &self.marker,
            position: self.position,
            candidate: &self.candidate,
            facts: self
                .facts
                .iter()
                .map(|fact| ShortFact {
                    text: (!has_range(fact)).then_some(&fact.text),
                    chars: fact.chars,
                })
                .collect(),
            retrieval_no: self.retrieval_no,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContextSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredSource::<String, Candidate, ReadFact>::deserialize(deserializer)?;
        let content = &stored.candidate.passage.content;
        let with_text = |fact: ReadFact| {
            let of_passage = || fact.chars?.of_text(content).map(str::to_owned);
            Fact {
                text: fact.text.or_else(of_passage).unwrap_or_default(),
                chars: fact.chars,
            }
        };
        Ok(Self {
            facts: stored.facts.into_iter().map(with_text).collect(),
            marker: stored.marker,
            position: stored.position,
            candidate: stored.candidate,
            retrieval_no: stored.retrieval_no,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{candidate, passage};

    fn source(content: &str, facts: Vec<Fact>) -> ContextSource {
        ContextSource {
            marker: "A1".to_owned(),
            position: 1,
            candidate: candidate(passage("d", "1", 0, 0, content), 0.5),
            facts,
            retrieval_no: 0,
        }
    }

    #[test]
    fn only_a_fact_that_the_passage_does_not_contain_is_stored_with_its_text() {
        let fact = |text: &str, chars: Option<(u32, u32)>| Fact {
            text: text.to_owned(),
            chars: chars.map(|(start, end)| CharRange { start, end }),
        };
        let source = source(
            "Über Milch. Wolle.",
            vec![
                fact("Über Milch.", Some((0, 11))),
                fact("Wolle.", Some((12, 18))),
                fact("Wolle!", Some((12, 18))),
                fact("Käse.", None),
                fact("beyond", Some((15, 40))),
            ],
        );
        let stored = serde_json::to_value(&source).unwrap();
        let texts: Vec<Option<&str>> = stored["facts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fact| fact.get("text").and_then(|text| text.as_str()))
            .collect();
        assert_eq!(
            texts,
            [None, None, Some("Wolle!"), Some("Käse."), Some("beyond")]
        );
        let read: ContextSource = serde_json::from_value(stored).unwrap();
        assert_eq!(read, source);
    }

    proptest! {
        /// Reading returns the source that was written, for any facts.
        #[test]
        fn reading_restores_what_was_stored(
            content in "\\PC{0,40}",
            facts in proptest::collection::vec(("\\PC{0,8}", proptest::option::of((0..50_u32, 0..50_u32))), 0..5),
            own in proptest::collection::vec((0..40_usize, 0..40_usize), 0..5),
        ) {
            let given = facts.into_iter().map(|(text, chars)| Fact {
                text,
                chars: chars.map(|(start, end)| CharRange { start, end }),
            });
            let own = own.into_iter().map(|(start, length)| {
                let text: String = content.chars().skip(start).take(length).collect();
                let end = start + text.chars().count();
                Fact { text, chars: CharRange::of(u32::try_from(start).ok(), u32::try_from(end).ok()) }
            });
            let source = source(&content, given.chain(own).collect());
            let stored = serde_json::to_string(&source).unwrap();
            let read: ContextSource = serde_json::from_str(&stored).unwrap();
            prop_assert_eq!(read, source);
        }
    }
}
