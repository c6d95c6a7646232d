//! Finds the places in a text that match a schema.

use regex::{Captures, Regex, RegexBuilder};
use std::collections::BTreeMap;
use std::ops::Range;

use super::roman;
use super::schema::{Level, LocatorSchema, PatternPiece, SchemaError, Values};
use crate::citation::ParsedCitation;
use crate::{Form, LocatorRange, Malformed, Reference};

/// Memory limit of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 1 << 23;
/// Longest continuation of a range or a list, in bytes.
const WINDOW: usize = 64;
/// Largest number of places in one list.
const MAX_PLACES: usize = 64;
/// Characters between the ends of a range.
const DASHES: [char; 7] = ['-', '‐', '‑', '‒', '–', '—', '−'];

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Locators {
    patterns: Vec<Pattern>,
    /// The name of each work by the normal form of its names and abbreviations, see [`key`].
    works: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Pattern {
    whole: Regex,
    /// The kind of values of each numbered level.
    levels: Vec<Values>,
    /// The part of the pattern from each numbered level on. It matches the text after a dash or a comma: `35:2`, `8`.
    tails: Vec<Regex>,
}

/// A place and the end of its text.
struct Stated {
    numbers: Vec<u32>,
    end: usize,
}

impl Locators {
    /// Checks and compiles a schema.
    ///
    /// # Errors
    /// The first error in the schema.
    pub fn new(schema: &LocatorSchema) -> Result<Self, SchemaError> {
        let pieces = schema.pieces()?;
        let compiled = pieces.iter().zip(&schema.patterns);
        let patterns = compiled
            .map(|(pieces, pattern)| Pattern::new(schema, pieces, pattern))
            .collect::<Result<_, _>>()?;
        let works = schema.works.iter().flat_map(|work| {
            let names = std::iter::once(&work.name).chain(&work.abbreviations);
            names.map(|name| (key(name), work.name.clone()))
        });
        Ok(Self {
            patterns,
            works: works.collect(),
        })
    }

    /// Parses a text that is one place or one range and nothing else, such as the locator of a passage.
    pub fn read(&self, text: &str) -> Option<LocatorRange> {
        let text = text.trim();
        let mut only = None;
        self.matches(text, 0, |bytes, parsed| {
            if bytes == (0..text.len())
                && let [Reference::Locator(range)] = parsed.references.as_slice()
            {
                only = Some(range.clone());
            }
        });
        only
    }

    /// Returns the name of the work that a name or an abbreviation belongs to.
    pub fn work(&self, name: &str) -> Option<&str> {
        self.works.get(&key(name)).map(String::as_str)
    }

    /// Returns the names and abbreviations of a work in their normal form; empty without a work.
    pub fn names(&self, work: Option<&str>) -> Vec<&str> {
        let names = self.works.iter();
        names
            .filter(|(_, own)| Some(own.as_str()) == work)
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Finds all places in a part of a text that begins at `offset`. If several patterns match at one position, the
    /// longest match is used.
    pub(crate) fn matches(
        &self,
        text: &str,
        offset: usize,
        mut found: impl FnMut(Range<usize>, ParsedCitation),
    ) {
        let mut hits: Vec<(usize, std::cmp::Reverse<usize>, ParsedCitation)> = Vec::new();
        for pattern in &self.patterns {
            let mut last = 0;
            for captures in pattern.whole.captures_iter(text) {
                let Some(start) = captures.get(0).map(|whole| whole.start()) else {
                    continue;
                };
                if start < last || joined_before(text, start) {
                    continue;
                }
                if let Some((end, parsed)) = self.places(pattern, text, &captures) {
                    hits.push((start, std::cmp::Reverse(end), parsed));
                    last = end;
                }
            }
        }
        hits.sort_by_key(|(start, end, _)| (*start, *end));
        let mut last = 0;
        for (start, std::cmp::Reverse(end), parsed) in hits {
            if start >= last {
                found(offset + start..offset + end, parsed);
                last = end;
            }
        }
    }

    /// Returns the end of a match and its places, including a range or list that follows.
    fn places(
        &self,
        pattern: &Pattern,
        text: &str,
        captures: &Captures<'_>,
    ) -> Option<(usize, ParsedCitation)> {
        let work = match captures.name("work") {
            Some(name) => Some(self.work(name.as_str())?.to_owned()),
            None => None,
        };
        let numbers = pattern.numbers(captures, 0)?;
        let mut end = captures.get(0)?.end();
        if joined_after(text, end) {
            return None;
        }
        let mut parsed = ParsedCitation::new(Form::Locator);
        let mut first = numbers;
        for _ in 0..MAX_PLACES {
            let mut last = first.clone();
            if let Some(stated) = pattern.after_dash(text, end, &first) {
                last = stated.numbers;
                end = stated.end;
            }
            let range = LocatorRange::new(work.clone(), first.clone(), last.clone());
            parsed.references.push(match range {
                Some(range) => Reference::Locator(range),
                None => Reference::Malformed(Malformed::DescendingRange),
            });
            match pattern.after_comma(text, end, &last) {
                Some(stated) => {
                    first = stated.numbers;
                    end = stated.end;
                }
                None => break,
            }
        }
        Some((end, parsed))
    }
}

impl Pattern {
    fn new(
        schema: &LocatorSchema,
        pieces: &[PatternPiece],
        pattern: &str,
    ) -> Result<Self, SchemaError> {
        let first = schema.first_counted();
        let counted =
            |piece: &PatternPiece| matches!(piece, PatternPiece::Level(level) if *level >= first);
        let expression = |pieces: &[PatternPiece]| -> String {
            let each = pieces.iter().enumerate();
            each.map(|(at, piece)| match piece {
                PatternPiece::Text(text) => {
                    let before = at.checked_sub(1).and_then(|before| pieces.get(before));
                    let after = pieces.get(at + 1);
                    // White space that is the only separator of two numbers is required. At the ends of a citation it
                    // is not part of it.
                    let parts = before.is_some_and(counted) && after.is_some_and(counted);
                    if parts && text.trim().is_empty() {
                        return r"[ \u{a0}]{1,3}".to_owned();
                    }
                    let lead = before.map_or("", |_| SPACE);
                    let trail = after.map_or("", |_| SPACE);
                    format!("{lead}{}{trail}", spelled(text))
                }
                PatternPiece::Level(level) if *level < first => works(schema),
                PatternPiece::Level(level) => {
                    format!("(?P<l{}>{})", level - first, values(schema, *level))
                }
            })
            .collect()
        };
        let compile = |expression: String| {
            RegexBuilder::new(&expression)
                .case_insensitive(true)
                .size_limit(MAX_COMPILED)
                .build()
                .map_err(|error| SchemaError::Compile {
                    pattern: pattern.to_owned(),
                    why: error.to_string(),
                })
        };
        let starts = (0..pieces.len()).filter(|&at| counted(&pieces[at]));
        let tails = starts
            .map(|at| compile(format!("\\A{}", expression(&pieces[at..]))))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            whole: compile(expression(pieces))?,
            levels: schema.levels[first..]
                .iter()
                .map(Level::values)
                .take(tails.len())
                .collect(),
            tails,
        })
    }

    fn numbers(&self, captures: &Captures<'_>, first: usize) -> Option<Vec<u32>> {
        let number = |(level, values): (usize, &Values)| {
            number(captures.name(&format!("l{level}"))?.as_str(), *values)
        };
        let levels = self.levels.iter().enumerate();
        levels.skip(first).map(number).collect()
    }

    /// Reads the end of a range. It has the same levels as the start, or only the inner ones.
    fn after_dash(&self, text: &str, at: usize, first: &[u32]) -> Option<Stated> {
        let rest = text.get(at..)?;
        let after = rest.trim_start_matches(' ').strip_prefix(DASHES)?;
        let after = after.trim_start_matches(' ');
        self.tail(text, text.len() - after.len(), first)
    }

    /// Reads the next item of a list.
    fn after_comma(&self, text: &str, at: usize, before: &[u32]) -> Option<Stated> {
        let after = text.get(at..)?.strip_prefix([',', ';'])?;
        let after = after.trim_start_matches(' ');
        let stated = self.tail(text, text.len() - after.len(), before)?;
        // `Gen. 1:3, 8 people came` contains one verse.
        let mut follows = text[stated.end..].chars();
        let counts = follows.next() == Some(' ') && follows.next().is_some_and(char::is_lowercase);
        (!counts).then_some(stated)
    }

    fn tail(&self, text: &str, at: usize, outer: &[u32]) -> Option<Stated> {
        let window = &text[at..text.floor_char_boundary(at + WINDOW)];
        self.tails.iter().enumerate().find_map(|(level, tail)| {
            let captures = tail.captures(window)?;
            let end = at + captures.get(0)?.end();
            let mut place = outer.get(..level)?.to_vec();
            place.extend(self.numbers(&captures, level)?);
            (!joined_after(text, end)).then_some(Stated {
                numbers: place,
                end,
            })
        })
    }
}

/// Converts digits, a letter or a Roman numeral.
fn number(text: &str, values: Values) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(u32::MAX));
    }
    match (values, text.as_bytes()) {
        (Values::Letter, [letter]) => Some(u32::from(letter.to_ascii_lowercase() - b'a') + 1),
        (Values::Letter, _) => None,
        (Values::Number, _) => roman::value(text),
    }
}

/// Optional white space.
const SPACE: &str = r"[ \u{a0}]{0,3}";

/// Escapes a text for a regular expression. White space in it is optional.
fn spelled(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(regex::escape).collect();
    words.join(SPACE)
}

fn works(schema: &LocatorSchema) -> String {
    let mut names: Vec<_> = schema
        .works
        .iter()
        .flat_map(|work| std::iter::once(&work.name).chain(&work.abbreviations))
        .map(|name| name.trim().trim_end_matches('.'))
        .collect();
    // Longest first: otherwise `Gen` would match before `Genesis`.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let spelled: Vec<_> = names.into_iter().map(spelled).collect();
    format!(r"(?P<work>(?:{})\.?)", spelled.join("|"))
}

fn values(schema: &LocatorSchema, level: usize) -> &'static str {
    let values = schema.levels.get(level).map(Level::values);
    match (values, schema.roman) {
        (Some(Values::Letter), _) => "[a-z]",
        (_, true) => "[0-9]{1,6}|[ivxlcdm]{1,12}",
        (_, false) => "[0-9]{1,6}",
    }
}

/// Returns the normal form of a name.
fn key(name: &str) -> String {
    let bare = name.trim().trim_end_matches('.').to_lowercase();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn joined_before(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let first = text[at..].chars().next();
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    word(before) && word(first)
}

/// Returns whether a number or a word continues, as after `1:3` in `1:34`, `1:3.5` or `1:3rd`.
fn joined_after(text: &str, at: usize) -> bool {
    let mut follows = text[at..].chars();
    match follows.next() {
        Some('.' | ':') => follows.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c.is_alphanumeric() && text[..at].ends_with(char::is_alphanumeric),
        None => false,
    }
}
