//! Injects faults into a sentence and its marker.

use unicode_segmentation::UnicodeSegmentation;

use super::answers::{Passage, ShownAnswer};
use super::case::{MarkerStyle, Replacement, TestCase, answer, passages};
use super::fault_kind::FaultKind;
use crate::attribution::marking::MIN_OVERLAP;
use crate::attribution::overlap::{overlap, words};
use crate::statistics::random::SplitMix;

/// English verbs that "not" can follow.
const VERBS: [&str; 14] = [
    "is", "are", "was", "were", "can", "could", "will", "would", "should", "may", "must", "has",
    "have", "had",
];

/// Words of a sentence that is already negated.
const NEGATIONS: [&str; 6] = ["not", "no", "never", "cannot", "nor", "without"];

/// Index of an answer and of a sentence.
pub type Place = (usize, usize);

/// Answers with one fault each, `kind.injections()` of them. Each suitable sentence gets a fault before any sentence gets a second one.
/// Fewer if no sentence is suitable.
pub fn injected(all: &[ShownAnswer], kind: FaultKind, random: &mut SplitMix) -> Vec<TestCase> {
    let mut places: Vec<Place> = all
        .iter()
        .enumerate()
        .flat_map(|(number, shown)| shown.citing().map(move |place| (number, place)))
        .collect();
    random.shuffle(&mut places);
    let mut cases: Vec<TestCase> = Vec::new();
    loop {
        let before = cases.len();
        for &(number, place) in &places {
            if cases.len() == kind.injections() {
                return cases;
            }
            cases.extend(one(all, &all[number], place, kind, random));
        }
        if cases.len() == before {
            return cases;
        }
    }
}

fn one(
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    place: usize,
    kind: FaultKind,
    random: &mut SplitMix,
) -> Option<TestCase> {
    let style = style(kind);
    let instead = fault(all, shown, place, kind, random)?;
    let (answer, citations) = answer(shown, style, Some((place, &instead.said, &instead.marker)));
    let (_, byte) = citations.into_iter().find(|(at, _)| *at == place)?;
    Some(TestCase {
        answer,
        passages: passages(shown, style),
        corpus: None,
        citations: vec![byte],
    })
}

fn style(kind: FaultKind) -> MarkerStyle {
    match kind {
        FaultKind::NumberOutOfRange => MarkerStyle::Numbers,
        _ => MarkerStyle::Letters,
    }
}

/// The sentence and the marker with the fault; `None` if the sentence is not suitable.
pub fn fault(
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    place: usize,
    kind: FaultKind,
    random: &mut SplitMix,
) -> Option<Replacement> {
    let style = style(kind);
    let sentence = shown.sentences.get(place)?;
    let (right, _) = sentence.supported_by?;
    let source = shown.passages.get(right)?;
    let said = sentence.text.as_str();
    let mut said_instead = None;
    let mut marker = style.marker(right);
    match kind {
        FaultKind::UnknownMarker => {
            // Either a document that was not shown, or another passage of a shown document.
            let beyond = shown.passages.len() + random.below(26 - shown.passages.len().min(25));
            marker = match random.below(2) {
                0 => style.marker(beyond),
                _ => format!("{}{}", &marker[..1], 2 + random.below(8)),
            };
        }
        FaultKind::NumberOutOfRange => {
            marker = (shown.passages.len() + 1 + random.below(20)).to_string();
        }
        FaultKind::OtherPassage => {
            let others: Vec<usize> = (0..shown.passages.len())
                .filter(|other| {
                    overlap(said, &shown.passages[*other].words)
                        .is_some_and(|contained| contained < MIN_OVERLAP)
                })
                .collect();
            marker = style.marker(*random.choose(&others)?);
        }
        FaultKind::ForeignSentence => {
            said_instead = Some(sentence_of_another_conversation(all, shown, random)?)
        }
        FaultKind::ChangedNumber => said_instead = Some(with_other_number(said, source, random)?),
        FaultKind::Negated => said_instead = Some(negated(said)?),
        FaultKind::SwappedName => {
            said_instead = Some(with_other_name(said, source, all, shown, random)?)
        }
        FaultKind::Exchanged
        | FaultKind::PageBeyond
        | FaultKind::PageElsewhere
        | FaultKind::Stale => {
            return None;
        }
    }
    Some(Replacement {
        said: said_instead.unwrap_or_else(|| said.to_owned()),
        marker,
    })
}

/// A fault of a random kind for a sentence that cites; `None` if no kind is suitable.
pub fn replacement(
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    place: usize,
    random: &mut SplitMix,
) -> Option<Replacement> {
    let mut kinds: Vec<FaultKind> = FaultKind::IN_ANSWERS
        .into_iter()
        .filter(|kind| *kind != FaultKind::NumberOutOfRange)
        .collect();
    random.shuffle(&mut kinds);
    kinds
        .into_iter()
        .find_map(|kind| fault(all, shown, place, kind, random))
}

/// A cited sentence of another conversation; no shown passage contains half of it.
fn sentence_of_another_conversation(
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    random: &mut SplitMix,
) -> Option<String> {
    (0..100).find_map(|_| {
        let other = random.choose(all)?;
        let citing: Vec<usize> = other.citing().collect();
        let said = &other.sentences[*random.choose(&citing)?].text;
        let contained = |passage: &Passage| {
            overlap(said, &passage.words).is_some_and(|contained| contained >= MIN_OVERLAP)
        };
        (other.conversation != shown.conversation && !shown.passages.iter().any(contained))
            .then(|| said.clone())
    })
}

/// Replaces a number that the passage contains by one that it lacks.
pub fn with_other_number(said: &str, source: &Passage, random: &mut SplitMix) -> Option<String> {
    let numbers: Vec<(usize, &str)> = said
        .unicode_word_indices()
        .filter(|(_, word)| word.len() < 9 && word.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|(_, word)| source.words.iter().any(|other| other == word))
        .collect();
    let (at, word) = *random.choose(&numbers)?;
    let number: usize = word.parse().ok()?;
    (0..100).find_map(|_| {
        let other = (number + 1 + random.below(9)).to_string();
        let new = !source.words.contains(&other);
        new.then(|| format!("{}{other}{}", &said[..at], &said[at + word.len()..]))
    })
}

/// Negates the first auxiliary verb.
fn negated(said: &str) -> Option<String> {
    let negates = |word: &String| {
        NEGATIONS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    if words(said).iter().any(negates) {
        return None;
    }
    let (at, verb) = said
        .unicode_word_indices()
        .find(|(at, word)| *at > 0 && VERBS.contains(word))?;
    let end = at + verb.len();
    Some(format!("{} not{}", &said[..end], &said[end..]))
}

/// Replaces a name that the passage contains by a name of another conversation that it lacks.
fn with_other_name(
    said: &str,
    source: &Passage,
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    random: &mut SplitMix,
) -> Option<String> {
    let given = |name: &str| words(name).iter().all(|word| source.words.contains(word));
    let own: Vec<(usize, &str)> = names(said)
        .into_iter()
        .filter(|(_, name)| given(name))
        .collect();
    let (at, name) = *random.choose(&own)?;
    (0..100).find_map(|_| {
        let other = random.choose(all)?;
        let sentence = random.choose(&other.sentences)?;
        let others = names(&sentence.text);
        let (_, instead) = *random.choose(&others)?;
        let strange = words(instead)
            .iter()
            .all(|word| !source.words.contains(word));
        (other.conversation != shown.conversation && strange)
            .then(|| format!("{}{instead}{}", &said[..at], &said[at + name.len()..]))
    })
}

/// Runs of capitalised words after the first word, separated by spaces: start and text.
pub fn names(said: &str) -> Vec<(usize, &str)> {
    let mut names: Vec<(usize, usize)> = Vec::new();
    for (at, word) in said.unicode_word_indices().skip(1) {
        let name = word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() > 2;
        match names.last_mut() {
            Some((_, end)) if name && said.get(*end..at) == Some(" ") => *end = at + word.len(),
            _ if name => names.push((at, at + word.len())),
            _ => {}
        }
    }
    names
        .into_iter()
        .map(|(from, to)| (from, &said[from..to]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injection::answers::Sentence;

    fn passage(text: &str) -> Passage {
        Passage {
            document: String::new(),
            text: text.into(),
            words: words(text),
        }
    }

    #[test]
    fn a_verb_is_negated_once() {
        assert_eq!(
            negated("The roof is new.").as_deref(),
            Some("The roof is not new.")
        );
        assert_eq!(negated("The roof is never new."), None);
        assert_eq!(negated("It isn't new and it was old."), None);
        assert_eq!(negated("Is it? Cows run."), None);
    }

    #[test]
    fn a_number_of_the_passage_is_replaced_by_one_that_it_lacks() {
        let source = passage("Founded in 1990, not in 1991 or 1992.");
        for seed in 0..50 {
            let said = with_other_number("Founded in 1990 by 7 men.", &source, &mut SplitMix(seed))
                .unwrap();
            assert!(said.ends_with(" by 7 men."), "{said}");
            assert!(
                words(&said)
                    .iter()
                    .all(|word| !source.words[3..].contains(word) || word == "in"),
                "{said}"
            );
        }
        assert_eq!(
            with_other_number("By 7 men.", &source, &mut SplitMix(1)),
            None
        );
    }

    #[test]
    fn names_are_runs_of_capitalised_words() {
        assert_eq!(
            names("The king of New Spain, Old Al and Madrid."),
            [(12, "New Spain"), (23, "Old"), (34, "Madrid")]
        );
        assert_eq!(names("Paris"), []);
    }

    /// Two conversations whose sentences are suitable for every kind.
    fn two() -> Vec<ShownAnswer> {
        let sentences = [
            "The mill of Ghent was built in 1790.",
            "The farm near Lisbon was sold in 1850.",
        ];
        let passages: Vec<Passage> = [sentences[0], "Nothing of the kind.", sentences[1]]
            .map(passage)
            .into();
        let shown = |(number, text): (usize, &str)| ShownAnswer {
            conversation: number.to_string(),
            question: String::new(),
            passages: passages[number..number + 2].to_vec(),
            sentences: vec![Sentence {
                text: text.to_owned(),
                supported_by: Some((number, 1.0)),
            }],
        };
        sentences.into_iter().enumerate().map(shown).collect()
    }

    #[test]
    fn each_kind_is_injected_as_often_as_asked_and_changes_only_its_part() {
        let all = two();
        let (unchanged, _) = crate::injection::case::unchanged(&all);
        for kind in FaultKind::IN_ANSWERS {
            let cases = injected(&all, kind, &mut SplitMix(1));
            assert_eq!(cases.len(), kind.injections(), "{kind:?}");
            for case in cases {
                let (said, marker) = case.answer.split_at(case.citations[0]);
                assert!(marker.starts_with('['), "{kind:?}: {}", case.answer);
                let as_it_was = |answer: &str| answer.starts_with(said);
                let true_marker = unchanged.iter().any(|case| case.answer.ends_with(marker));
                let marker_only = matches!(
                    kind,
                    FaultKind::UnknownMarker
                        | FaultKind::NumberOutOfRange
                        | FaultKind::OtherPassage
                );
                assert_eq!(
                    unchanged.iter().any(|case| as_it_was(&case.answer)),
                    marker_only || kind == FaultKind::ForeignSentence,
                    "{said}"
                );
                assert_eq!(
                    true_marker,
                    !marker_only || kind == FaultKind::OtherPassage,
                    "{marker}"
                );
            }
            let again = injected(&all, kind, &mut SplitMix(1));
            assert!(
                again
                    .iter()
                    .zip(injected(&all, kind, &mut SplitMix(1)))
                    .all(|(a, b)| a.answer == b.answer)
            );
        }
    }
}
