//! A text held against a reference by the longest sequence of words that both share: ROUGE-L (Lin, "ROUGE: a package for
//! automatic evaluation of summaries", 2004).

use reground_interrupt::{Steps, checked};
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::lcs;

/// What two texts share, each value in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RougeL {
    /// Longest common subsequence by the words of the text.
    pub precision: f64,
    /// Longest common subsequence by the words of the reference.
    pub recall: f64,
    /// Their harmonic mean: Lin's F with β = 1, by which neither weighs more.
    pub f1: f64,
}

/// ROUGE-L of a text as a whole (not of its sentences, which is ROUGE-Lsum), equal to Google's `rouge_score` without stemming
/// for all that is ASCII.
///
/// Words are runs of letters and digits, in lower case. Google's drops every other character than those of ASCII; here they are
/// words by the boundaries of Unicode (UAX #29), so an accented letter is of its word, and each ideograph is a word.
///
/// 0 for a text without words; `None` where the reference has none, for which Google's says 0. Takes as many steps as both
/// have words, multiplied and divided by 64; the memory is linear.
pub fn rouge_l(text: &str, reference: &str) -> Option<RougeL> {
    let (text, reference) = (text.to_lowercase(), reference.to_lowercase());
    let (text, reference) = (words(&text), words(&reference));
    if reference.is_empty() {
        return None;
    }
    let shared = lcs::length(&reference, &text) as f64;
    let [of_text, of_reference] = [text.len() as f64, reference.len() as f64];
    Some(RougeL {
        precision: if text.is_empty() {
            0.0
        } else {
            shared / of_text
        },
        recall: shared / of_reference,
        f1: 2.0 * shared / (of_text + of_reference),
    })
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<&str> {
    let mut steps = Steps::default();
    // Unicode would let `3.14`, `can't` and `a_b` be one word each.
    let pieces = text.split(|c: char| {
        steps.step();
        c.is_ascii() && !c.is_ascii_alphanumeric()
    });
    checked(pieces.flat_map(str::unicode_words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_any_script() {
        let of = |text: &str| words(text).join("|");
        assert_eq!(of("can't stop_3.14,x2 --"), "can|t|stop|3|14|x2");
        assert_eq!(of("l’été naïve cafe\u{301}—a"), "l’été|naïve|cafe\u{301}|a");
        assert_eq!(of("知识 是力量。ok"), "知|识|是|力|量|ok");
        assert_eq!(of(" …!“” "), "");
    }

    proptest! {
        #[test]
        fn words_of_ascii_are_runs(text in "[ -~\n]{0,40}") {
            let text = text.to_lowercase();
            let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
            prop_assert_eq!(words(&text), runs.collect::<Vec<_>>());
        }
    }
}
