//! A second generator of faults: the wrong word is close to the right one. Numbers have two digits exchanged, come from another
//! passage of the context, or are a little larger; names come from another passage of the context; verbs are denied by a
//! contraction or `never`, or a denial is removed.

use unicode_segmentation::UnicodeSegmentation;

use super::answers::{Passage, ShownAnswer};
use super::case::{MarkerStyle, TestCase, answer, passages};
use super::faults::names;
use crate::attribution::overlap::words;
use crate::statistics::random::SplitMix;

/// Largest number of cases of one kind.
const MOST: usize = 400;

/// Attempts to find another word for one sentence.
const ATTEMPTS: usize = 100;

/// Words that deny, besides `not`.
const DENIALS: [&str; 5] = ["no", "never", "cannot", "nor", "without"];

/// Verbs, and how they are denied.
const VERBS: [(&str, &str); 16] = [
    ("is", "isn't"),
    ("are", "are never"),
    ("was", "wasn't"),
    ("were", "were never"),
    ("can", "cannot"),
    ("could", "couldn't"),
    ("will", "won't"),
    ("would", "would never"),
    ("should", "shouldn't"),
    ("may", "may never"),
    ("must", "mustn't"),
    ("has", "has never"),
    ("have", "haven't"),
    ("had", "hadn't"),
    ("does", "doesn't"),
    ("do", "don't"),
];

/// The kind of the changed word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearFault {
    /// Another number.
    Number,
    /// Another name.
    Name,
    /// A denial added or removed.
    Denial,
}

impl NearFault {
    /// All variants, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Number, Self::Denial, Self::Name];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "near number",
            Self::Name => "name of another passage",
            Self::Denial => "denial added or removed",
        }
    }

    /// The sentence with the fault; `None` if it is not suitable.
    pub fn put_into(
        self,
        said: &str,
        source: &Passage,
        shown: &ShownAnswer,
        random: &mut SplitMix,
    ) -> Option<String> {
        match self {
            Self::Number => with_near_number(said, source, shown, random),
            Self::Name => with_near_name(said, source, shown, random),
            Self::Denial => denied(said),
        }
    }
}

/// Answers with one fault each, at most one for each sentence.
pub fn cases(all: &[ShownAnswer], kind: NearFault, random: &mut SplitMix) -> Vec<TestCase> {
    let mut places: Vec<(&ShownAnswer, usize)> = all
        .iter()
        .flat_map(|shown| shown.citing().map(move |place| (shown, place)))
        .collect();
    random.shuffle(&mut places);
    let cases = places.into_iter().filter_map(|(shown, place)| {
        let sentence = shown.sentences.get(place)?;
        let (right, _) = sentence.supported_by?;
        let source = shown.passages.get(right)?;
        let said = kind.put_into(&sentence.text, source, shown, random)?;
        let marker = MarkerStyle::Letters.marker(right);
        let (answer, citations) =
            answer(shown, MarkerStyle::Letters, Some((place, &said, &marker)));
        let (_, byte) = citations.into_iter().find(|(at, _)| *at == place)?;
        Some(TestCase {
            answer,
            passages: passages(shown, MarkerStyle::Letters),
            corpus: None,
            citations: vec![byte],
        })
    });
    cases.take(MOST).collect()
}

fn is_number(word: &str) -> bool {
    word.len() < 9 && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn with_near_number(
    said: &str,
    source: &Passage,
    shown: &ShownAnswer,
    random: &mut SplitMix,
) -> Option<String> {
    let numbers: Vec<(usize, &str)> = said
        .unicode_word_indices()
        .filter(|(_, word)| is_number(word) && source.words.iter().any(|other| other == word))
        .collect();
    let (at, word) = *random.choose(&numbers)?;
    let number: usize = word.parse().ok()?;
    let other = (0..ATTEMPTS).find_map(|_| {
        let other = match random.below(3) {
            0 => with_exchanged_digits(word, random)?,
            1 => {
                let passage = random.choose(&shown.passages)?;
                let numbers: Vec<&String> = passage
                    .words
                    .iter()
                    .filter(|word| is_number(word))
                    .collect();
                (*random.choose(&numbers)?).clone()
            }
            _ => (number + 1 + random.below(number / 10 + 1)).to_string(),
        };
        (other != word && !source.words.contains(&other)).then_some(other)
    })?;
    Some(format!(
        "{}{other}{}",
        &said[..at],
        &said[at + word.len()..]
    ))
}

fn with_exchanged_digits(number: &str, random: &mut SplitMix) -> Option<String> {
    let mut digits: Vec<char> = number.chars().collect();
    let first = random.below(digits.len().checked_sub(1).filter(|last| *last > 0)?);
    digits.swap(first, first + 1);
    Some(digits.into_iter().collect())
}

fn with_near_name(
    said: &str,
    source: &Passage,
    shown: &ShownAnswer,
    random: &mut SplitMix,
) -> Option<String> {
    let given = |name: &str| words(name).iter().all(|word| source.words.contains(word));
    let own: Vec<(usize, &str)> = names(said)
        .into_iter()
        .filter(|(_, name)| given(name))
        .collect();
    let (at, name) = *random.choose(&own)?;
    (0..ATTEMPTS).find_map(|_| {
        let other = random.choose(&shown.passages)?;
        let others = names(&other.text);
        let (_, instead) = *random.choose(&others)?;
        let strange = words(instead)
            .iter()
            .all(|word| !source.words.contains(word));
        (strange && instead.split(' ').count() <= 3)
            .then(|| format!("{}{instead}{}", &said[..at], &said[at + name.len()..]))
    })
}

fn denied(said: &str) -> Option<String> {
    let all = words(said);
    let denies = |word: &String| {
        DENIALS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    if all.iter().any(denies) {
        return None;
    }
    match all.iter().filter(|word| *word == "not").count() {
        0 => {}
        1 if !said.contains("not only") => {
            return Some(said.replacen("not ", "", 1)).filter(|new| new != said);
        }
        _ => return None,
    }
    let verb = |word: &str| VERBS.iter().find(|(verb, _)| *verb == word);
    let (at, (verb, instead)) = said
        .unicode_word_indices()
        .skip(1)
        .find_map(|(at, word)| Some((at, verb(word)?)))?;
    Some(format!(
        "{}{instead}{}",
        &said[..at],
        &said[at + verb.len()..]
    ))
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

    fn shown() -> ShownAnswer {
        ShownAnswer {
            conversation: String::new(),
            question: String::new(),
            passages: vec![
                passage("The mill of Ghent was built in 1790."),
                passage("Near Old Lisbon, 35 farms were sold."),
            ],
            sentences: vec![Sentence {
                text: "The mill of Ghent was built in 1790.".into(),
                supported_by: Some((0, 1.0)),
            }],
        }
    }

    #[test]
    fn each_kind_changes_one_word() {
        let shown = shown();
        for seed in 0..50 {
            let mut random = SplitMix(seed);
            let one = |kind: NearFault, random: &mut SplitMix| {
                let cases = cases(std::slice::from_ref(&shown), kind, random);
                cases.into_iter().next().map(|case| case.answer)
            };
            let number = one(NearFault::Number, &mut random).unwrap();
            let year = number.trim_start_matches("The mill of Ghent was built in ");
            let year = year.split(' ').next().unwrap();
            assert!(is_number(year) && year != "1790", "{number}");
            assert_eq!(
                one(NearFault::Name, &mut random).unwrap(),
                "The mill of Old Lisbon was built in 1790 [A1]."
            );
            assert_eq!(
                one(NearFault::Denial, &mut random).unwrap(),
                "The mill of Ghent wasn't built in 1790 [A1]."
            );
        }
    }

    #[test]
    fn a_denial_is_removed() {
        assert_eq!(denied("It is not new.").as_deref(), Some("It is new."));
        assert_eq!(denied("It is never new."), None);
        assert_eq!(denied("It is not only new."), None);
    }
}
