//! Documents that prose calls by a title or an alias.

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::citation::ParsedCitation;
use crate::{Form, Reference};

/// Shortest name that is looked for, in characters: shorter ones stand in every text.
const SHORTEST: usize = 2;
/// Longest name that is looked for, in bytes.
const LONGEST: usize = 200;
/// Most names that are looked for.
const MOST: usize = 10_000;
/// How prose counts sources.
const POSITIONS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];
/// What prose calls them.
const UNITS: [&str; 6] = [
    "source", "document", "passage", "section", "article", "excerpt",
];

/// A document that prose may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentTitle {
    /// What citations of it resolve by: an id, a title or an address. Looked for as well.
    pub name: String,
    /// What else it is called.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// The names, ready to be found in one pass.
#[derive(Clone, Debug)]
pub(crate) struct Mentions {
    finder: AhoCorasick,
    /// By name in the finder: what is cited.
    names: Vec<String>,
}

impl Mentions {
    /// `None` without a name that is long enough.
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

    /// Every mention in a stretch of text that begins at `offset`, as a word of its own.
    pub(crate) fn matches(
        &self,
        stretch: &str,
        offset: usize,
        mut found: impl FnMut(Range<usize>, ParsedCitation),
    ) {
        for hit in self.finder.find_iter(stretch) {
            let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = stretch[..hit.start()].chars().next_back();
            let after = stretch[hit.end()..].chars().next();
            // Scripts without spaces join everything.
            let spaced = stretch[hit.range()].is_ascii();
            if spaced && (joined(before) || joined(after)) {
                continue;
            }
            let name = self.names[hit.pattern().as_usize()].clone();
            let inside = ParsedCitation::one(Form::Mention, Reference::Mention { name });
            found(offset + hit.start()..offset + hit.end(), inside);
        }
    }
}
