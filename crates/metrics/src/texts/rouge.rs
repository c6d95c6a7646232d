//! ROUGE-L: similarity of a text and a reference by their longest common subsequence of words (Lin, "ROUGE: a package for
//! automatic evaluation of summaries", 2004).

use reground_interrupt::{Steps, checked};
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::lcs;

/// ROUGE-L values, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RougeL {
    /// Length of the longest common subsequence / words of the text.
    pub precision: f64,
    /// Length of the longest common subsequence / words of the reference.
    pub recall: f64,
    /// Harmonic mean of both (Lin's F with β = 1).
    pub f1: f64,
}

/// Returns ROUGE-L of a whole text (not sentence by sentence, which is ROUGE-Lsum). For ASCII texts the values equal those of
/// Google's `rouge_score` without stemming.
///
/// Words are runs of letters and digits, in lower case. Google's package drops all non-ASCII characters. Here words follow the
/// word boundaries of Unicode (UAX #29): an accented letter is part of its word, and each ideograph is a word.
///
/// All values are 0 for a text without words. `None` for a reference without words, where Google's package returns 0. Takes
/// time proportional to the product of both word counts / 64, and linear memory.
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

/// Returns the words of a text in lower case.
fn words(text: &str) -> Vec<&str> {
    let mut steps = Steps::default();
    // Unicode boundaries alone would make `3.14`, `can't` and `a_b` one word each.
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
        fn ascii_words_are_alphanumeric_runs(text in "[ -~\n]{0,40}") {
            let text = text.to_lowercase();
            let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
            prop_assert_eq!(words(&text), runs.collect::<Vec<_>>());
        }
    }
}
