//! The locator schema of a corpus: the levels of its places and their notation.

use serde::{Deserialize, Serialize};

/// Limits of a schema.
const MAX_LEVELS: usize = 8;
const MAX_PATTERNS: usize = 32;
const MAX_WORKS: usize = 1_000;
/// Longest pattern or name, in bytes.
const MAX_LENGTH: usize = 200;

/// How places of a corpus are written.
///
/// ```
/// use reground_citations::{Grammar, GrammarRules, LocatorSchema};
///
/// let schema: LocatorSchema = serde_json::from_str(r#"{
///     "levels": ["book", "chapter", "verse"],
///     "patterns": ["{book} {chapter}:{verse}", "{book} {chapter}", "Ch.{chapter} v.{verse}"],
///     "works": [{"name": "Genesis", "abbreviations": ["Gen.", "Gn"]}]
/// }"#).unwrap();
/// let rules = GrammarRules { locators: Some(schema), ..GrammarRules::default() };
/// let grammar = Grammar::new(&rules).unwrap();
/// let place = grammar.locators().unwrap().read("Gen. 1:3-5").unwrap();
/// assert_eq!((place.work.as_deref(), place.start, place.end), (Some("Genesis"), vec![1, 3], vec![1, 5]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocatorSchema {
    /// The levels, outermost first. If there are works, they are the values of the first level, and a place has no
    /// number for it.
    pub levels: Vec<Level>,
    /// Notations of a place: levels in braces and the text between them. White space is optional, and case is
    /// ignored.
    pub patterns: Vec<String>,
    /// The works or books.
    #[serde(default)]
    pub works: Vec<Work>,
    /// Whether Roman numerals are allowed.
    #[serde(default)]
    pub roman: bool,
}

/// A level: a name, or a name and the kind of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A name. The values of a level called `letter` are letters, those of all others are numbers.
    Name(String),
    /// A name and the kind of its values.
    Valued {
        /// The name.
        name: String,
        /// The kind of its values.
        values: Values,
    },
}

/// The kind of values of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Numbers.
    Number,
    /// Letters; `a` is 1.
    Letter,
}

/// A work or book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The name, unique in the schema.
    pub name: String,
    /// Other names. A full stop at the end is optional.
    #[serde(default)]
    pub abbreviations: Vec<String>,
}

/// The reason why a schema is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Nothing, or too many entries.
    #[error(
        "a locator schema needs 1 to {MAX_LEVELS} levels, 1 to {MAX_PATTERNS} patterns and at most {MAX_WORKS} works"
    )]
    Count,
    /// A level without a unique valid name.
    #[error("level {0:?} must have a unique name of letters, digits and _")]
    Level(String),
    /// The name of a work is empty, too long, or belongs to two works.
    #[error("work name {0:?} must have 1 to {MAX_LENGTH} bytes and be unique")]
    Work(String),
    /// A brace without a partner, or a pattern that is too long.
    #[error("pattern {0:?} must have balanced braces and at most {MAX_LENGTH} bytes")]
    Pattern(String),
    /// A level that is unknown, repeated or in the wrong order.
    #[error(
        "level {level:?} of pattern {pattern:?} is unknown or out of order: levels must be in the order of the schema without a gap, and only the level of the works may be omitted"
    )]
    Order {
        /// The pattern.
        pattern: String,
        /// The level.
        level: String,
    },
    /// Two levels of numbers without a separator.
    #[error(
        "pattern {0:?} must have a separator between levels, and a level with numbers or letters"
    )]
    Joined(String),
    /// An error of the regular expression compiler.
    #[error("pattern {pattern:?}: {why}")]
    Compile {
        /// The pattern.
        pattern: String,
        /// The message.
        why: String,
    },
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternPiece {
    /// The text between levels.
    Text(String),
    /// The index of a level.
    Level(usize),
}

impl Level {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Valued { name, .. } => name,
        }
    }

    pub(super) fn values(&self) -> Values {
        match self {
            Self::Name(name) if name == "letter" => Values::Letter,
            Self::Name(_) => Values::Number,
            Self::Valued { values, .. } => *values,
        }
    }
}

impl LocatorSchema {
    /// Returns the index of the first level that has a number in a place.
    pub(super) fn first_counted(&self) -> usize {
        usize::from(!self.works.is_empty())
    }

    /// Checks the schema and splits its patterns.
    pub(super) fn pieces(&self) -> Result<Vec<Vec<PatternPiece>>, SchemaError> {
        let counts = [
            (1..=MAX_LEVELS).contains(&self.levels.len()),
            (1..=MAX_PATTERNS).contains(&self.patterns.len()),
            self.works.len() <= MAX_WORKS,
        ];
        if counts.contains(&false) {
            return Err(SchemaError::Count);
        }
        self.check_levels()?;
        self.check_works()?;
        let patterns = self.patterns.iter();
        patterns.map(|pattern| self.pieces_of(pattern)).collect()
    }

    fn check_levels(&self) -> Result<(), SchemaError> {
        for (number, level) in self.levels.iter().enumerate() {
            let name = level.name();
            let spelled = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            let twice = self.levels[..number]
                .iter()
                .any(|other| other.name() == name);
            if twice || name.is_empty() || !name.bytes().all(spelled) {
                return Err(SchemaError::Level(name.to_owned()));
            }
        }
        Ok(())
    }

    fn check_works(&self) -> Result<(), SchemaError> {
        let mut seen = std::collections::BTreeMap::new();
        for (number, work) in self.works.iter().enumerate() {
            for name in std::iter::once(&work.name).chain(&work.abbreviations) {
                let bare = name.trim_end_matches('.').trim().to_lowercase();
                let fits = !bare.is_empty() && name.len() <= MAX_LENGTH;
                let other = seen.insert(bare, number).filter(|&other| other != number);
                if !fits || other.is_some() {
                    return Err(SchemaError::Work(name.clone()));
                }
            }
        }
        Ok(())
    }

    fn pieces_of(&self, pattern: &str) -> Result<Vec<PatternPiece>, SchemaError> {
        let unreadable = || SchemaError::Pattern(pattern.to_owned());
        if pattern.len() > MAX_LENGTH {
            return Err(unreadable());
        }
        let mut pieces = Vec::new();
        let mut rest = pattern;
        let mut before: Option<usize> = None;
        while let Some((text, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or_else(unreadable)?;
            if text.contains('}') {
                return Err(unreadable());
            }
            let level = self.levels.iter().position(|level| level.name() == name);
            // A pattern may omit the work. A verse without its chapter is not a place.
            let follows = |&level: &usize| match before {
                None => level <= self.first_counted(),
                Some(before) => level == before + 1,
            };
            let Some(level) = level.filter(follows) else {
                return Err(SchemaError::Order {
                    pattern: pattern.to_owned(),
                    level: name.to_owned(),
                });
            };
            if text.is_empty() && before.is_some() {
                return Err(SchemaError::Joined(pattern.to_owned()));
            }
            if !text.is_empty() {
                pieces.push(PatternPiece::Text(text.to_owned()));
            }
            pieces.push(PatternPiece::Level(level));
            before = Some(level);
            rest = after;
        }
        if rest.contains('}') {
            return Err(unreadable());
        }
        if !rest.is_empty() {
            pieces.push(PatternPiece::Text(rest.to_owned()));
        }
        if before.is_none_or(|last| last < self.first_counted()) {
            return Err(SchemaError::Joined(pattern.to_owned()));
        }
        Ok(pieces)
    }
}
