//! Extracts key facts of a source for a query: verbatim sentences with their offsets.

use std::collections::BTreeSet;

use reground_documents::sentence_spans;
use reground_interrupt::checked;

use crate::memory::Fact;
use crate::passage::CharRange;
use crate::query::cues::Cues;
use crate::query::words::{self, content_keys, held_keys};

/// Words of the longest sentence that can be a fact. Longer ones are skipped.
const MOST_WORDS: usize = 60;
/// Words of the shortest sentence that can be a fact. Shorter ones are headings or list numbers.
const FEWEST_WORDS: usize = 4;

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
    facts.sort_by_key(|fact| fact.chars.start);
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
                chars,
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
        assert_eq!(facts[0].chars.start, 0);
    }

    proptest! {
        #[test]
        fn facts_are_verbatim_at_their_offsets(text in "(\\PC{0,40}[.!?。] ?){0,8}", query in "\\PC{0,30}", most in 0usize..4) {
            let facts = extract_facts(&text, &query, None, most, Cues::built_in());
            prop_assert!(facts.len() <= most);
            for fact in &facts {
                let there: String = text.chars().skip(fact.chars.start as usize)
                    .take((fact.chars.end - fact.chars.start) as usize).collect();
                prop_assert_eq!(&there, &fact.text);
                prop_assert!(words::count(&fact.text) <= MOST_WORDS);
            }
            prop_assert!(facts.windows(2).all(|pair| pair[0].chars.end <= pair[1].chars.start));
        }
    }
}
