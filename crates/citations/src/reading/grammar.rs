//! The grammar of citations: the families that are on, and the additions of a corpus or a caller.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::bracket_numbers::BracketNumbers;
use super::forms::fold;
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
    /// Patterns of the user. If two match at one position, the first in this order is used.
    pub patterns: Vec<PatternRule>,
    /// The notation of places, for a corpus with more than pages.
    pub locators: Option<LocatorSchema>,
    /// Documents that prose may mention by name.
    pub titles: Vec<DocumentTitle>,
    /// Whether prose may also mention the sources of the context by title. Off by default, because many titles are
    /// ordinary words.
    pub context_titles: bool,
    /// Whether prose may also count `titles`: `the second source`, `the first document`.
    pub positions: bool,
    /// Ids whose first 7 or 8 characters are a citation even if they are not hexadecimal.
    pub ids: Vec<String>,
}

/// A compiled grammar. The default reads all families and needs no compilation.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    pub(crate) families: Families,
    pub(crate) patterns: Patterns,
    pub(crate) locators: Option<Locators>,
    pub(crate) mentions: Option<Mentions>,
    pub(crate) short_ids: BTreeSet<String>,
    pub(crate) names: BTreeSet<String>,
    pub(crate) numbers: BracketNumbers,
}

/// The reason why rules are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// A pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The locator schema is invalid.
    #[error(transparent)]
    Locators(#[from] SchemaError),
    /// There are too many titles, or they are too long.
    #[error("cannot search for the titles: {0}")]
    Titles(String),
}

impl GrammarRules {
    /// Returns the rules for an answer to a context with these titles, in the order of the context.
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
    /// The first invalid pattern, the schema, or the titles.
    pub fn new(rules: &GrammarRules) -> Result<Self, GrammarError> {
        let short = |id: &String| [7, 8].map(|length| id.chars().take(length).collect::<String>());
        Ok(Self {
            families: rules.families,
            patterns: Patterns::new(&rules.patterns)?,
            locators: rules.locators.as_ref().map(Locators::new).transpose()?,
            mentions: Mentions::new(&rules.titles, rules.positions)
                .map_err(GrammarError::Titles)?,
            short_ids: rules.ids.iter().flat_map(short).collect(),
            names: BTreeSet::new(),
            numbers: BracketNumbers::default(),
        })
    }

    /// Returns the grammar for an answer whose sources have these numbers. Those in
    /// [`LONG_NUMBERS`](crate::LONG_NUMBERS) are read too.
    #[must_use]
    pub fn numbering(mut self, sources: impl IntoIterator<Item = u32>) -> Self {
        self.numbers.extend(sources);
        self
    }

    /// Returns the grammar for an answer whose sources have these names: ids and titles of documents. One of them in brackets is
    /// a citation. Names of one character or without a letter are left out, because brackets often contain such texts.
    #[must_use]
    pub fn naming<'a>(mut self, sources: impl IntoIterator<Item = &'a str>) -> Self {
        let cites =
            |name: &&str| name.chars().nth(1).is_some() && name.contains(char::is_alphabetic);
        let names = sources.into_iter().map(str::trim).filter(cites);
        self.names.extend(names.map(|name| fold(name).into_owned()));
        self
    }

    /// The locators of the corpus, to parse those of its passages.
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
