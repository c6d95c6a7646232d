//! The answer to a turn: about 300 words with ten citations, copied from the sources of its context.
//!
//! Each sentence is a piece of a source, cited by the marker of that source. Every fifth sentence cites another source, so that some
//! citations are wrong.

/// Number of sentences, and of citations.
pub const CITATIONS: usize = 10;

/// Words per sentence, without its marker.
const WORDS: usize = 30;

/// Words skipped at the start of a source: usually its title.
const SKIPPED: usize = 5;

/// Writes an answer from the markers and texts of the sources; `None` without a source.
pub fn write(sources: &[(String, String)]) -> Option<String> {
    if sources.is_empty() {
        return None;
    }
    let sentences = (0..CITATIONS).map(|number| {
        let (marker, text) = &sources[number % sources.len()];
        let round = number / sources.len();
        let named = match number % 5 {
            4 => &sources[(number + 1) % sources.len()].0,
            _ => marker,
        };
        format!("{} [{named}].", sentence(text, round))
    });
    Some(sentences.collect::<Vec<_>>().join(" "))
}

/// A piece of a text as one sentence: lower-case words of ASCII letters and digits.
fn sentence(text: &str, round: usize) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| c.is_ascii_alphanumeric()).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    let begin = (SKIPPED + round * WORDS).min(words.len().saturating_sub(WORDS));
    let piece = words.iter().skip(begin).take(WORDS);
    let piece = piece.map(String::as_str).collect::<Vec<_>>().join(" ");
    format!("It says that {}", piece.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_sentences_cite_ten_times() {
        let text = "Cows, as a rule (see Fig. 3), give milk. ".repeat(30);
        let sources: Vec<_> = ["A1", "B1", "B2"]
            .map(|marker| (marker.to_owned(), text.clone()))
            .into();
        let answer = write(&sources).unwrap();
        assert_eq!(answer.matches('[').count(), CITATIONS);
        assert_eq!(answer.matches('.').count(), CITATIONS);
        let words = answer.split_whitespace().count();
        assert!((300..=360).contains(&words), "{words}");
        assert!(write(&[]).is_none());
    }

    #[test]
    fn a_short_source_gives_a_short_sentence() {
        let sources = [("A1".to_owned(), "Short.".to_owned())];
        let answer = write(&sources).unwrap();
        assert!(answer.starts_with("It says that short [A1]."), "{answer}");
    }
}
