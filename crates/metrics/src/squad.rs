//! An answer held against a short reference answer, as the evaluation of SQuAD 2.0 does (Rajpurkar, Jia and Liang, "Know
//! what you don't know: unanswerable questions for SQuAD", ACL 2018).
//!
//! Both texts are made alike first: lower case, ASCII punctuation taken out (so that `U.S.` is `us`), the English articles
//! taken out, white space folded. What is left between white space are the tokens. A language that writes without spaces has one
//! token for a run of them; [`rouge`](crate::rouge) divides it.
//!
//! Where several references are accepted, the best of the values counts.

use std::collections::BTreeMap;

use reground_interrupt::{Steps, checked};

/// Words that say nothing.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Whether both have the same tokens in the same order. Linear time.
pub fn exact_match(answer: &str, reference: &str) -> bool {
    let (answer, reference) = (normal(answer), normal(reference));
    tokens(&answer).eq(tokens(&reference))
}

/// The harmonic mean of the shares of either's tokens that the other has too, each as often as it stands there: in [0, 1].
///
/// Where one has no tokens it is 1 if neither has, as the right answer to what cannot be answered is none; else 0.
/// O(n log n).
pub fn token_f1(answer: &str, reference: &str) -> f64 {
    let (answer, reference) = (normal(answer), normal(reference));
    let mut unmatched: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut in_reference, mut in_answer, mut shared) = (0_usize, 0_usize, 0_usize);
    for token in tokens(&reference) {
        *unmatched.entry(token).or_default() += 1;
        in_reference += 1;
    }
    for token in tokens(&answer) {
        in_answer += 1;
        if let Some(count) = unmatched.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    match in_reference + in_answer {
        0 => 1.0,
        both => 2.0 * shared as f64 / both as f64,
    }
}

/// The text without case, punctuation and articles.
fn normal(text: &str) -> String {
    let text: String = checked(text.to_lowercase().chars())
        .filter(|c| !c.is_ascii_punctuation())
        .collect();
    let mut steps = Steps::default();
    let pieces = text.split_inclusive(|c| {
        steps.step();
        !is_of_word(c)
    });
    let mut normal = String::with_capacity(text.len());
    for piece in pieces {
        let word = piece.trim_end_matches(|c| !is_of_word(c));
        // An article leaves a gap even where it touches what is no word: `the—end`.
        normal.push_str(if ARTICLES.contains(&word) { " " } else { word });
        normal.push_str(&piece[word.len()..]);
    }
    normal
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric()
}

fn tokens(normal: &str) -> impl Iterator<Item = &str> {
    let mut steps = Steps::default();
    let pieces = normal.split(move |c| {
        steps.step();
        is_space(c)
    });
    pieces.filter(|piece| !piece.is_empty())
}

/// White space as Python has it: the separators of files, groups, records and units belong to it.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(text: &str) -> Vec<String> {
        tokens(&normal(text)).map(String::from).collect()
    }

    #[test]
    fn what_is_taken_out() {
        assert_eq!(
            normalised("The U.S.A.,  An\tEagle's a b"),
            ["usa", "eagles", "b"]
        );
        // A hyphen joins, as its sides do not become words of their own; an article within a word is none.
        assert_eq!(normalised("a-theatre and-the"), ["atheatre", "andthe"]);
        // Other punctuation stays, and ends a word.
        assert_eq!(normalised("“The” the—end"), ["“", "”", "—end"]);
        assert_eq!(normalised("a\u{1c}b\u{85}c\u{3000}d"), ["b", "c", "d"]);
        assert_eq!(normalised("ÉTÉ Σας"), ["été", "σας"]);
        assert!(normalised(" ,.! The an A_").is_empty());
    }
}
