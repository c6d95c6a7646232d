//! The text of a question with the turn before it, whose embedding finds the passages of a follow-up.
//!
//! An embedding of the question alone does not know its subject, and one of the whole dialogue knows too many. The previous question
//! and the beginning of its answer name the subject best (docs/evaluation.md).

/// Maximum characters of the previous question and of its answer. Sentence encoders read a few hundred words, and the question
/// comes last.
const MAX_CHARS: usize = 400;

/// The turn before a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousTurn {
    /// The user's question.
    pub query: String,
    /// The answer without citations; empty if there is none, or if it is not stored.
    pub answer: String,
}

/// The text to embed: the first 400 characters of the previous question, the first 400 of its answer, and the question, one below
/// the other. The question alone if there is no previous turn.
#[must_use]
pub fn context_text(previous: Option<&PreviousTurn>, query: &str) -> String {
    let answer = previous.map(|turn| without_gaps(&turn.answer));
    let before = previous.map(|turn| beginning(&turn.query)).into_iter();
    let before = before.chain(answer.as_deref().map(beginning));
    let parts: Vec<&str> = before
        .filter(|part| !part.is_empty())
        .chain([query])
        .collect();
    parts.join("\n")
}

/// A text without the spaces that a removed citation leaves: "It rained  ." becomes "It rained."
fn without_gaps(text: &str) -> String {
    let mut closed = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' ' | '.' | ',' | ';' | ':' | '!' | '?') {
            closed.truncate(closed.trim_end_matches(' ').len());
        }
        closed.push(c);
    }
    closed
}

/// The first characters of a text, without white space at the ends.
fn beginning(text: &str) -> &str {
    let text = text.trim();
    let end = text.char_indices().nth(MAX_CHARS);
    let beginning = end.and_then(|(end, _)| text.get(..end)).unwrap_or(text);
    beginning.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn previous(query: &str, answer: &str) -> PreviousTurn {
        PreviousTurn {
            query: query.into(),
            answer: answer.into(),
        }
    }

    #[test]
    fn a_question_follows_the_previous_turn() {
        let turn = previous("How do I reset it? ", "  Under Settings.\n");
        assert_eq!(
            context_text(Some(&turn), "and admins?"),
            "How do I reset it?\nUnder Settings.\nand admins?"
        );
        let unanswered = previous("How do I reset it?", "");
        assert_eq!(
            context_text(Some(&unanswered), "and admins?"),
            "How do I reset it?\nand admins?"
        );
        let cited = previous("Weather?", "It rained  .  And  so on.");
        assert_eq!(
            context_text(Some(&cited), "Why?"),
            "Weather?\nIt rained. And so on.\nWhy?"
        );
        assert_eq!(context_text(None, " Why? "), " Why? ");
    }

    proptest! {
        #[test]
        fn long_texts_are_cut_and_the_question_is_kept(query in "\\PC{0,900}", answer in "\\PC{0,900}", question in "\\PC{1,20}") {
            let text = context_text(Some(&previous(&query, &answer)), &question);
            prop_assert!(text.ends_with(&question));
            let before = text.chars().count() - question.chars().count();
            prop_assert!(before <= 2 * (MAX_CHARS + 1));
            let kept: String = without_gaps(&answer).trim().chars().take(MAX_CHARS).collect();
            prop_assert!(text.contains(kept.trim_end()));
        }
    }
}
