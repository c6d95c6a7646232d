//! Blocks of lines. A sentence never extends beyond its block.

use std::ops::Range;

use reground_interrupt::checked;

/// Lines shorter than this many bytes are assumed not to be wrapped by an editor.
const MIN_WRAPPED_LINE: usize = 40;

/// Returns the blocks of a text as adjacent byte ranges that cover the text.
///
/// A block begins after a blank line, a form feed or a paragraph separator; at a line that is a Markdown list item,
/// quotation, heading, fence or table row; after a heading, fence or table row; and after a line that was not wrapped.
pub fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut lines = checked(lines(text)).map(|bytes| Line::new(text, bytes));
    let mut first = lines.next();
    std::iter::from_fn(move || {
        let mut last = first.take()?;
        let start = last.bytes.start;
        for line in lines.by_ref() {
            if separates(&last, &line) {
                first = Some(line);
                break;
            }
            last = line;
        }
        Some(start..last.bytes.end)
    })
}

/// A line, analysed once although it is compared with two neighbours.
struct Line<'a> {
    bytes: Range<usize>,
    /// The line including its line end.
    text: &'a str,
    /// The line without surrounding white space.
    content: &'a str,
    stands_alone: bool,
}

impl<'a> Line<'a> {
    fn new(text: &'a str, bytes: Range<usize>) -> Self {
        let text = &text[bytes.clone()];
        let content = text.trim();
        Self {
            bytes,
            text,
            content,
            stands_alone: stands_alone(text, content),
        }
    }
}

/// Returns whether a line is a Markdown heading (`#` to `######`, then a space).
pub fn is_heading(line: &str) -> bool {
    let marks = line
        .trim_start()
        .bytes()
        .take(7)
        .take_while(|&byte| byte == b'#')
        .count();
    (1..=6).contains(&marks)
        && line.trim_start()[marks..].starts_with([' ', '\t'])
        && !line.trim_end().contains('\n')
}

/// Returns the lines of a text including their ends: LF, CR LF, CR, vertical tab, form feed, next line, line and paragraph separator.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    // Vertical tab, next line, line separator and paragraph separator are rare. Without them, only three bytes must be searched for.
    let rare = ["\u{85}", "\u{2028}", "\u{2029}"];
    let has = |end: &str| memchr::memmem::find(text.as_bytes(), end.as_bytes()).is_some();
    let plain = !has("\u{b}") && (text.is_ascii() || !rare.iter().any(|end| has(end)));
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let rest = &text.as_bytes()[start..];
        let length = if plain {
            plain_line_length(rest)
        } else {
            line_length(rest)
        };
        let line = start..start + length;
        start = line.end;
        Some(line)
    })
}

/// Returns the length in bytes of the first line including its end, for texts whose line ends are LF, CR LF, CR or form feed.
fn plain_line_length(text: &[u8]) -> usize {
    let Some(at) = memchr::memchr3(b'\n', b'\r', b'\x0c', text) else {
        return text.len();
    };
    at + if text[at..].starts_with(b"\r\n") {
        2
    } else {
        1
    }
}

/// Returns the length in bytes of the first line including its end.
fn line_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(step) = text[at..].iter().position(|b| MAY_END[usize::from(*b)]) {
        at += step;
        match &text[at..] {
            [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => return at + 2,
            [b'\n' | b'\r' | b'\x0b' | b'\x0c', ..] => return at + 1,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => return at + 3,
            _ => at += 1,
        }
    }
    text.len()
}

/// For each byte, whether a line-end character can begin with it.
static MAY_END: [bool; 256] = {
    let mut may_end = [false; 256];
    may_end[b'\n' as usize] = true;
    may_end[b'\r' as usize] = true;
    may_end[b'\x0b' as usize] = true;
    may_end[b'\x0c' as usize] = true;
    may_end[0xC2] = true;
    may_end[0xE2] = true;
    may_end
};

/// Returns whether a sentence cannot continue from one line to the next.
fn separates(line: &Line<'_>, next: &Line<'_>) -> bool {
    line.content.is_empty()
        || next.content.is_empty()
        || line.stands_alone
        || next.stands_alone
        || line.text.ends_with(['\u{b}', '\u{c}', '\u{2029}'])
        || begins_item(next)
        || is_unwrapped(line, next)
}

/// Returns whether the line is a heading, fence or table row.
fn stands_alone(line: &str, content: &str) -> bool {
    match content.as_bytes() {
        [b'#', ..] => is_heading(line),
        [b'`', ..] => content.starts_with("```"),
        [b'~', ..] => content.starts_with("~~~"),
        [b'|', ..] => true,
        _ => false,
    }
}

/// Returns whether the line is a list item (`-`, `*`, `+`, bullets, `1.`, `a)`) or a quotation.
fn begins_item(line: &Line<'_>) -> bool {
    // The white space after a bullet can be the line end.
    let line = line.text.trim_start();
    if line.starts_with('>') {
        return true;
    }
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•', '‣', '◦', '▪', '–']) {
        return rest.starts_with(char::is_whitespace);
    }
    let label = line
        .bytes()
        .take(5)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    let number = line.bytes().take(label).all(|byte| byte.is_ascii_digit());
    let rest = &line[label..];
    // A letter requires a bracket, because "a. " can be the end of a sentence.
    (1..=4).contains(&label)
        && (number && rest.starts_with('.') || (number || label == 1) && rest.starts_with(')'))
        && rest[1..].starts_with(char::is_whitespace)
}

/// Returns whether a line is shorter than wrapped text and the next one does not start in lower case: `Name: Ann`.
fn is_unwrapped(line: &Line<'_>, next: &Line<'_>) -> bool {
    line.content.len() < MIN_WRAPPED_LINE
        && next
            .text
            .chars()
            .take(MIN_WRAPPED_LINE)
            .find(|c| c.is_alphanumeric())
            .is_some_and(char::is_uppercase)
}
