//! Sentence ends within a block.

use reground_interrupt::{CHECK_INTERVAL, between, check_interrupt, find, one_of};
use unicode_normalization::char::is_combining_mark;

/// Maximum number of characters after a terminator that are searched for a lower-case letter or the end of a citation marker.
const LOOK_AHEAD: usize = 48;

/// Abbreviations that do not end a sentence, in lower case, without their last full stop, sorted. Abbreviations that often end
/// a sentence ("etc.", "Inc.") are left to the lower-case rule.
const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "asst", "brig", "bspw", "bzw", "ca", "capt", "cf", "ch", "cmdr", "col",
    "d.h", "dept", "dr", "dra", "e.g", "ed", "eds", "eg", "eq", "eqs", "evtl", "ex", "exkl", "fig",
    "figs", "gen", "ggf", "ggü", "gov", "hon", "hr", "i.d.r", "i.e", "ie", "incl", "inkl", "insb",
    "lt", "m.e", "maj", "messrs", "mio", "mlle", "mme", "mr", "mrd", "mrs", "ms", "mt", "o.g",
    "p.ej", "ph.d", "prof", "rep", "resp", "rev", "s.o", "s.u", "sen", "sgt", "sog", "sogen", "sr",
    "sra", "st", "tsd", "u.a", "u.u", "u.z", "usw", "v.a", "vgl", "viz", "vs", "z.b", "z.t",
    "zzgl",
];

/// Abbreviations before numbers, sorted. Before anything else they can end a sentence ("No. We do not.").
const BEFORE_NUMBERS: &[&str] = &[
    "abb", "abs", "apr", "art", "aug", "bd", "cap", "chap", "dec", "feb", "geb", "gest", "jan",
    "jul", "jun", "kap", "mar", "max", "min", "n", "no", "nos", "nov", "nr", "oct", "p", "par",
    "pp", "rn", "s", "sec", "sect", "sep", "sept", "tab", "vol", "vols", "ziff", "zit",
];

/// Capitalised German nouns after ordinals, in lower case, as prefixes: `3. Oktober`, `19. Jahrhunderts`. Lower-case words need no
/// entry, because the lower-case rule applies.
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

/// German words before ordinals: `der 2. Weltkrieg`.
const BEFORE_ORDINALS: &[&str] = &[
    "der", "die", "das", "dem", "den", "im", "vom", "zum", "zur", "beim",
];

/// Maximum length of [`ABBREVIATIONS`] and [`BEFORE_NUMBERS`], in bytes.
const LONGEST_ABBREVIATION: usize = 6;

/// Writes the sentence ends of a block, except the last one, into `ends`, in bytes. An end is after the terminator, closing
/// characters and trailing citation markers.
///
/// `ends` is cleared first. It is passed in to be reused, because a text has many blocks.
pub fn sentence_ends(block: &str, ends: &mut Vec<usize>) {
    ends.clear();
    let ascii = block.is_ascii();
    // Skips the white space before a sentence once, not for each terminator in it.
    let mut start = skip(block, 0, char::is_whitespace);
    let mut at = 0;
    while let Some(terminator) = next_terminator(block, at, ascii) {
        let (run, end) = match &block.as_bytes()[terminator..] {
            // `3.5`, `example.com`.
            [b'.' | b'!' | b'?', after, ..] if after.is_ascii_alphanumeric() => {
                at = terminator + 1;
                continue;
            }
            // `It is so. Next`: no closing characters or markers.
            [b'.' | b'!' | b'?', b' ', after, ..] if after.is_ascii_alphanumeric() => {
                (terminator + 1, terminator + 1)
            }
            _ => {
                let run = skip(block, terminator, is_terminator);
                (run, trailing_end(block, run))
            }
        };
        at = end;
        if end < block.len() && is_end(block, start, terminator..run, end) {
            ends.push(end);
            start = skip(block, end, char::is_whitespace);
        }
    }
}

/// Returns the offset of the first terminator from `from` on.
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

/// Returns the offset of the first ASCII terminator.
fn next_plain(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for part in bytes.chunks(CHECK_INTERVAL) {
        let found = memchr::memchr3(b'.', b'!', b'?', part);
        check_interrupt(found.unwrap_or(part.len()));
        if let Some(at) = found {
            return Some(start + at);
        }
        start += part.len();
    }
    None
}

/// Returns the offset of the first byte with which a terminator can begin.
fn next_sign(bytes: &[u8]) -> Option<usize> {
    // D6 to E3 cover Armenian to Chinese and Japanese punctuation. Full-width terminators begin with EF.
    find(bytes, |block, _| {
        one_of(block, *b".!?\xEF") | between(block, 0xD6, 0xE3)
    })
}

/// Returns whether the sentence whose first word is at `start` ends with the terminators in `run`. `end` is the end of the closing
/// characters and markers after the run.
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
    if next.len() == after.len() || continues(next) {
        return false;
    }
    terminators != "." || !is_abbreviation(&block[start..run.start], next)
}

/// Returns whether the next words continue a sentence: their first letter is lower-case, or they start with a comma, colon or
/// semicolon.
fn continues(next: &str) -> bool {
    let mut rest = next.chars().take(LOOK_AHEAD);
    match rest.next() {
        Some(',' | ';' | ':' | '،' | '、') => true,
        // The letter case of code is no evidence, so a code span is treated as the start of a sentence.
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

/// Returns whether a full stop after `sentence` (from its start) belongs to an abbreviation, initial or enumerator.
fn is_abbreviation(sentence: &str, next: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '.';
    // No abbreviation is longer, and looking further back would not take linear time.
    let far = sentence.floor_char_boundary(sentence.len().saturating_sub(LOOK_AHEAD));
    let recent = &sentence[far..];
    let word = &recent[recent.trim_end_matches(is_inside).len()..];
    let before = || recent[..recent.len() - word.len()].trim_end_matches(|c: char| !is_inside(c));
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (None, _) => false,
        // "1." at the start is an enumerator.
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
        // For example "U.S."
        _ if word.contains('.') && word.split('.').all(is_single_upper) => true,
        // The first letter of "z. B.", the first two of "i. d. R.".
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

/// Returns whether a text begins with a single letter and a full stop.
fn is_single_letter(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.next() == Some('.')
}

/// Returns whether a letter is the last of an abbreviation with spaces: `B` after `z.`.
fn is_spaced_abbreviation(before: &str, last: &str) -> bool {
    let words = before.split_whitespace().rev();
    let mut letters: Vec<&str> = words
        .take_while(|word| word.chars().count() == 2 && is_single_letter(word))
        .collect();
    letters.reverse();
    let whole = format!("{}{last}", letters.concat()).to_lowercase();
    !letters.is_empty() && ABBREVIATIONS.contains(&whole.as_str())
}

/// Returns whether a number with a full stop is an ordinal, based on the words around it.
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

/// Returns the end of the characters that belong to a terminator ending at `from`: closing quotes and brackets, superscript note
/// numbers, and citation markers with the white space before them.
fn trailing_end(block: &str, from: usize) -> usize {
    // “ closes a quotation in German and opens one in Chinese.
    let opens = |c| c == '“' && block[..from].ends_with(is_wide);
    let mut end = skip(block, from, |c| {
        (is_closing(c) || is_terminator(c)) && !opens(c)
    });
    loop {
        let rest = &block[end..];
        let marker = rest.trim_start();
        // At most 2, so that a long run of white space is read only once.
        let space = rest.len() - marker.len();
        let Some(length) = marker_length(marker).filter(|_| space <= 2) else {
            return end;
        };
        end = skip(block, end + space + length, |c| {
            is_closing(c) && !matches!(c, '*' | '_')
        });
    }
}

/// Returns the length in bytes of a citation marker at the start of a text: `[A1]`, `[12, 13]`, `[^3]`, `【4†source】`. A marker is
/// short and followed by white space or another marker, which excludes links `[text](address)` and bracketed sentences.
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

/// Returns the end of the run of matching characters that starts at `from`.
fn skip(text: &str, from: usize, matches: impl Fn(char) -> bool) -> usize {
    text.len() - text[from..].trim_start_matches(matches).len()
}

/// Terminators that require white space after them, and the terminators of [`is_wide`].
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

/// Terminators of scripts without white space between sentences.
fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}

/// Characters that close a quotation, bracket or emphasis, superscript note numbers, and characters that combine with the previous
/// one (combining marks, joiners, variation selectors).
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
    fn abbreviations_are_sorted_short_and_lower_case() {
        assert!(ABBREVIATIONS.is_sorted() && BEFORE_NUMBERS.is_sorted());
        for abbreviation in [ABBREVIATIONS, BEFORE_NUMBERS].concat() {
            assert!(abbreviation.len() <= LONGEST_ABBREVIATION);
            // Words are lower-cased in ASCII only before the comparison.
            assert_eq!(abbreviation.to_lowercase(), abbreviation);
        }
    }

    #[test]
    fn next_sign_finds_every_terminator() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let sign = c.encode_utf8(&mut bytes).as_bytes();
            assert!(next_sign(sign) == Some(0) || !is_terminator(c), "{c:?}");
        }
    }
}
