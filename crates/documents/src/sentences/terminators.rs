//! Where sentences end inside a block.

use reground_interrupt::{CHECK_INTERVAL, between, check_interrupt, find, one_of};
use unicode_normalization::char::is_combining_mark;

/// Characters looked at beyond a terminator to find a lower-case letter or the end of a citation marker.
const LOOK_AHEAD: usize = 48;

/// Abbreviations after which a sentence goes on, in lower case, without their last full stop, in order. Those that
/// often end one ("etc.", "Inc.") are left to the rule of the lower-case letter.
const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "asst", "brig", "bspw", "bzw", "ca", "capt", "cf", "ch", "cmdr", "col",
    "d.h", "dept", "dr", "dra", "e.g", "ed", "eds", "eg", "eq", "eqs", "evtl", "ex", "exkl", "fig",
    "figs", "gen", "ggf", "ggü", "gov", "hon", "hr", "i.d.r", "i.e", "ie", "incl", "inkl", "insb",
    "lt", "m.e", "maj", "messrs", "mio", "mlle", "mme", "mr", "mrd", "mrs", "ms", "mt", "o.g",
    "p.ej", "ph.d", "prof", "rep", "resp", "rev", "s.o", "s.u", "sen", "sgt", "sog", "sogen", "sr",
    "sra", "st", "tsd", "u.a", "u.u", "u.z", "usw", "v.a", "vgl", "viz", "vs", "z.b", "z.t",
    "zzgl",
];

/// Abbreviations after which a number follows; before anything else they may end a sentence ("No. We do not."). In
/// order.
const BEFORE_NUMBERS: &[&str] = &[
    "abb", "abs", "apr", "art", "aug", "bd", "cap", "chap", "dec", "feb", "geb", "gest", "jan",
    "jul", "jun", "kap", "mar", "max", "min", "n", "no", "nos", "nov", "nr", "oct", "p", "par",
    "pp", "rn", "s", "sec", "sect", "sep", "sept", "tab", "vol", "vols", "ziff", "zit",
];

/// What German counts with an ordinal and a capital, in lower case, by how it begins: `3. Oktober`, `19. Jahrhunderts`. A
/// lower-case word goes on by itself.
const AFTER_ORDINALS: &[&str] = &[
    "januar",
    "jänner",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
    "jahrhundert",
    "jahrtausend",
];

/// German words after which a number with a full stop is an ordinal: `der 2. Weltkrieg`.
const BEFORE_ORDINALS: &[&str] = &[
    "der", "die", "das", "dem", "den", "im", "vom", "zum", "zur", "beim",
];

/// Longest of both, in bytes.
const LONGEST_ABBREVIATION: usize = 6;

/// The ends of the sentences of a block, but its own, in bytes: after the terminator, what closes it, and the citation
/// markers that trail it.
///
/// They are put into `ends`, which is emptied first: a text has many blocks.
pub fn sentence_ends(block: &str, ends: &mut Vec<usize>) {
    ends.clear();
    let ascii = block.is_ascii();
    // The white space before a sentence is skipped once, not for each terminator in it.
    let mut start = skip(block, 0, char::is_whitespace);
    let mut at = 0;
    while let Some(terminator) = next_terminator(block, at, ascii) {
        let (run, end) = match &block.as_bytes()[terminator..] {
            // `3.5`, `example.com`.
            [b'.' | b'!' | b'?', after, ..] if after.is_ascii_alphanumeric() => {
                at = terminator + 1;
                continue;
            }
            // `It is so. Next`: nothing trails.
            [b'.' | b'!' | b'?', b' ', after, ..] if after.is_ascii_alphanumeric() => {
                (terminator + 1, terminator + 1)
            }
            _ => {
                let run = skip(block, terminator, is_terminator);
                (run, trailing(block, run))
            }
        };
        at = end;
        if end < block.len() && is_end(block, start, terminator..run, end) {
            ends.push(end);
            start = skip(block, end, char::is_whitespace);
        }
    }
}

/// The first terminator from `from` on.
fn next_terminator(block: &str, from: usize, ascii: bool) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = block.as_bytes().get(at..)?;
        if ascii {
            return next_plain(rest).map(|step| at + step);
        }
        at += next_sign(rest)?;
        let c = block.get(at..)?.chars().next()?;
        if is_terminator(c) {
            return Some(at);
        }
        at += c.len_utf8();
    }
}

/// The first terminator of ASCII.
fn next_plain(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for stretch in bytes.chunks(CHECK_INTERVAL) {
        let found = memchr::memchr3(b'.', b'!', b'?', stretch);
        check_interrupt(found.unwrap_or(stretch.len()));
        if let Some(at) = found {
            return Some(start + at);
        }
        start += stretch.len();
    }
    None
}

/// The first byte that a terminator may begin with.
fn next_sign(bytes: &[u8]) -> Option<usize> {
    // D6 to E3: from Armenian to the signs of Chinese and Japanese, whose full-width ones begin with EF.
    find(bytes, |block, _| {
        one_of(block, *b".!?\xEF") | between(block, 0xD6, 0xE3)
    })
}

/// Whether the sentence whose first word began at `start` ends with the terminators in `run`, `end` being the end of what trails.
fn is_end(block: &str, start: usize, run: std::ops::Range<usize>, end: usize) -> bool {
    let terminators = &block[run.clone()];
    if !terminators.is_ascii() && terminators.chars().any(is_wide) {
        return true;
    }
    let after = &block[end..];
    let next = after.trim_start();
    if after.is_empty() {
        return true;
    }
    if next.len() == after.len() || goes_on(next) {
        return false;
    }
    terminators != "." || !is_abbreviation(&block[start..run.start], next)
}

/// Whether the next words continue a sentence: a lower-case letter comes first, or a comma, colon or semicolon.
fn goes_on(next: &str) -> bool {
    let mut rest = next.chars().take(LOOK_AHEAD);
    match rest.next() {
        Some(',' | ';' | ':' | '،' | '、') => true,
        // Code keeps its own letter case, so a code span says nothing: it begins a sentence.
        Some('`') => false,
        Some(first) => {
            let letter = if first.is_alphanumeric() {
                Some(first)
            } else {
                rest.find(|c| c.is_alphanumeric())
            };
            letter.is_some_and(char::is_lowercase)
        }
        None => false,
    }
}

/// Whether a full stop after `sentence` (from its start) belongs to an abbreviation, initial or enumerator.
fn is_abbreviation(sentence: &str, next: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '.';
    // No abbreviation is longer than this, and looking further back would not be linear.
    let far = sentence.floor_char_boundary(sentence.len().saturating_sub(LOOK_AHEAD));
    let recent = &sentence[far..];
    let word = &recent[recent.trim_end_matches(is_inside).len()..];
    let before = || recent[..recent.len() - word.len()].trim_end_matches(|c: char| !is_inside(c));
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => false,
        // "1." at the start is a label.
        _ if word.len() == sentence.len()
            && word.len() <= 3
            && word.chars().all(|c| c.is_ascii_digit()) =>
        {
            true
        }
        _ if word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit()) => {
            is_ordinal(before(), next)
        }
        (Some(initial), None) if initial.is_uppercase() => {
            let before = before();
            let name = before.split_whitespace().next_back().unwrap_or_default();
            before.trim().is_empty()
                || name.chars().next().is_some_and(char::is_uppercase)
                || is_spaced_abbreviation(before, word)
        }
        // "U.S." and the like.
        _ if word.contains('.') && word.split('.').all(is_single_upper) => true,
        // The first of "z. B.", the first two of "i. d. R.".
        (Some(first), None) if first.is_lowercase() && is_single_letter(next) => true,
        (Some(_), None) if is_spaced_abbreviation(before(), word) => true,
        _ if word.len() > LONGEST_ABBREVIATION => false,
        _ => {
            let lower = || word.bytes().map(|byte| byte.to_ascii_lowercase());
            let order = |listed: &&str| listed.bytes().cmp(lower());
            let is_in = |list: &[&str]| list.binary_search_by(order).is_ok();
            is_in(ABBREVIATIONS) || next.starts_with(char::is_numeric) && is_in(BEFORE_NUMBERS)
        }
    }
}

/// Whether a text begins with a single letter and a full stop.
fn is_single_letter(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.next() == Some('.')
}

/// Whether a letter is the last of an abbreviation that is written with spaces: `B` after `z.`.
fn is_spaced_abbreviation(before: &str, last: &str) -> bool {
    let words = before.split_whitespace().rev();
    let mut letters: Vec<&str> = words
        .take_while(|word| word.chars().count() == 2 && is_single_letter(word))
        .collect();
    letters.reverse();
    let whole = format!("{}{last}", letters.concat()).to_lowercase();
    !letters.is_empty() && ABBREVIATIONS.contains(&whole.as_str())
}

/// Whether a number with a full stop is an ordinal, by the words around it.
fn is_ordinal(before: &str, next: &str) -> bool {
    let noun = next.split(|c: char| !c.is_alphabetic()).next();
    let noun = noun.unwrap_or_default().to_lowercase();
    let article = before.split_whitespace().next_back().unwrap_or_default();
    AFTER_ORDINALS.iter().any(|known| noun.starts_with(known))
        || BEFORE_ORDINALS.contains(&article.to_lowercase().as_str())
}

fn is_single_upper(part: &str) -> bool {
    let mut letters = part.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
}

/// The end of what belongs to a terminator that ends at `from`: closing quotes and brackets, superscript note numbers,
/// citation markers with the white space before them.
fn trailing(block: &str, from: usize) -> usize {
    // German closes with the mark that Chinese opens with.
    let opens = |c| c == '“' && block[..from].ends_with(is_wide);
    let mut end = skip(block, from, |c| {
        (is_closing(c) || is_terminator(c)) && !opens(c)
    });
    loop {
        let rest = &block[end..];
        let marker = rest.trim_start();
        // Bounded, so that a long run of white space is read once only.
        let space = rest.len() - marker.len();
        let Some(length) = marker_length(marker).filter(|_| space <= 2) else {
            return end;
        };
        end = skip(block, end + space + length, |c| {
            is_closing(c) && !matches!(c, '*' | '_')
        });
    }
}

/// Length in bytes of a citation marker at the start of a text: `[A1]`, `[12, 13]`, `[^3]`, `【4†source】`. Neither a link
/// `[text](address)` nor a bracketed sentence is one, so it is short and white space or another marker follows.
fn marker_length(text: &str) -> Option<usize> {
    let (open, close) = match text.chars().next()? {
        '[' => ('[', ']'),
        '【' => ('【', '】'),
        _ => return None,
    };
    let window = &text[..text.floor_char_boundary(LOOK_AHEAD)];
    let inside = window[open.len_utf8()..].split_once(close)?.0;
    let length = open.len_utf8() + inside.len() + close.len_utf8();
    let follows = text[length..].chars().next();
    (inside.chars().any(char::is_alphanumeric)
        && !inside.contains(['\n', open])
        && follows
            .is_none_or(|c| c.is_whitespace() || matches!(c, '[' | '【' | '.' | '*' | '"' | '”')))
    .then_some(length)
}

/// The end of the run of such characters that starts at `from`.
fn skip(text: &str, from: usize, is_such: impl Fn(char) -> bool) -> usize {
    text.len() - text[from..].trim_start_matches(is_such).len()
}

/// Terminators that need white space after them, and those of [`is_wide`].
fn is_terminator(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '…'
            | '‼'
            | '⁇'
            | '⁈'
            | '⁉'
            | '؟'
            | '۔'
            | '։'
            | '।'
            | '॥'
            | '።'
            | '፧'
            | '၊'
            | '။'
            | '។'
            | '៕'
            | '᠃'
    ) || is_wide(c)
}

/// Terminators of scripts that put no white space between sentences.
fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}

/// What closes a quotation, bracket or emphasis, superscript note numbers, and what is drawn onto the character before
/// it (combining marks, joiners, variation selectors).
fn is_closing(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '"' | '\'' | ')' | ']' | '}' | '*' | '_' | '`');
    }
    let is_quote = matches!(c, '”' | '’' | '“' | '»' | '›' | '」' | '』');
    let is_bracket = matches!(c, '】' | '〉' | '》' | '）' | '］');
    let is_note = matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹');
    let is_joined =
        matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
    is_quote || is_bracket || is_note || is_joined || is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_found() {
        assert!(ABBREVIATIONS.is_sorted() && BEFORE_NUMBERS.is_sorted());
        for abbreviation in [ABBREVIATIONS, BEFORE_NUMBERS].concat() {
            assert!(abbreviation.len() <= LONGEST_ABBREVIATION);
            // Of what is compared with them only ASCII is made small.
            assert_eq!(abbreviation.to_lowercase(), abbreviation);
        }
    }

    #[test]
    fn every_terminator_is_found() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let sign = c.encode_utf8(&mut bytes).as_bytes();
            assert!(next_sign(sign) == Some(0) || !is_terminator(c), "{c:?}");
        }
    }
}
