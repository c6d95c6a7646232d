//! A text read aloud: its units in order, and which of them it denies.

use super::cues::Cues;
use super::words::{Kind, Piece, pieces};
use crate::Lexemes;
use crate::lexemes::spellings;

/// How many words after one that denies may come what it denies: not to be *found*.
const REACH: usize = 3;

/// A unit at its place.
pub(crate) struct Unit<'a> {
    /// A lexeme, a number in one spelling, or one or two characters.
    pub key: &'a str,
    pub piece: Piece,
    /// Whether what stands before denies it.
    pub denied: bool,
    /// Whether a percent sign follows.
    pub percent: bool,
}

/// What comes next.
pub(crate) enum Said<'a> {
    /// A word, with or without content; if with, its unit follows.
    Word { capital: bool },
    /// A unit.
    Unit(Unit<'a>),
    /// What stands after the last unit denies it: it grows *not*.
    LastDenied,
}

/// Reads a text, in order. A word that denies is taken to deny the next unit of its sentence within reach, or else the one
/// before it.
pub(crate) fn read(text: &str, lexemes: &Lexemes, cues: &Cues, mut each: impl FnMut(Said<'_>)) {
    let mut lower = String::new();
    let mut before = String::new();
    // Where the last cue of a script without spaces ends.
    let mut cued = 0;
    // Words since one that denies, while what it denies is open.
    let mut open: Option<usize> = None;
    for piece in pieces(text) {
        let raw = &text[piece.bytes.clone()];
        let start = piece.bytes.start;
        open = open.map(|since| since + 1);
        if open.is_some_and(|since| piece.opens || since > REACH) {
            open = None;
            each(Said::LastDenied);
        }
        let mut unit = |key: &str, denied: bool, percent: bool| {
            let piece = piece.clone();
            each(Said::Unit(Unit {
                key,
                piece,
                denied,
                percent,
            }));
        };
        match piece.kind {
            Kind::Number => {
                let percent = is_percent(&text[piece.bytes.end..]);
                let mut before = text[..start].chars().rev();
                let bare = before.next() == Some(cues.decimal())
                    && !before.next().is_some_and(char::is_alphanumeric);
                for number in numbers(raw, cues, bare) {
                    unit(&number, open.take().is_some(), percent);
                }
            }
            Kind::Unspaced => {
                // A pair that a cue reaches into is not what the cue denies.
                let denied = start >= cued && open.take().is_some();
                unit(raw, denied, false);
                if let Some((len, denies)) = cues.starts(&text[start..]).filter(|_| start >= cued) {
                    cued = start + len;
                    open = denies.then_some(0);
                }
            }
            Kind::Word => {
                std::mem::swap(&mut lower, &mut before);
                lower.clear();
                if raw.is_ascii() {
                    lower.push_str(raw);
                    lower.make_ascii_lowercase();
                } else {
                    lower.extend(raw.chars().flat_map(char::to_lowercase));
                }
                let denies = cues.denies(piece.joined.then_some(&before), &lower)
                    && !answers(&piece, text)
                    && !cues.is_harmless(&text[start..]);
                if let Some(key) = lexemes.stem_of(&lower) {
                    unit(key, !denies && open.take().is_some(), false);
                }
                let capital = raw.starts_with(char::is_uppercase);
                each(Said::Word { capital });
                if denies {
                    open = Some(0);
                }
            }
        }
    }
    if open.is_some() {
        each(Said::LastDenied);
    }
}

/// Where the units of a text begin, in bytes, ascending.
pub(crate) fn unit_starts(text: &str, lexemes: &Lexemes, cues: &Cues) -> Vec<usize> {
    let mut starts = Vec::new();
    read(text, lexemes, cues, |said| {
        if let Said::Unit(unit) = said {
            starts.push(unit.piece.bytes.start);
        }
    });
    starts
}

/// The numbers of digits with points and commas between them, as the language writes them.
fn numbers(raw: &str, cues: &Cues, bare: bool) -> Vec<String> {
    let exchange = |c| match c {
        ',' => '.',
        '.' => ',',
        c => c,
    };
    match cues.decimal() {
        ',' => spellings(&raw.chars().map(exchange).collect::<String>(), bare),
        _ => spellings(raw, bare),
    }
}

/// Whether a word that could deny answers instead, `No, it does not`, or numbers something, `No. 5`.
fn answers(piece: &Piece, text: &str) -> bool {
    let rest = text[piece.bytes.end..].trim_start_matches(['*', '_', ' ']);
    let answers =
        piece.opens && rest.starts_with([',', ':', ';', '-', '–', '—', '.', '!', '，', '。', '！']);
    let numbered = rest.strip_prefix(['.', 'º', '°']).map(str::trim_start);
    answers || numbered.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a percent sign comes next, after a space or at once.
fn is_percent(rest: &str) -> bool {
    let rest = rest
        .strip_prefix([' ', '\u{a0}', '\u{202f}'])
        .unwrap_or(rest);
    rest.starts_with(['%', '％', '٪'])
}

#[cfg(test)]
mod tests {
    use super::{Cues, Said, read};
    use crate::Lexemes;

    /// The units, those denied with `!` before them.
    fn said(text: &str, language: &str) -> Vec<String> {
        let words = text.to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric());
        let lexemes = Lexemes::of(text, words.filter(|word| word.len() > 5).map(str::to_owned));
        let mut units: Vec<String> = Vec::new();
        read(
            text,
            &lexemes,
            &Cues::built_in(language),
            |said| match said {
                Said::Word { .. } => {}
                Said::Unit(unit) if unit.denied => units.push(format!("!{}", unit.key)),
                Said::Unit(unit) => units.push(unit.key.to_owned()),
                Said::LastDenied => {
                    let last = units.pop();
                    units.extend(last.map(|unit| format!("!{unit}")));
                }
            },
        );
        units
    }

    #[test]
    fn what_is_denied() {
        assert_eq!(
            said("The server doesn't yet support 3.50 plugins.", "en"),
            ["server", "!support", "3.5", "plugins"]
        );
        assert_eq!(
            said("Der Server startet nicht. Neustart 1.234,5", "de"),
            ["server", "!startet", "neustart", "1234.5"]
        );
        assert_eq!(
            said("No, clients do not answer. No. 5 answers.", "en"),
            ["clients", "!answer", "5", "answers"]
        );
        assert_eq!(
            said("Not only clients answer no more than 10 servers", "en"),
            ["clients", "answer", "10", "servers"]
        );
        assert_eq!(said("它不支持", "zh"), ["它不", "不支", "!支持"]);
        assert_eq!(said("它不同意", "zh"), ["它不", "不同", "同意"]);
        assert_eq!(said("It does not support", "simple"), ["support"]);
    }
}
