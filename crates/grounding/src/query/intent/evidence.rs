//! Finds the cues of a query and measures its length.

use reground_interrupt::checked;

use super::past_turn::PastTurn;
use crate::query::cues::{Cues, Kind};
use crate::query::entities::{Comparison, comparison};
use crate::query::words::{content_word, unspaced, words};

/// Maximum words of a query that is too short to stand alone after an earlier turn.
const SHORT_QUERY: usize = 3;
/// Content words before a pronoun from which on it refers to the query itself: "where is bone marrow and what does it
/// do".
const ANTECEDENT: usize = 2;
/// The first words of a query, in which an opening such as "what about" counts.
const OPENING: usize = 2;
/// Characters that count as a word in scripts without spaces.
const UNSPACED_PER_WORD: usize = 2;

/// The cues of a query, and its length.
pub(super) struct Evidence {
    pub first_turn: bool,
    pub comparison: Option<Comparison>,
    pub shift: Option<String>,
    pub sources: Option<String>,
    pub pronoun: Option<String>,
    pub continuation: Option<String>,
    pub clarification: Option<String>,
    /// In words, comparable between scripts with and without spaces.
    pub length: usize,
    /// Whether any word carries content.
    pub content: bool,
}

impl Evidence {
    pub fn gather(cues: &Cues, query: &str, earlier: &[PastTurn]) -> Self {
        let text = words(query);
        let cue = |kind| cues.find(&text, kind);
        let opening = |kind| {
            let found =
                cue(kind).filter(|found| found.start < OPENING || text.len() <= SHORT_QUERY);
            found.map(|found| found.cue)
        };
        let pronoun = cue(Kind::Pronoun).filter(|found| {
            let before = text.iter().take(found.start);
            before.filter(|(_, word)| content_word(word, cues)).count() < ANTECEDENT
        });
        Self {
            first_turn: earlier.is_empty(),
            comparison: comparison(query, cues),
            shift: opening(Kind::Shift),
            sources: cue(Kind::Sources).map(|found| found.cue),
            pronoun: pronoun.map(|found| found.cue),
            continuation: opening(Kind::Continuation),
            clarification: opening(Kind::Clarification),
            length: length(query, &text),
            content: checked(&text).any(|(_, word)| content_word(word, cues)),
        }
    }

    /// Members of the comparison in the query; `None` if there is none.
    pub fn compared(&self) -> Option<usize> {
        let comparison = self.comparison.as_ref()?;
        let members = comparison.entities.len();
        (comparison.explicit || members > 1).then_some(members)
    }

    /// Whether the query refers back, by a pronoun or by its opening.
    pub fn points_back(&self) -> bool {
        self.pronoun.is_some() || self.continuation.is_some() || self.clarification.is_some()
    }

    pub fn is_short(&self) -> bool {
        self.length <= SHORT_QUERY
    }

    /// Whether no word of the query names or refers to a subject.
    pub fn lacks_subject(&self) -> bool {
        !self.content && self.pronoun.is_none()
    }

    /// Whether the query cannot stand alone.
    pub fn depends(&self) -> bool {
        self.points_back() || self.sources.is_some() || self.is_short() || !self.content
    }

    /// The cues found, for display.
    pub fn signals(&self) -> Vec<String> {
        let comparison = self
            .comparison
            .as_ref()
            .filter(|_| self.compared().is_some());
        let comparison = comparison.map(|comparison| &comparison.cue);
        if self.first_turn {
            let found = comparison.map(|cue| format!("comparison: {cue}"));
            return std::iter::once("first turn".to_owned())
                .chain(found)
                .collect();
        }
        let cues = [
            ("comparison", comparison),
            ("shift", self.shift.as_ref()),
            ("sources", self.sources.as_ref()),
            ("pronoun", self.pronoun.as_ref()),
            ("continuation", self.continuation.as_ref()),
            ("clarification", self.clarification.as_ref()),
        ];
        let found = cues
            .into_iter()
            .filter_map(|(name, cue)| Some(format!("{name}: {}", cue?)));
        let short = self
            .is_short()
            .then(|| format!("short: {} words", self.length));
        found.chain(short).collect()
    }
}

fn length(query: &str, words: &[(usize, String)]) -> usize {
    let without_spaces = checked(query.chars()).filter(|&c| unspaced(c)).count();
    let spaced = words
        .iter()
        .filter(|(_, word)| !word.chars().any(unspaced))
        .count();
    spaced + without_spaces.div_ceil(UNSPACED_PER_WORD)
}
