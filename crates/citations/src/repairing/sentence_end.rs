//! The place of a citation at the end of a sentence.

/// Characters that end a sentence, and the border of a table.
const ENDS: [char; 9] = ['.', '!', '?', '…', '。', '！', '？', '．', '|'];

/// Returns the byte after the last word of a sentence: before its full stop, and before the markup or the border of a table around it.
pub(super) fn before_full_stop(sentence: &str) -> usize {
    let bare =
        sentence.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '|'));
    // A full stop within quotation marks ends the quotation.
    let end = bare.trim_end_matches(ENDS).trim_end();
    match end.contains(char::is_alphanumeric) {
        true if end.len() < bare.len() => end.len(),
        true => bare.len(),
        false => sentence.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::before_full_stop;

    #[test]
    fn a_citation_precedes_the_full_stop() {
        for (sentence, before) in [
            ("Cows give milk.", "Cows give milk"),
            ("Cows give milk", "Cows give milk"),
            ("Really?!", "Really"),
            ("**Cows give milk.**", "**Cows give milk"),
            ("He says \"so.\"", "He says \"so.\""),
            ("| cows | milk |", "| cows | milk"),
            ("牛产奶。", "牛产奶"),
            ("It is so [A1].", "It is so [A1]"),
            ("…", "…"),
        ] {
            assert_eq!(&sentence[..before_full_stop(sentence)], before);
        }
    }
}
