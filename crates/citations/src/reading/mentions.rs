//! Finds titles and aliases of documents in prose.

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::citation::ParsedCitation;
use crate::{Form, Reference};

/// Shortest name, in characters. Shorter names occur in every text.
const SHORTEST: usize = 2;
/// Longest name, in bytes.
const LONGEST: usize = 200;
/// Largest number of names.
const MOST: usize = 10_000;
/// Ordinals of sources in prose.
const POSITIONS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];
/// Nouns for sources in prose.
const UNITS: [&str; 6] = [
    "source", "document", "passage", "section", "article", "excerpt",
];

/// A document that prose may mention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentTitle {
    /// The name that its citations resolve by: an id, a title or an address. The text is searched for it too.
    pub name: String,
    /// Other names.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// A searcher for all names in one pass.
#[derive(Clone, Debug)]
pub(crate) struct Mentions {
    finder: AhoCorasick,
    /// For each searched name, the name that it cites.
    names: Vec<String>,
}

impl Mentions {
    /// Returns `None` if no name is long enough.
    pub(crate) fn new(titles: &[DocumentTitle], positions: bool) -> Result<Option<Self>, String> {
        let mut spelled = Vec::new();
        let mut names = Vec::new();
        for (number, titled) in titles.iter().enumerate() {
            let counted = POSITIONS
                .get(number)
                .filter(|_| positions)
                .into_iter()
                .flat_map(|position| UNITS.map(|unit| format!("{position} {unit}")));
            let own = std::iter::once(&titled.name).chain(&titled.aliases);
            for name in own.cloned().chain(counted) {
                let name = name.trim();
                if name.chars().count() >= SHORTEST && name.len() <= LONGEST {
                    spelled.push(name.to_owned());
                    names.push(titled.name.clone());
                }
            }
        }
        if spelled.len() > MOST {
            return Err(format!("{} names, at most {MOST}", spelled.len()));
        }
        if spelled.is_empty() {
            return Ok(None);
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(&spelled)
            .map_err(|error| error.to_string())?;
        Ok(Some(Self { finder, names }))
    }

    /// Finds all mentions in a part of a text that begins at `offset`. A mention must be separate words.
    pub(crate) fn matches(
        &self,
        text: &str,
        offset: usize,
        mut found: impl FnMut(Range<usize>, ParsedCitation),
    ) {
        for hit in self.finder.find_iter(text) {
            let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = text[..hit.start()].chars().next_back();
            let after = text[hit.end()..].chars().next();
            // Scripts without spaces do not separate words.
            let spaced = text[hit.range()].is_ascii();
            if spaced && (joined(before) || joined(after)) {
                continue;
            }
            let name = self.names[hit.pattern().as_usize()].clone();
            let inside = ParsedCitation::one(Form::Mention, Reference::Mention { name });
            found(offset + hit.start()..offset + hit.end(), inside);
        }
    }
}
