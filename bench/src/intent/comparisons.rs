//! Comparisons: turns with this human label, and generated questions about two titles.

use reground_grounding::query::intent::{Intent, classify};

use super::conversations::{Conversation, Library};
use super::scores::{Score, score};
use crate::statistics::random::SplitMix;

/// Questions that compare `{a}` with `{b}`.
const COMPARED: [&str; 12] = [
    "What is the difference between {a} and {b}?",
    "Compare {a} with {b}",
    "{a} versus {b}",
    "{a} vs. {b}: which one should I choose?",
    "How does {a} differ from {b}?",
    "Is {a} better than {b}?",
    "Which is more reliable, {a} or {b}?",
    "Are {a} and {b} the same thing?",
    "Was ist der Unterschied zwischen {a} und {b}?",
    "Vergleiche {a} mit {b}",
    "Ist {a} besser als {b}?",
    "Worin unterscheiden sich {a} und {b}?",
];

/// Questions with both names that do not compare.
const NAMED: [&str; 6] = [
    "Does {a} work together with {b}?",
    "How do I move from {a} to {b}?",
    "Tell me about {a} and {b}",
    "Where can I read more about {a} or {b}?",
    "Wie verbinde ich {a} mit {b}?",
    "Gibt es {a} und {b} auch in Deutschland?",
];

/// Seed of the titles.
const SEED: u64 = 23;
/// Generated questions of each kind.
const SEEDED: usize = 600;
/// Most words of a title.
const NAME: usize = 4;

/// The result of the generated questions.
pub struct Seeded {
    /// How well comparisons are distinguished from other questions with two names.
    pub score: Score,
    /// Share of the detected comparisons whose two members are the titles.
    pub members: f64,
}

/// The score over all turns with human labels.
pub fn labelled(conversations: &[Conversation]) -> Score {
    let turns = conversations
        .iter()
        .flat_map(|conversation| &conversation.turns);
    let pairs: Vec<(bool, bool)> = turns
        .map(|turn| {
            let judged = classify(&turn.question.text, &[], None);
            (judged.intent == Intent::Compare, turn.comparative)
        })
        .collect();
    score(&pairs, &true, &true)
}

/// The score over generated questions about two titles of a corpus.
pub fn seeded(libraries: &[Library]) -> Seeded {
    let titles: Vec<Vec<&str>> = libraries.iter().map(names).collect();
    let mut random = SplitMix(SEED);
    let (mut pairs, mut whole, mut found) = (Vec::new(), 0, 0);
    for n in 0..2 * SEEDED {
        let (ways, truth): (&[&str], bool) = if n % 2 == 0 {
            (&COMPARED, true)
        } else {
            (&NAMED, false)
        };
        let Some(titles) = random.choose(&titles) else {
            continue;
        };
        let (Some(a), Some(b), Some(way)) = (
            random.choose(titles),
            random.choose(titles),
            random.choose(ways),
        ) else {
            continue;
        };
        if a == b {
            continue;
        }
        let judged = classify(&way.replace("{a}", a).replace("{b}", b), &[], None);
        let called = judged.intent == Intent::Compare;
        if truth && called {
            found += 1;
            whole += usize::from(judged.entities == [*a, *b]);
        }
        pairs.push((called, truth));
    }
    Seeded {
        score: score(&pairs, &true, &true),
        members: super::scores::share(whole, found),
    }
}

/// Titles of one to four words with only letters and digits.
fn names(library: &Library) -> Vec<&str> {
    let titles = library
        .corpus
        .passages
        .iter()
        .map(|passage| passage.title.trim());
    let name = |title: &&str| {
        let plain = |c: char| c.is_alphanumeric() || c == ' ';
        !title.is_empty() && title.chars().all(plain) && title.split(' ').count() <= NAME
    };
    let mut titles: Vec<&str> = titles.filter(name).collect();
    titles.sort_unstable();
    titles.dedup();
    titles
}
