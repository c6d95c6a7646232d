//! Exact match and token F1 of SQuAD 2.0 (Rajpurkar, Jia and Liang, "Know what you don't know: unanswerable questions for
//! SQuAD", ACL 2018): an answer is compared with a short reference answer.
//!
//! Both texts are normalised first: lower case, no ASCII punctuation (`U.S.` becomes `us`), no English articles, white space
//! collapsed. Tokens are separated by white space. In a script without spaces a whole run is one token;
//! [`rouge`](crate::rouge) splits it.
//!
//! With several accepted references, take the maximum of the values.

use std::collections::BTreeMap;

use reground_interrupt::{Steps, checked};

/// English articles, which are removed.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Returns whether both texts have the same tokens in the same order. Linear time.
pub fn exact_match(answer: &str, reference: &str) -> bool {
    let (answer, reference) = (normal(answer), normal(reference));
    tokens(&answer).eq(tokens(&reference))
}

/// Returns the token F1 in [0, 1]: the harmonic mean of precision and recall over the multisets of tokens.
///
/// When a text has no tokens, the value is 1 if both have none (the correct answer to an unanswerable question is empty),
/// otherwise 0. O(n log n).
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

/// Returns the text in lower case, without ASCII punctuation and articles.
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
        // A removed article leaves a gap, also next to other non-word characters: `the—end`.
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

/// White space as Python's `str.split` defines it. It includes the file, group, record and unit separators.
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
    fn normalisation_removes_articles_and_ascii_punctuation() {
        assert_eq!(
            normalised("The U.S.A.,  An\tEagle's a b"),
            ["usa", "eagles", "b"]
        );
        // Removing a hyphen joins both sides into one word. An article within a word stays.
        assert_eq!(normalised("a-theatre and-the"), ["atheatre", "andthe"]);
        // Other punctuation stays and ends a word.
        assert_eq!(normalised("“The” the—end"), ["“", "”", "—end"]);
        assert_eq!(normalised("a\u{1c}b\u{85}c\u{3000}d"), ["b", "c", "d"]);
        assert_eq!(normalised("ÉTÉ Σας"), ["été", "σας"]);
        assert!(normalised(" ,.! The an A_").is_empty());
    }
}
