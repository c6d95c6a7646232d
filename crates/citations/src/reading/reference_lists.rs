//! Lists of references at the end of an answer: they repeat what was cited, and claim nothing.

use std::ops::Range;

use reground_interrupt::Steps;

/// Headings and labels that announce such a list.
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

/// Longest text that may be the name of such a list, in bytes, with signs and white space around it.
pub(crate) const MAX_LABEL: usize = 96;

/// Whether the name of such a list may begin with a letter. Spares nearly every other text the look at the whole of it.
pub(crate) fn may_begin_label(first: char) -> bool {
    let ascii = first.to_ascii_lowercase();
    matches!(ascii, 'r' | 's' | 'b' | 'w' | 'c' | 'f' | 'q' | 'l')
        || matches!(first, '参' | '引' | '来' | 'и' | 'И')
}

/// Whether a text is nothing but the name of such a list.
pub(crate) fn is_label(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if !bare.starts_with(may_begin_label) {
        return false;
    }
    let bare = bare.trim_end_matches(|c: char| !c.is_alphanumeric());
    // The longest label is short: do not lower-case whole paragraphs.
    bare.len() <= 32 && LABELS.contains(&bare.to_lowercase().as_str())
}

/// Byte ranges from a heading line that names such a list to the next heading or the end.
pub(crate) fn reference_lists(text: &str) -> Vec<Range<usize>> {
    let mut lists = Vec::new();
    let mut open = None;
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

/// Whether a position lies in one of the ascending ranges.
pub(crate) fn holds(lists: &[Range<usize>], at: usize) -> bool {
    let after = lists.partition_point(|list| list.start <= at);
    after > 0 && at < lists[after - 1].end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_one_in_either_case() {
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
