//! Finds the parts of an answer that are not prose: code and hidden reasoning. They contain no citations.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::{CHECK_INTERVAL, Steps, check_interrupt, checked};

/// Returns the byte ranges of fenced code, inline code and `<think>` blocks, ascending and disjoint, in linear time.
///
/// An open fence or block extends to the end, as in CommonMark. A closing `</think>` alone hides nothing: one stray
/// tag must not hide all citations of an answer.
pub(crate) fn non_prose_spans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut closers = inline_closers(bytes).into_iter().peekable();
    let mut at = 0;
    while let Some(sign) = next_sign(bytes, at) {
        at = sign;
        if let Some(start) = line_start(bytes, at)
            && let Some(fence) = Fence::at(bytes, start)
        {
            // The indentation belongs to the fence, unless it is the end of the previous hidden range.
            let start = found
                .last()
                .map_or(start, |before: &Range<usize>| start.max(before.end));
            let end = fence.end(bytes);
            found.push(start..end);
            at = end;
            continue;
        }
        let end = match bytes[at] {
            b'`' => {
                while closers.next_if(|(open, _)| *open < at).is_some() {}
                let length = run(bytes, at, b'`');
                match closers.next_if(|(open, _)| *open == at) {
                    Some((_, close)) => close + length,
                    None => {
                        at += length;
                        continue;
                    }
                }
            }
            b'<' => match thought(bytes, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += run(bytes, at, b'~');
                continue;
            }
        };
        found.push(at..end);
        at = end;
    }
    found
}

/// Returns the next byte that may begin a hidden range.
fn next_sign(bytes: &[u8], from: usize) -> Option<usize> {
    let mut start = from;
    for chunk in bytes.get(from..)?.chunks(CHECK_INTERVAL) {
        let sign = memchr::memchr3(b'`', b'~', b'<', chunk);
        check_interrupt(sign.unwrap_or(chunk.len()));
        if let Some(at) = sign {
            return Some(start + at);
        }
        start += chunk.len();
    }
    None
}

/// Returns the start of the line if the character at `at` is the first one after the indentation.
fn line_start(bytes: &[u8], at: usize) -> Option<usize> {
    let before = &bytes[..at];
    let indented = before
        .iter()
        .rev()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'>'))
        .count();
    let start = at - indented;
    (start == 0 || bytes[start - 1] == b'\n').then_some(start)
}

/// A line that opens fenced code.
struct Fence {
    sign: u8,
    length: usize,
    body: usize,
}

impl Fence {
    /// Returns the fence that the line at `start` opens. Lists and quotations may indent it.
    fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let open = start + indent(&bytes[start..]);
        let sign = *bytes.get(open).filter(|b| matches!(b, b'`' | b'~'))?;
        let length = run(bytes, open, sign);
        let body = line_end(bytes, open);
        // A later backtick on the line makes it inline code.
        let inline = sign == b'`' && bytes[open + length..body].contains(&b'`');
        (length >= 3 && !inline).then_some(Self { sign, length, body })
    }

    /// Returns the end of the line that closes the fence.
    fn end(&self, bytes: &[u8]) -> usize {
        let mut start = self.body;
        let mut steps = Steps::default();
        while start < bytes.len() {
            steps.step();
            let end = line_end(bytes, start);
            let sign = start + indent(&bytes[start..end]);
            let length = run(bytes, sign, self.sign);
            if length >= self.length && bytes[sign + length..end].trim_ascii().is_empty() {
                return end;
            }
            start = end;
        }
        bytes.len()
    }
}

fn indent(line: &[u8]) -> usize {
    line.iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'>'))
        .count()
}

fn run(bytes: &[u8], start: usize, sign: u8) -> usize {
    bytes[start..].iter().take_while(|b| **b == sign).count()
}

/// Returns the position after the newline.
fn line_end(bytes: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n + 1)
}

/// Returns for each run of backticks the next run of the same length in its paragraph (CommonMark §6.1).
///
/// The runs are processed backwards in one pass. A forward search from each run would be quadratic in a text of
/// unmatched backticks.
fn inline_closers(bytes: &[u8]) -> Vec<(usize, usize)> {
    if memchr::memchr(b'`', bytes).is_none() {
        return Vec::new();
    }
    let mut runs = Vec::new();
    let mut paragraph = 0_usize;
    let mut line_starts = true;
    let mut at = 0;
    let mut steps = Steps::default();
    while at < bytes.len() {
        steps.step();
        if line_starts {
            let content = at + indent(&bytes[at..]);
            let blank = matches!(bytes.get(content), None | Some(b'\n' | b'\r'));
            if blank || Fence::at(bytes, at).is_some() {
                paragraph += 1;
            }
        }
        line_starts = bytes[at] == b'\n';
        let length = run(bytes, at, b'`').max(1);
        if bytes[at] == b'`' {
            runs.push((at, length, paragraph));
        }
        at += length;
    }
    let mut next = BTreeMap::new();
    let mut current = paragraph;
    let mut closers = Vec::new();
    for (at, length, paragraph) in checked(runs.into_iter().rev()) {
        if paragraph != current {
            next.clear();
            current = paragraph;
        }
        if let Some(close) = next.insert(length, at) {
            closers.push((at, close));
        }
    }
    closers.reverse();
    closers
}

/// Returns the end of the reasoning block that opens at `start`.
fn thought(bytes: &[u8], start: usize) -> Option<usize> {
    let tags: [(&[u8], &[u8]); 2] = [(b"<think>", b"</think>"), (b"<thinking>", b"</thinking>")];
    let (open, close) = tags
        .into_iter()
        .find(|(open, _)| starts_with(&bytes[start..], open))?;
    let body = start + open.len();
    let end = checked(body..bytes.len())
        .find(|&at| bytes[at] == b'<' && starts_with(&bytes[at..], close))
        .map_or(bytes.len(), |at| at + close.len());
    Some(end)
}

fn starts_with(bytes: &[u8], tag: &[u8]) -> bool {
    bytes
        .get(..tag.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::non_prose_spans;

    fn kept(text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for range in non_prose_spans(text) {
            out.push_str(&text[at..range.start]);
            at = range.end;
        }
        out + &text[at..]
    }

    #[test]
    fn code_and_reasoning_are_hidden() {
        assert_eq!(kept("a `x[1]` b"), "a  b");
        assert_eq!(kept("a ``x ` [1]`` b"), "a  b");
        assert_eq!(kept("a\n```rust\nlet x = y[1];\n```\nb"), "a\nb");
        assert_eq!(kept("> ~~~\n> [1]\n> ~~~\nb"), "b");
        assert_eq!(kept("<think>[1]</think>b"), "b");
        assert_eq!(kept("<THINK>[1]\n\n</think>b"), "b");
    }

    #[test]
    fn unclosed_code_and_reasoning() {
        assert_eq!(kept("a ` b [1]"), "a ` b [1]");
        assert_eq!(kept("a ` b\n\nc ` d"), "a ` b\n\nc ` d");
        assert_eq!(kept("a\n```\n[1]"), "a\n");
        assert_eq!(kept("a <think>[1]"), "a ");
        assert_eq!(kept("[1]</think>b"), "[1]</think>b");
    }
}
