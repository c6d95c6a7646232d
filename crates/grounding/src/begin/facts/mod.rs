//! Key facts of a source: those that the application supplies, otherwise sentences for the query, verbatim with their
//! offsets.

pub mod remembered_facts;

use std::collections::BTreeSet;

use reground_documents::sentence_spans;
use reground_interrupt::checked;
use serde_json::Value;

use crate::memory::Fact;
use crate::passage::{CharRange, Passage, one_line};
use crate::query::cues::Cues;
use crate::query::words::{self, content_keys, held_keys};

/// Words of the longest sentence that can be a fact. Longer ones are skipped.
const MOST_WORDS: usize = 60;
/// Words of the shortest sentence that can be a fact. Shorter ones are headings or list numbers.
const FEWEST_WORDS: usize = 4;

/// The metadata key with the facts that the application supplies for a passage: an array of texts.
const FACTS: &str = "facts";
/// Facts of a passage that are read from its metadata.
const MOST_SUPPLIED: usize = 10;
/// Characters of the longest supplied fact. A longer one is cut.
const MAX_CHARS: usize = 400;

/// Up to `most` facts of a passage: the supplied ones, otherwise sentences for the query.
#[must_use]
pub fn facts_of(
    passage: &Passage,
    query: &str,
    before: Option<&BTreeSet<String>>,
    most: usize,
    cues: &Cues,
) -> Vec<Fact> {
    let text = &passage.content;
    let supplied = supplied_facts(&passage.metadata);
    if supplied.is_empty() {
        return extract_facts(text, query, before, most, cues);
    }
    let fact = |fact: String| Fact {
        chars: text.find(&fact).map(|at| {
            let start = length(text.get(..at).unwrap_or_default());
            let end = start + length(&fact);
            CharRange { start, end }
        }),
        text: fact,
    };
    supplied.into_iter().take(most).map(fact).collect()
}

/// The facts in the metadata of a passage, each on one line.
pub(crate) fn supplied_facts(metadata: &Value) -> Vec<String> {
    let facts = metadata.get(FACTS).and_then(Value::as_array);
    let texts = facts.into_iter().flatten().filter_map(Value::as_str);
    texts
        .take(MOST_SUPPLIED)
        .map(|text| one_line(text, MAX_CHARS))
        .filter(|fact| !fact.is_empty())
        .collect()
}

/// Up to `most` sentences of `text` that cover most of the `query`, in text order.
///
/// A sentence is scored by the content words of the query that it contains. At equal scores an earlier fact wins, then
/// the earlier sentence. So a query without words of the source ("and for admins?") keeps the source's facts, and
/// without any match a new source gives its opening sentences, which usually state its subject. Each further sentence
/// is chosen for the words that are not yet covered. Offsets are in characters of `text`.
#[must_use]
pub fn extract_facts(
    text: &str,
    query: &str,
    before: Option<&BTreeSet<String>>,
    most: usize,
    cues: &Cues,
) -> Vec<Fact> {
    if most == 0 {
        return Vec::new();
    }
    let wanted = content_keys(query, cues);
    let mut sentences = sentences(text, &wanted, cues);
    let mut covered: BTreeSet<&String> = BTreeSet::new();
    let mut facts: Vec<Fact> = Vec::new();
    while facts.len() < most {
        let best = checked(&sentences)
            .enumerate()
            .max_by_key(|(index, sentence)| {
                let new = sentence.keys.difference(&covered).count();
                let again = before.is_some_and(|facts| facts.contains(&sentence.fact.text));
                (new, sentence.keys.len(), again, std::cmp::Reverse(*index))
            });
        let Some(index) = best.map(|(index, _)| index) else {
            break;
        };
        let chosen = sentences.remove(index);
        covered.extend(chosen.keys);
        facts.push(chosen.fact);
    }
    facts.sort_by_key(|fact| fact.chars.map(|chars| chars.start));
    facts
}

struct Sentence<'a> {
    fact: Fact,
    /// The words of the query that it contains.
    keys: BTreeSet<&'a String>,
}

/// The sentences that can be facts, with the words of the query that each contains.
fn sentences<'a>(text: &str, wanted: &'a BTreeSet<String>, cues: &Cues) -> Vec<Sentence<'a>> {
    let mut chars_before = 0u32;
    let mut bytes_before = 0;
    let mut out = Vec::new();
    // A repeated sentence counts once.
    let mut said = BTreeSet::new();
    for span in sentence_spans(text) {
        let Some(sentence) = text.get(span.clone()) else {
            continue;
        };
        let trimmed = sentence.trim_start();
        let start = span.start + (sentence.len() - trimmed.len());
        let trimmed = trimmed.trim_end();
        chars_before += length(text.get(bytes_before..start).unwrap_or_default());
        bytes_before = start;
        let count = words::count(trimmed);
        if !(FEWEST_WORDS..=MOST_WORDS).contains(&count) || !said.insert(trimmed) {
            continue;
        }
        let chars = CharRange {
            start: chars_before,
            end: chars_before + length(trimmed),
        };
        out.push(Sentence {
            fact: Fact {
                text: trimmed.to_owned(),
                chars: Some(chars),
            },
            keys: held_keys(wanted, trimmed, cues),
        });
    }
    out
}

fn length(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "Passwords expire after ninety days. Überall gilt dieselbe Regel. Admins may reset any \
        password in the settings. A reset password must be changed at once.";

    fn facts(query: &str, most: usize) -> Vec<String> {
        extract_facts(TEXT, query, None, most, Cues::built_in())
            .into_iter()
            .map(|fact| fact.text)
            .collect()
    }

    #[test]
    fn facts_are_chosen_by_the_query_in_text_order() {
        assert_eq!(
            facts("who may reset settings?", 1),
            ["Admins may reset any password in the settings."]
        );
        assert_eq!(
            facts("settings that expire", 2),
            [
                "Passwords expire after ninety days.",
                "Admins may reset any password in the settings."
            ]
        );
        assert_eq!(facts("quantum", 1), ["Passwords expire after ninety days."]);
        assert!(facts("reset", 0).is_empty());
    }

    #[test]
    fn an_unrelated_query_keeps_the_facts() {
        let sheet = BTreeSet::from(["A reset password must be changed at once.".to_owned()]);
        let facts = |query: &str, before| {
            let facts = extract_facts(TEXT, query, before, 1, Cues::built_in());
            facts.into_iter().map(|fact| fact.text).collect::<Vec<_>>()
        };
        assert_eq!(
            facts("and why?", Some(&sheet)),
            ["A reset password must be changed at once."]
        );
        assert_eq!(
            facts("and why?", None),
            ["Passwords expire after ninety days."]
        );
        // A sentence that answers the new question is preferred.
        assert_eq!(
            facts("which admins?", Some(&sheet)),
            ["Admins may reset any password in the settings."]
        );
        // A sentence that is no longer in the text is not used.
        let gone = BTreeSet::from(["Passwords are gone.".to_owned()]);
        assert_eq!(
            facts("and why?", Some(&gone)),
            ["Passwords expire after ninety days."]
        );
    }

    #[test]
    fn supplied_facts_replace_the_extracted_ones() {
        use crate::fixtures::passage;
        use serde_json::json;
        let mut passage = passage("d", "1", 0, 0, TEXT);
        let of = |passage: &Passage, most| {
            let facts = facts_of(passage, "admins", None, most, Cues::built_in());
            let range = |fact: &Fact| fact.chars.map(|chars| (chars.start, chars.end));
            let each = facts.iter().map(|fact| (fact.text.clone(), range(fact)));
            each.collect::<Vec<_>>()
        };
        let extracted = of(&passage, 1);
        for none in [
            json!(null),
            json!([]),
            json!({"facts": "text"}),
            json!({"facts": [1, " "]}),
        ] {
            passage.metadata = none;
            assert_eq!(of(&passage, 1), extracted);
        }
        passage.metadata = json!({"facts": [" Ninety\n days ", "dieselbe Regel", "a third one"]});
        let expected = [
            ("Ninety days".to_owned(), None),
            ("dieselbe Regel".to_owned(), Some((49, 63))),
        ];
        assert_eq!(of(&passage, 2), expected);
        passage.metadata = json!({"facts": ["x".repeat(1_000_000)]});
        assert_eq!(of(&passage, 2)[0].0.len(), MAX_CHARS);
        assert!(of(&passage, 0).is_empty());
    }

    #[test]
    fn overlong_sentences_are_skipped() {
        let text = format!(
            "Reset {}. Then it is short and plain.",
            "word ".repeat(80).trim()
        );
        let facts = extract_facts(&text, "reset", None, 2, Cues::built_in());
        assert_eq!(facts.len(), 1);
        assert_eq!(facts[0].text, "Then it is short and plain.");
    }

    #[test]
    fn repeated_sentences_count_once() {
        let text = "Rye grows on this field. ".repeat(100_000) + "Oats grow on the other.";
        let facts = extract_facts(&text, "rye and oats", None, 3, Cues::built_in());
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Rye grows on this field.", "Oats grow on the other."]
        );
        assert_eq!(facts[0].chars.unwrap().start, 0);
    }

    proptest! {
        #[test]
        fn facts_are_verbatim_at_their_offsets(text in "(\\PC{0,40}[.!?。] ?){0,8}", query in "\\PC{0,30}", most in 0usize..4) {
            let facts = extract_facts(&text, &query, None, most, Cues::built_in());
            prop_assert!(facts.len() <= most);
            for fact in &facts {
                let chars = fact.chars.unwrap();
                let there: String = text.chars().skip(chars.start as usize)
                    .take((chars.end - chars.start) as usize).collect();
                prop_assert_eq!(&there, &fact.text);
                prop_assert!(words::count(&fact.text) <= MOST_WORDS);
            }
            prop_assert!(facts.windows(2).all(|pair| pair[0].chars.unwrap().end <= pair[1].chars.unwrap().start));
        }
    }
}
