//! Up to where it is certain what is prose and what is code or hidden reasoning.

use std::ops::Range;

use reground_interrupt::checked;

/// Longest tag that is waited for, in bytes.
const MAX_TAG: usize = 1024;

/// The place before which nothing that follows can turn prose into code or back; `hidden` is what is not prose so far.
///
/// Open fences and reasoning are certain: they hide all that follows until they close. What is not:
/// - a backtick in the last paragraph that has no partner yet;
/// - code whose closing backticks end the text, as one more would make them others;
/// - a fence of backticks whose line is not over, as another backtick makes it inline code;
/// - a tag that is not over.
pub(super) fn certain(text: &str, hidden: &[Range<usize>]) -> usize {
    let bytes = text.as_bytes();
    let mut paragraph = last_paragraph(bytes);
    let mut open = text.len();
    for range in checked(hidden) {
        match opening(bytes, range) {
            Opening::Fence { sign, .. } if is_half_a_line(&bytes[range.clone()]) => {
                if bytes[sign] == b'`' {
                    open = open.min(sign);
                }
            }
            // It ends the paragraph before it.
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
        // Cut off before the backtick that makes it none, the line would open a fence.
        Some(sign) => {
            let around = hidden.iter().find(|range| range.contains(&sign));
            around.map_or(sign, |range| range.start)
        }
        None => code,
    };
    open_tag(&bytes[..code], hidden)
}

/// The stretches between the hidden ones.
pub(super) fn prose(hidden: &[Range<usize>], end: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(hidden.iter().map(|range| range.end));
    let ends = hidden.iter().map(|range| range.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end)
}

/// What began a hidden range.
enum Opening {
    /// A fence, whose first sign stands there.
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

fn is_half_a_line(bytes: &[u8]) -> bool {
    first_line(bytes).len() == bytes.len()
}

/// The sign of the fence that the line before a backtick opens, if that is the first one behind it.
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

/// Where the paragraph begins that the text ends in: at the last blank line that is over, or at the start.
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

/// Where a tag opens in prose that the end of `bytes` cuts off; their end if none does.
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
