//! Patterns of the user: regular expressions with named groups.

use regex::{Captures, Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::forms::position;
use crate::citation::{LARGEST_INTEGER, ParsedCitation};
use crate::{Form, Reference};

/// Largest number of patterns in a grammar.
const MAX_PATTERNS: usize = 32;
/// Longest regular expression, in bytes.
const MAX_LENGTH: usize = 2_000;
/// Memory limit of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// Allowed group names. One of the first three is required.
const GROUPS: [&str; 5] = ["id", "name", "number", "page", "pages"];

/// A pattern of the user.
///
/// `regex` has the syntax of the crate `regex`: no look-around and no back-references, so that the time is linear. It
/// matches within a line. Its groups are: `id` for a document or passage by id, `name` for a document by name,
/// `number` for a source by number, from 1; `page` or `pages` for the claimed pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternRule {
    /// The name, of `a-z`, `0-9` and `_`. Its citations have the form `custom:<name>`.
    pub name: String,
    /// The regular expression.
    pub regex: String,
}

/// The reason why a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The name is invalid or not unique.
    #[error("pattern name {0:?} must be unique and consist of a-z, 0-9 and _")]
    Name(String),
    /// The regular expression is invalid or too large.
    #[error("pattern {name:?}: {why}")]
    Regex {
        /// The pattern.
        name: String,
        /// The message of the compiler.
        why: String,
    },
    /// The group is unknown.
    #[error(
        "unknown group {group:?} in pattern {name:?}: the groups are id, name, number, page, pages"
    )]
    Group {
        /// The pattern.
        name: String,
        /// The group.
        group: String,
    },
    /// No group names the source.
    #[error("pattern {0:?} has no group named id, name or number")]
    NothingCited(String),
    /// A pattern that matches the empty string would match everywhere.
    #[error("pattern {0:?} matches the empty string")]
    Empty(String),
    /// There are too many patterns.
    #[error("a grammar has at most {MAX_PATTERNS} patterns, not {0}")]
    TooMany(usize),
}

/// Compiled patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns(Vec<(Form, Regex)>);

impl Patterns {
    pub(crate) fn new(rules: &[PatternRule]) -> Result<Self, PatternError> {
        if rules.len() > MAX_PATTERNS {
            return Err(PatternError::TooMany(rules.len()));
        }
        let mut patterns = Vec::with_capacity(rules.len());
        for (number, rule) in rules.iter().enumerate() {
            let twice = rules[..number].iter().any(|other| other.name == rule.name);
            if twice || !is_name(&rule.name) {
                return Err(PatternError::Name(rule.name.clone()));
            }
            patterns.push((Form::Custom(rule.name.clone()), compiled(rule)?));
        }
        Ok(Self(patterns))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds all matches in a part of a text that begins at `offset`.
    pub(crate) fn matches(
        &self,
        text: &str,
        offset: usize,
        mut found: impl FnMut(std::ops::Range<usize>, ParsedCitation),
    ) {
        for (form, regex) in &self.0 {
            for captures in regex.captures_iter(text) {
                let Some((whole, reference)) = captures.get(0).zip(reference(&captures)) else {
                    continue;
                };
                if whole.is_empty() {
                    continue;
                }
                let inside = ParsedCitation::one(form.clone(), reference);
                found(offset + whole.start()..offset + whole.end(), inside);
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=63).contains(&name.len()) && name.bytes().all(fits)
}

fn compiled(rule: &PatternRule) -> Result<Regex, PatternError> {
    let refuse = |why: String| PatternError::Regex {
        name: rule.name.clone(),
        why,
    };
    if rule.regex.len() > MAX_LENGTH {
        return Err(refuse(format!("longer than {MAX_LENGTH} bytes")));
    }
    let regex = RegexBuilder::new(&rule.regex)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| refuse(error.to_string()))?;
    let mut cites = false;
    for group in regex.capture_names().flatten() {
        if !GROUPS.contains(&group) {
            return Err(PatternError::Group {
                name: rule.name.clone(),
                group: group.to_owned(),
            });
        }
        cites |= matches!(group, "id" | "name" | "number");
    }
    if !cites {
        return Err(PatternError::NothingCited(rule.name.clone()));
    }
    if regex.is_match("") {
        return Err(PatternError::Empty(rule.name.clone()));
    }
    Ok(regex)
}

/// Returns the number of a source. A larger one than an SQL integer can be counts as the largest, so that it is a number without a source.
fn number(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX).min(LARGEST_INTEGER))
}

/// Returns the reference that the groups of a match name; `None` if none of them matched.
fn reference(captures: &Captures<'_>) -> Option<Reference> {
    let group = |name| {
        let text = captures.name(name)?.as_str().trim();
        (!text.is_empty()).then_some(text)
    };
    let at = group("pages")
        .or_else(|| group("page"))
        .and_then(position::claimed)
        .unwrap_or_default();
    if let Some(number) = group("number").and_then(number) {
        return Some(Reference::Ordinal { number, at });
    }
    if let Some(id) = group("id") {
        return Some(Reference::Id {
            id: id.to_owned(),
            at,
        });
    }
    let name = group("name")?.to_owned();
    Some(Reference::Document { name, at })
}
