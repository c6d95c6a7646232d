//! The line of the block about sources that contradict each other.

use reground_citations::SourceConflict;
use reground_tokens::count;

use crate::memory::ContextSource;

/// Tokens that the budget reserves for the line. It omits conflicts that do not fit.
pub(super) const CONFLICT_NOTE_TOKENS: usize = 80;

/// Names the conflicts of a context by the markers of their sources; `None` without a conflict.
pub(super) fn conflict_note(
    context: &[ContextSource],
    conflicts: &[SourceConflict],
) -> Option<String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut note = None;
    for conflict in conflicts {
        let markers = [&conflict.one, &conflict.other]
            .map(|side| Some(context.get(side.passage)?.marker.as_str()));
        let [Some(one), Some(other)] = markers else {
            continue;
        };
        let pair = format!("[{one}] and [{other}] ({})", conflict.kind.as_str());
        if pairs.contains(&pair) {
            continue;
        }
        pairs.push(pair);
        let longer = format!(
            "These sources contradict each other: {}. If the answer depends on it, give both statements and cite both sources.",
            pairs.join("; ")
        );
        // The empty line after the note is counted with it.
        if count(&format!("{longer}\n\n")) > CONFLICT_NOTE_TOKENS {
            pairs.pop();
            continue;
        }
        note = Some(longer);
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};
    use reground_citations::{ConflictingStatement, SourceConflictKind};

    fn conflict(one: usize, other: usize) -> SourceConflict {
        let side = |passage| ConflictingStatement {
            passage,
            text: String::new(),
            chars: 0..0,
            number: None,
        };
        SourceConflict {
            kind: SourceConflictKind::Negation,
            one: side(one),
            other: side(other),
        }
    }

    fn context(markers: &[&str]) -> Vec<ContextSource> {
        let source = |marker: &&str| ContextSource {
            marker: (*marker).to_owned(),
            position: 1,
            candidate: candidate(passage("d", "1", 0, 0, "text"), 0.1),
            facts: Vec::new(),
            retrieval_no: 0,
        };
        markers.iter().map(source).collect()
    }

    #[test]
    fn each_pair_is_named_once() {
        let context = context(&["A1", "B1"]);
        assert_eq!(conflict_note(&context, &[]), None);
        // A conflict with a source that is not there is not named.
        assert_eq!(conflict_note(&context, &[conflict(0, 2)]), None);
        let note = conflict_note(&context, &[conflict(0, 1), conflict(0, 1)]).unwrap();
        assert!(
            note.starts_with("These sources contradict each other: [A1] and [B1] (negation). If"),
            "{note}"
        );
    }

    #[test]
    fn many_conflicts_stay_within_the_reserved_tokens() {
        let context = context(&["A1", "B1", "C1", "D1", "E1", "F1", "G1", "H1"]);
        let all: Vec<_> = (1..8).map(|other| conflict(0, other)).collect();
        let note = conflict_note(&context, &all).unwrap();
        assert!(note.contains("[A1] and [C1]"), "{note}");
        assert!(!note.contains("[A1] and [H1]"), "{note}");
        assert!(count(&format!("{note}\n\n")) <= CONFLICT_NOTE_TOKENS);
    }
}
