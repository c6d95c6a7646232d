//! Finds the part of an unfinished answer in which code and hidden reasoning are certain.

use std::ops::Range;

use reground_interrupt::checked;

/// Longest tag that is held back, in bytes.
const MAX_TAG: usize = 1024;

/// Returns the position before which later text cannot turn prose into code or code into prose. `hidden` are the
/// ranges that are not prose so far.
///
/// Open fences and reasoning blocks are certain: they hide everything until they close. These are not certain:
///
/// - a backtick without a partner in the last paragraph;
/// - inline code whose closing backticks end the text, because one more backtick would change them;
/// - a fence of backticks on an unfinished line, because another backtick makes it inline code;
/// - an unfinished tag.
pub(super) fn certain(text: &str, hidden: &[Range<usize>]) -> usize {
    let bytes = text.as_bytes();
    let mut paragraph = last_paragraph(bytes);
    let mut open = text.len();
    for range in checked(hidden) {
        match opening(bytes, range) {
            Opening::Fence { sign, .. } if is_unfinished_line(&bytes[range.clone()]) => {
                if bytes[sign] == b'`' {
                    open = open.min(sign);
                }
            }
            // A fence ends the paragraph before it.
            Opening::Fence { .. } => paragraph = paragraph.max(range.start),
            Opening::Inline if range.end == text.len() => open = open.min(range.start),
            Opening::Inline | Opening::Thought => {}
        }
    }
    let lone = prose(hidden, text.len())
        .filter(|range| range.end > paragraph)
        .find_map(|range| {
            let from = range.start.max(paragraph);
            let found = checked(&bytes[from..range.end]).position(|b| *b == b'`');
            found.map(|n| from + n)
        });
    let code = open.min(lone.unwrap_or(text.len()));
    let code = match fence_before(bytes, code) {
        // If the text were cut before the backtick, the line would open a fence.
        Some(sign) => {
            let around = hidden.iter().find(|range| range.contains(&sign));
            around.map_or(sign, |range| range.start)
        }
        None => code,
    };
    open_tag(&bytes[..code], hidden)
}

/// Returns the ranges between the hidden ones.
pub(super) fn prose(hidden: &[Range<usize>], end: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(hidden.iter().map(|range| range.end));
    let ends = hidden.iter().map(|range| range.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end)
}

/// The construct that begins a hidden range.
enum Opening {
    /// A fence, and the position of its first character.
    Fence {
        sign: usize,
    },
    Inline,
    Thought,
}

fn opening(bytes: &[u8], range: &Range<usize>) -> Opening {
    let line = first_line(&bytes[range.clone()]);
    let indent = line
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'>'))
        .count();
    let run = |sign: u8| line[indent..].iter().take_while(|b| **b == sign).count();
    let ticks = run(b'`');
    let starts_line = matches!(bytes[..range.start].last(), None | Some(b'\n'));
    let is_fence =
        starts_line && (run(b'~') >= 3 || (ticks >= 3 && !line[indent + ticks..].contains(&b'`')));
    match line.get(indent) {
        _ if is_fence => Opening::Fence {
            sign: range.start + indent,
        },
        Some(b'`') => Opening::Inline,
        _ => Opening::Thought,
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|b| *b == b'\n');
    &bytes[..end.unwrap_or(bytes.len())]
}

fn is_unfinished_line(bytes: &[u8]) -> bool {
    first_line(bytes).len() == bytes.len()
}

/// Returns the start of the fence that the line would open without the backtick at `tick`, if it is the first
/// backtick after the fence characters.
fn fence_before(bytes: &[u8], tick: usize) -> Option<usize> {
    if bytes.get(tick) != Some(&b'`') {
        return None;
    }
    let line = bytes[..tick].iter().rposition(|b| *b == b'\n');
    let line = line.map_or(0, |newline| newline + 1);
    let is_indent = |b: &u8| matches!(b, b' ' | b'\t' | b'>');
    let sign = line
        + bytes[line..tick]
            .iter()
            .take_while(|b| is_indent(b))
            .count();
    let ticks = bytes[sign..tick].iter().take_while(|b| **b == b'`').count();
    let rest = &bytes[sign + ticks..tick];
    (ticks >= 3 && !rest.is_empty() && !rest.contains(&b'`')).then_some(sign)
}

/// Returns the start of the last paragraph: the last finished blank line, or the start of the text.
fn last_paragraph(bytes: &[u8]) -> usize {
    let mut line = bytes.len();
    loop {
        line = checked(bytes[..line].iter().rev())
            .position(|b| *b == b'\n')
            .map_or(0, |n| line - n);
        let content = bytes[line..]
            .iter()
            .find(|b| !matches!(b, b' ' | b'\t' | b'>'));
        if line == 0 || matches!(content, Some(b'\n' | b'\r')) {
            return line;
        }
        line -= 1;
    }
}

/// Returns the position of a tag in prose that the end of `bytes` cuts off, otherwise the end.
fn open_tag(bytes: &[u8], hidden: &[Range<usize>]) -> usize {
    let before = hidden.partition_point(|range| range.end <= bytes.len());
    let last = before.checked_sub(1).map_or(0, |n| hidden[n].end);
    let from = last.max(bytes.len().saturating_sub(MAX_TAG));
    let found = bytes[from..]
        .iter()
        .rposition(|b| matches!(b, b'<' | b'>' | b'\n'))
        .map(|n| from + n)
        .filter(|&at| bytes[at] == b'<');
    let names = |at: &usize| {
        let first = bytes.get(at + 1);
        first.is_none_or(|b| b.is_ascii_alphabetic() || *b == b'/')
    };
    found.filter(names).unwrap_or(bytes.len())
}
