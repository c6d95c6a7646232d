//! The features of a query: how far it is from earlier turns, and how near to the cited passages.

use std::collections::BTreeSet;

use super::evidence::Evidence;
use super::past_turn::PastTurn;
use crate::query::cues::Cues;
use crate::query::words::{content_keys, held_keys, unspaced};

/// Number of features for a new topic.
pub const AWAY: usize = 6;
/// Number of features for the sources at hand.
pub const AGAIN: usize = 3;

/// The number of new words at which the feature is capped.
const MANY: f64 = 6.0;
/// Similarity of queries to the passages that they cite, if it is unknown: about the value for sentence embeddings.
const USUAL: f64 = 0.6;
/// Character pairs per content word in scripts without spaces: a word is one pair and is part of two more with its
/// neighbours, and there are no stop words.
const PAIRS_PER_WORD: f64 = 4.0;
/// Known pairs that make a known word in these scripts.
const PAIRS_TO_KNOW: f64 = 2.0;

/// The features of a later turn. A higher value always counts in favour.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// For a new topic: new words (0 to 6), the share of words that no earlier turn contains, the share that the last
    /// turn does not contain, whether nothing refers back, whether the query is not short, and the distance in [0, 1].
    pub away: [f64; AWAY],
    /// For the sources at hand: the largest share of words that one cited passage contains, how much nearer the cited
    /// passages are than the others of their documents, in [−1, 1], and whether a pronoun may refer to their content.
    pub again: [f64; AGAIN],
    /// The available data on the earlier turns.
    pub at_hand: AvailableData,
    /// Content words, and how many of them earlier turns contain.
    words: (f64, f64),
}

/// The available data on the earlier turns. It selects the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AvailableData {
    /// Answers.
    pub answers: bool,
    /// Similarities to earlier queries or to what was cited.
    pub similarities: bool,
    /// Cited passages.
    pub passages: bool,
    /// Similarities to the cited passages and to the rest of their documents.
    pub documents: bool,
}

impl Figures {
    pub(super) fn of(evidence: &Evidence, cues: &Cues, query: &str, earlier: &[PastTurn]) -> Self {
        let keys = content_keys(query, cues);
        let content = amount(&keys, PAIRS_PER_WORD);
        // A query without content words has nothing new. A cited passage holds it only if a pronoun refers to its subject.
        let share = |held: f64| if content > 0.0 { held / content } else { 1.0 };
        let held = |text: &String| held_keys(&keys, text, cues);
        let amount_held = |keys| amount(keys, PAIRS_TO_KNOW).min(content);
        let by_turn = earlier.iter().map(|turn| texts(turn).flat_map(held));
        let by_turn: Vec<BTreeSet<&String>> = by_turn.map(Iterator::collect).collect();
        let known: BTreeSet<&String> = by_turn.iter().flatten().copied().collect();
        let (known, recent) = (amount_held(known), by_turn.last().cloned());
        let recent = amount_held(recent.unwrap_or_default());
        let cited = earlier.iter().flat_map(|turn| &turn.cited_texts);
        let covered = cited
            .filter(|_| content > 0.0 || evidence.pronoun.is_some())
            .map(|text| share(amount_held(held(text))))
            .fold(0.0, f64::max);
        let near = MaxSimilarities::of(earlier);
        let at_hand = AvailableData {
            answers: earlier.iter().any(|turn| !turn.answer.is_empty()),
            similarities: near.query.or(near.cited).is_some(),
            passages: earlier.iter().any(|turn| !turn.cited_texts.is_empty()),
            documents: near.cited.and(near.document).is_some(),
        };
        let yes = |truth: bool| f64::from(u8::from(truth));
        // A pronoun counts only if cited passages are known.
        let again = evidence.pronoun.is_some() && (at_hand.passages || at_hand.documents);
        Self {
            away: [
                (content - known).min(MANY),
                1.0 - share(known),
                1.0 - share(recent),
                yes(!evidence.points_back()),
                yes(!evidence.is_short()),
                near.distance(),
            ],
            again: [covered, near.lead(), yes(again)],
            at_hand,
            words: (content, known),
        }
    }

    /// The features, for display.
    pub(super) fn signals(&self) -> Vec<String> {
        let (content, known) = self.words;
        let [.., distance] = self.away;
        let [covered, lead, _] = self.again;
        let mut signals = vec![format!("known words: {known:.0} of {content:.0}")];
        if self.at_hand.similarities {
            signals.push(format!("distance: {distance:.2}"));
        }
        if self.at_hand.passages && content > 0.0 {
            signals.push(format!("held by a cited passage: {covered:.2}"));
        }
        if self.at_hand.documents {
            signals.push(format!("nearer than the rest of its document: {lead:+.2}"));
        }
        signals
    }
}

/// The texts of a turn: its query, its answer, and the titles of its sources.
fn texts(turn: &PastTurn) -> impl Iterator<Item = &String> {
    [&turn.query, &turn.answer]
        .into_iter()
        .chain(&turn.cited)
        .chain(&turn.sources)
}

/// The number of content words for a set of keys, with `pairs` keys per word in scripts without spaces.
fn amount<'a>(keys: impl IntoIterator<Item = &'a String>, pairs: f64) -> f64 {
    let of = |key: &String| {
        if key.contains(unspaced) {
            1.0 / pairs
        } else {
            1.0
        }
    };
    // Starts at 0, because the empty sum is −0.
    keys.into_iter().map(of).fold(0.0, |sum, key| sum + key)
}

/// The largest similarities over the earlier turns.
struct MaxSimilarities {
    query: Option<f64>,
    cited: Option<f64>,
    document: Option<f64>,
    usual: f64,
}

impl MaxSimilarities {
    fn of(earlier: &[PastTurn]) -> Self {
        let largest = |of: fn(&PastTurn) -> Option<f64>| {
            let known = earlier.iter().filter_map(of).filter(|s| s.is_finite());
            known.reduce(f64::max)
        };
        Self {
            query: largest(|turn| turn.similarity),
            cited: largest(|turn| turn.cited_similarity),
            document: largest(|turn| turn.document_similarity),
            usual: largest(|turn| turn.own_similarity)
                .filter(|usual| *usual > 0.0)
                .unwrap_or(USUAL),
        }
    }

    /// 0 if the query is as near to an earlier query or a cited passage as queries usually are to the passages that
    /// they cite; 1 if it is not near at all or nothing is known.
    fn distance(&self) -> f64 {
        let nearest = self.query.into_iter().chain(self.cited).fold(0.0, f64::max);
        1.0 - (nearest / self.usual).min(1.0)
    }

    /// How much nearer the cited passages are than the others of their documents.
    fn lead(&self) -> f64 {
        match (self.cited, self.document) {
            (Some(cited), Some(document)) => ((cited - document) / self.usual).clamp(-1.0, 1.0),
            _ => 0.0,
        }
    }
}
