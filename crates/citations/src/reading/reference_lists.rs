//! Finds lists of references in an answer. They repeat citations and support no claim.

use std::ops::Range;

use reground_interrupt::Steps;

/// Headings and labels of such lists.
const LABELS: [&str; 21] = [
    "references",
    "reference",
    "sources",
    "source",
    "bibliography",
    "works cited",
    "citations",
    "citation",
    "footnotes",
    "quellen",
    "quelle",
    "literatur",
    "références",
    "fuentes",
    "fuente",
    "referencias",
    "参考文献",
    "来源",
    "参考资料",
    "引用",
    "источники",
];

/// Longest label, in bytes, with punctuation and white space around it.
pub(crate) const MAX_LABEL: usize = 96;

/// Returns whether a label may begin with a letter. This avoids a full comparison for nearly all texts.
pub(crate) fn may_begin_label(first: char) -> bool {
    let ascii = first.to_ascii_lowercase();
    matches!(ascii, 'r' | 's' | 'b' | 'w' | 'c' | 'f' | 'q' | 'l')
        || matches!(first, '参' | '引' | '来' | 'и' | 'И')
}

/// Returns whether a text is a label of such a list and nothing else.
pub(crate) fn is_label(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if !bare.starts_with(may_begin_label) {
        return false;
    }
    let bare = bare.trim_end_matches(|c: char| !c.is_alphanumeric());
    // Labels are short, so whole paragraphs need not be converted to lower case.
    bare.len() <= 32 && LABELS.contains(&bare.to_lowercase().as_str())
}

/// Returns whether a text may become a label if more letters, digits or spaces follow.
pub(crate) fn may_become_label(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| !c.is_alphabetic());
    bare.len() <= 32 && {
        let bare = bare.to_lowercase();
        LABELS
            .iter()
            .any(|label| label.starts_with(bare.trim_end()))
    }
}

/// Returns the byte ranges from the heading of each list to the next heading or the end. `in_list` tells whether the
/// text begins in a list.
pub(crate) fn reference_lists(text: &str, in_list: bool) -> Vec<Range<usize>> {
    let mut lists = Vec::new();
    let mut open = in_list.then_some(0);
    let mut at = 0;
    let mut steps = Steps::default();
    while at < text.len() {
        steps.step();
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]);
        let line = &text[at..end.map_or(text.len(), |n| at + n + 1)];
        let names_list = is_label(line);
        if names_list || line.starts_with('#') {
            if let Some(start) = open.take() {
                lists.push(start..at);
            }
            open = names_list.then_some(at + line.len());
        }
        at += line.len();
    }
    if let Some(start) = open {
        lists.push(start..at);
    }
    lists
}

/// Returns whether one of the ascending ranges contains a position.
pub(crate) fn holds(lists: &[Range<usize>], at: usize) -> bool {
    let after = lists.partition_point(|list| list.start <= at);
    after > 0 && at < lists[after - 1].end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_recognised_in_any_case() {
        for label in LABELS {
            assert!(label.len() <= 32);
            assert!(is_label(&format!("**{label}**:\n")));
            assert!(is_label(&label.to_uppercase()));
        }
        for text in ["", "*", "Rye", "sources of rye"] {
            assert!(!is_label(text), "{text}");
        }
    }
}
