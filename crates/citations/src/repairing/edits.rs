//! Removes citations and sentences, with the spaces and signs around them.

use std::ops::Range;

use reground_interrupt::checked;

use super::applied::Edit;
use super::change::Change;
use super::unrepaired::Unrepaired;
use crate::CitationScope;
use crate::export::with_spaces;

/// Words that join two citations, besides punctuation.
const JOINING: [&str; 9] = ["and", "or", "und", "oder", "et", "y", "e", "и", "和"];

/// Whether a text only joins two citations.
fn joins(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| {
        matches!(c, ' ' | '\t' | ',' | ';' | '&' | '/' | '、' | '，' | '；')
    });
    bare.is_empty() || JOINING.contains(&bare)
}

/// Removes citation strings, with the spaces and the punctuation that would be left over.
pub(super) fn removed_strings(
    given: &Unrepaired<'_>,
    mut removals: Vec<(Range<usize>, Vec<Change>)>,
) -> Vec<Edit> {
    let answer = given.answer;
    removals.sort_by_key(|(bytes, _)| bytes.start);
    let mut runs: Vec<(Range<usize>, Vec<Change>)> = Vec::new();
    for (bytes, changes) in removals {
        match runs.last_mut() {
            Some((run, all)) if answer.get(run.end..bytes.start).is_some_and(joins) => {
                run.end = bytes.end;
                all.extend(changes);
            }
            _ => runs.push((bytes, changes)),
        }
    }
    let citations = &given.extraction.citations;
    let mut edits = Vec::with_capacity(runs.len());
    let mut least = 0;
    for (run, mut changes) in checked(runs) {
        let before = citations.partition_point(|c| c.span.bytes.end <= run.start);
        let before = before
            .checked_sub(1)
            .map(|number| citations[number].span.bytes.end);
        let after = citations.partition_point(|c| c.span.bytes.start < run.end);
        let after = citations.get(after).map(|c| c.span.bytes.start);
        let bytes = match (before, after) {
            (Some(end), _) if end >= least && answer.get(end..run.start).is_some_and(joins) => {
                end..run.end
            }
            (_, Some(start)) if answer.get(run.end..start).is_some_and(joins) => run.start..start,
            _ => match entry(answer, &run)
                .filter(|line| is_listed(given, &changes) && after.is_none_or(|at| at >= line.end))
            {
                Some(line) => {
                    for change in &mut changes {
                        change.before = line.clone();
                    }
                    line
                }
                None => with_spaces(answer, with_empty_markup(answer, run), least),
            },
        };
        least = bytes.end;
        let before = answer[..bytes.start].chars().next_back();
        let after = answer[bytes.end..].chars().next();
        let merges = before
            .zip(after)
            .is_some_and(|(before, after)| before.is_alphanumeric() && after.is_alphanumeric());
        edits.push(Edit {
            text: if merges {
                " ".to_owned()
            } else {
                String::new()
            },
            bytes,
            citations: 0,
            changes,
        });
    }
    edits
}

/// Signs around a citation that mean nothing without it.
const AROUND: [(&str, &str); 9] = [
    ("(", ")"),
    ("[", "]"),
    ("（", "）"),
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("_", "_"),
    ("<sup>", "</sup>"),
    ("\\", "\\"),
];

/// A removed run with the signs around it that mean nothing without it.
fn with_empty_markup(answer: &str, mut run: Range<usize>) -> Range<usize> {
    while let Some((open, close)) = AROUND.iter().find(|(open, close)| {
        answer[..run.start].ends_with(open) && answer[run.end..].starts_with(close)
    }) {
        run = run.start - open.len()..run.end + close.len();
    }
    if answer[..run.start].ends_with('^') {
        run.start -= 1;
    }
    run
}

/// The line of an entry in a list of references, which begins with the removed citation: `- [9] Unknown`.
fn entry(answer: &str, run: &Range<usize>) -> Option<Range<usize>> {
    let line = answer[..run.start].rfind('\n').map_or(0, |at| at + 1);
    let end = answer[run.end..].find('\n');
    let end = end.map_or(answer.len(), |at| run.end + at + 1);
    let before = &answer[line..run.start];
    let begins = block_sign(before) == before.len();
    let has_words = answer[run.end..end].contains(char::is_alphanumeric);
    (begins && has_words).then_some(line..end)
}

/// Removes a sentence with its citations, and its line if nothing else is on it.
pub(super) fn removed_sentence(given: &Unrepaired<'_>, sentence: usize, change: Change) -> Edit {
    let answer = given.answer;
    let mut bytes = with_citations(given, sentence);
    let line = answer[..bytes.start].rfind('\n').map_or(0, |at| at + 1);
    if let Some(line) = whole_line(answer, line, &bytes) {
        return Edit {
            text: String::new(),
            citations: 0,
            changes: vec![Change {
                before: line.start..bytes.end,
                ..change
            }],
            bytes: line,
        };
    }
    // The sign of a list or quotation belongs to the rest of the line.
    if bytes.start == line {
        bytes.start += block_sign(&answer[bytes.clone()]);
    }
    let change = Change {
        before: bytes.clone(),
        ..change
    };
    let bytes = with_white_space(answer, line, bytes);
    let (bytes, text) = with_bold_sign(answer, bytes);
    Edit {
        bytes,
        text: text.to_owned(),
        citations: 0,
        changes: vec![change],
    }
}

/// The bytes of a sentence with its citations after the full stop, without citations at its start that belong to the sentence before.
fn with_citations(given: &Unrepaired<'_>, sentence: usize) -> Range<usize> {
    let span = &given.extraction.sentences[sentence];
    let mut bytes = span.clone();
    let citations = &given.extraction.citations;
    let blank = |range: Range<usize>| given.answer[range].trim_matches(' ').is_empty();
    let strings = |from: usize| {
        let first = citations.partition_point(|citation| citation.span.bytes.start < from);
        citations[first..]
            .iter()
            .map(|citation| (citation.sentence, &citation.span.bytes))
    };
    for (of, string) in strings(span.start) {
        if of == Some(sentence) || string.end > span.end {
            break;
        }
        if string.start >= bytes.start {
            if !blank(bytes.start..string.start) {
                break;
            }
            bytes.start = string.end;
        }
    }
    // `It is so. [A1]`
    for (of, string) in strings(span.end) {
        if of != Some(sentence) {
            break;
        }
        if string.start >= bytes.end {
            if !blank(bytes.end..string.start) {
                break;
            }
            bytes.end = string.end;
        }
    }
    bytes
}

/// Returns the bytes to remove, and their replacement: `**` if bold text begins or ends in them.
fn with_bold_sign(answer: &str, mut bytes: Range<usize>) -> (Range<usize>, &'static str) {
    let signs = answer[bytes.clone()].matches(BOLD).count();
    if signs.is_multiple_of(2) {
        return (bytes, "");
    }
    if answer[bytes.end..].starts_with(BOLD) {
        bytes.end += BOLD.len();
        return (bytes, "");
    }
    (bytes, BOLD)
}

/// The sign of bold text in Markdown.
const BOLD: &str = "**";

/// The length of the signs of lists and quotations at the start of a line: `> 1. `.
fn block_sign(line: &str) -> usize {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let sign = match rest[digits..].chars().next() {
            Some(c @ ('-' | '*' | '+' | '•' | '>')) if digits == 0 => c.len_utf8(),
            Some('.' | ')') if (1..=3).contains(&digits) => digits + 1,
            _ => return line.len() - rest.len(),
        };
        if !rest[sign..].is_empty() && !rest[sign..].starts_with([' ', '\t']) {
            return line.len() - rest.len();
        }
        rest = &rest[sign..];
    }
}

/// The line of a removed sentence, if nothing but the sign of a list is left of it. No two blank lines remain.
fn whole_line(answer: &str, line: usize, bytes: &Range<usize>) -> Option<Range<usize>> {
    let before = &answer[line..bytes.start];
    let (_, rest) = answer.split_at(bytes.end);
    let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    let newline = match rest[spaces..].chars().next() {
        None => 0,
        Some('\n') => 1,
        Some(_) => return None,
    };
    if block_sign(before) < before.len() {
        return None;
    }
    let mut end = bytes.end + spaces + newline;
    let previous = answer[..line].lines().next_back();
    let blank_before = previous.is_none_or(|line| line.trim().is_empty());
    while blank_before && answer[end..].starts_with('\n') {
        end += 1;
    }
    Some(line..end)
}

/// A removed part of a line with the white space after it, or before it at the end of the line.
fn with_white_space(answer: &str, line: usize, bytes: Range<usize>) -> Range<usize> {
    let before = &answer[line..bytes.start];
    let after = &answer[bytes.end..];
    let spaces = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
    match after[spaces..].chars().next() {
        None | Some('\n') => bytes.start - (before.len() - before.trim_end().len())..bytes.end,
        Some(_) => bytes.start..bytes.end + spaces,
    }
}

/// Whether the removed citations are of the answer, as those of a list of references.
fn is_listed(given: &Unrepaired<'_>, changes: &[Change]) -> bool {
    changes.iter().all(|change| {
        let citation = change
            .citation
            .and_then(|number| given.extraction.citations.get(number));
        citation.is_some_and(|citation| citation.scope == CitationScope::Answer)
    })
}
