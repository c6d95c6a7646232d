//! Finds the entities that a conversation repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Text;

/// The texts of a conversation: this turn's question, and the questions and answers of earlier turns.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationText {
    now: Vec<Text>,
    earlier: Vec<Vec<Text>>,
}

/// The turns that name an entity.
#[derive(Clone, Copy, Default)]
struct NamedIn {
    now: bool,
    earlier: usize,
}

impl NamedIn {
    /// An entity repeats if this turn and an earlier one name it. If this turn continues the subject, two earlier turns
    /// are enough: "and when did they marry?" names no one.
    fn repeats(self, continues: bool) -> bool {
        (self.now && self.earlier > 0) || (continues && self.earlier > 1)
    }
}

impl ConversationText {
    /// The texts of this turn (the question and its rewrite) and of each earlier one (question and answer). Only the
    /// first 256 words and marks of each text are used. Linear in the texts.
    #[must_use]
    pub fn new<'a>(
        now: impl IntoIterator<Item = &'a str>,
        earlier: impl IntoIterator<Item = Vec<&'a str>>,
    ) -> Self {
        let texts = |turn: Vec<&str>| turn.into_iter().map(Text::new).collect();
        Self {
            now: texts(now.into_iter().collect()),
            earlier: earlier.into_iter().map(texts).collect(),
        }
    }

    /// Every span that could be the normal name of an entity, sorted, for the look-up of entities. Empty without an earlier
    /// turn, because nothing can repeat. At most 3072 for each text.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        if self.earlier.is_empty() {
            return Vec::new();
        }
        let texts = self.now.iter().chain(self.earlier.iter().flatten());
        let keys: BTreeSet<&str> = texts.flat_map(Text::spans).collect();
        keys.into_iter().collect()
    }

    /// The entities that repeat: named in two turns, one of which is this turn unless it continues the subject
    /// (`continues`). Question and answer of a turn count once. Sorted by whether this turn names them, then by
    /// descending number of turns, then by name.
    #[must_use]
    pub fn repeated(&self, entities: &BTreeSet<String>, continues: bool) -> Vec<String> {
        let mut all: BTreeMap<&str, NamedIn> = BTreeMap::new();
        for name in names(&self.now, entities) {
            all.entry(name).or_default().now = true;
        }
        for turn in &self.earlier {
            for name in names(turn, entities) {
                all.entry(name).or_default().earlier += 1;
            }
        }
        let mut repeated: Vec<(&str, NamedIn)> = all
            .into_iter()
            .filter(|(_, named)| named.repeats(continues))
            .collect();
        repeated.sort_by_key(|(name, named)| (!named.now, usize::MAX - named.earlier, *name));
        repeated
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

/// The entities that the texts of a turn name.
fn names<'a>(turn: &[Text], entities: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    turn.iter()
        .flat_map(|text| text.mentions(entities))
        .collect()
}
