//! Comparisons: turns that humans labelled so, and seeded ones of two documents' titles.

use reground_grounding::query::intent::{Intent, classify};

use super::conversations::{Conversation, Library};
use super::scores::{Score, score};
use crate::draw::SplitMix;

/// Ways to compare `{a}` with `{b}`.
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

/// Ways to name both without comparing them.
const NAMED: [&str; 6] = [
    "Does {a} work together with {b}?",
    "How do I move from {a} to {b}?",
    "Tell me about {a} and {b}",
    "Where can I read more about {a} or {b}?",
    "Wie verbinde ich {a} mit {b}?",
    "Gibt es {a} und {b} auch in Deutschland?",
];

/// The seed of the titles.
const SEED: u64 = 23;
/// Seeded questions of each kind.
const SEEDED: usize = 600;
/// Words of a title that names something.
const NAME: usize = 4;

/// What seeded questions gave.
pub struct Seeded {
    /// How well comparisons are told from questions that name two things.
    pub score: Score,
    /// Comparisons whose two members are the two titles, of those found.
    pub members: f64,
}

/// All turns, by whether humans labelled them a comparison.
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

/// Seeded questions about two titles of a corpus.
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
        let Some(titles) = random.of(&titles) else {
            continue;
        };
        let (Some(a), Some(b), Some(way)) = (random.of(titles), random.of(titles), random.of(ways))
        else {
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

/// Titles that name something: one to four words, letters and digits only.
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
