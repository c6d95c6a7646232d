//! What is read as a citation: the families that are on, and what a corpus or a caller adds to them as data.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::bracket_numbers::BracketNumbers;
use super::mentions::{DocumentTitle, Mentions};
use super::patterns::{PatternError, PatternRule, Patterns};
use crate::Families;
use crate::locators::{LocatorSchema, Locators, SchemaError};

/// A grammar as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrammarRules {
    /// The families that are on.
    pub families: Families,
    /// The user's own patterns, in order: where two match at one place, the first counts.
    pub patterns: Vec<PatternRule>,
    /// How places of the corpus are written, where they are more than pages.
    pub locators: Option<LocatorSchema>,
    /// Documents that prose may call by name.
    pub titles: Vec<DocumentTitle>,
    /// Whether prose may also call the sources of a context by their titles. Off by default: a title is often a word like any
    /// other.
    pub context_titles: bool,
    /// Whether prose may also count `titles`: `the second source`, `the first document`.
    pub positions: bool,
    /// Ids of which the first 7 or 8 characters are a citation although they are not plainly hexadecimal.
    pub ids: Vec<String>,
}

/// A grammar that is ready to read with. The default reads every family and costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    pub(crate) families: Families,
    pub(crate) patterns: Patterns,
    pub(crate) locators: Option<Locators>,
    pub(crate) mentions: Option<Mentions>,
    pub(crate) short_ids: BTreeSet<String>,
    pub(crate) numbers: BracketNumbers,
}

/// Why rules make no grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// A pattern of the user's.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The schema of locators.
    #[error(transparent)]
    Locators(#[from] SchemaError),
    /// Titles too many or too long to be looked for together.
    #[error("the titles cannot be looked for together: {0}")]
    Titles(String),
}

impl GrammarRules {
    /// The rules for an answer to a context with these titles, in its order.
    #[must_use]
    pub fn with_context<'a>(&self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut rules = self.clone();
        if self.context_titles {
            rules
                .titles
                .extend(titles.into_iter().map(|name| DocumentTitle {
                    name: name.to_owned(),
                    aliases: Vec::new(),
                }));
        }
        rules
    }
}

impl Grammar {
    /// Checks and compiles rules.
    ///
    /// # Errors
    /// A pattern, a schema or titles that cannot be read with.
    pub fn new(rules: &GrammarRules) -> Result<Self, GrammarError> {
        let short = |id: &String| [7, 8].map(|length| id.chars().take(length).collect::<String>());
        Ok(Self {
            families: rules.families,
            patterns: Patterns::new(&rules.patterns)?,
            locators: rules.locators.as_ref().map(Locators::new).transpose()?,
            mentions: Mentions::new(&rules.titles, rules.positions)
                .map_err(GrammarError::Titles)?,
            short_ids: rules.ids.iter().flat_map(short).collect(),
            numbers: BracketNumbers::default(),
        })
    }

    /// The same for an answer whose sources have these numbers: of [`LONG_NUMBERS`], those are read too.
    #[must_use]
    pub fn numbering(mut self, sources: impl IntoIterator<Item = u32>) -> Self {
        self.numbers.extend(sources);
        self
    }

    /// The locators of the corpus, for reading those of its passages.
    pub fn locators(&self) -> Option<&Locators> {
        self.locators.as_ref()
    }
}

impl From<Families> for Grammar {
    fn from(families: Families) -> Self {
        Self {
            families,
            ..Self::default()
        }
    }
}

impl<'a> From<&'a Grammar> for Cow<'a, Grammar> {
    fn from(grammar: &'a Grammar) -> Self {
        Cow::Borrowed(grammar)
    }
}

impl<'a> From<&'a Families> for Cow<'a, Grammar> {
    fn from(families: &'a Families) -> Self {
        Cow::Owned(Grammar::from(*families))
    }
}
