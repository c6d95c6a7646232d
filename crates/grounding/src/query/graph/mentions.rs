//! Which nodes a conversation keeps naming.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Text;

/// What was said in the turns in view: this turn's question, and questions and answers of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationText {
    now: Vec<Text>,
    earlier: Vec<Vec<Text>>,
}

/// In which turns a node is named.
#[derive(Clone, Copy, Default)]
struct NamedIn {
    now: bool,
    earlier: usize,
}

impl NamedIn {
    /// A node repeats if this turn names it after an earlier one did, or, where this turn goes on with the subject, if two
    /// earlier ones did: "and when did they marry?" names nobody.
    fn repeats(self, goes_on: bool) -> bool {
        (self.now && self.earlier > 0) || (goes_on && self.earlier > 1)
    }
}

impl ConversationText {
    /// From the texts of this turn (the question, a rewrite of it) and of each earlier one (question, answer). Of each text
    /// the first 256 words and marks count. Linear in the texts.
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

    /// Every stretch that could be the normal name of a node, sorted: what the nodes are looked up by. None where there is
    /// no earlier turn that anything could repeat from. At most 3072 for each text.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        if self.earlier.is_empty() {
            return Vec::new();
        }
        let texts = self.now.iter().chain(self.earlier.iter().flatten());
        let keys: BTreeSet<&str> = texts.flat_map(Text::stretches).collect();
        keys.into_iter().collect()
    }

    /// The nodes that repeat, of those that there are: named in two turns, of which one is this turn or, where this turn
    /// `goes_on` with the subject, none has to be. Question and answer of a turn count once. Those that this turn names
    /// first, then by the number of turns, then by name.
    #[must_use]
    pub fn repeated(&self, nodes: &BTreeSet<String>, goes_on: bool) -> Vec<String> {
        let mut all: BTreeMap<&str, NamedIn> = BTreeMap::new();
        for name in names(&self.now, nodes) {
            all.entry(name).or_default().now = true;
        }
        for turn in &self.earlier {
            for name in names(turn, nodes) {
                all.entry(name).or_default().earlier += 1;
            }
        }
        let mut repeated: Vec<(&str, NamedIn)> = all
            .into_iter()
            .filter(|(_, named)| named.repeats(goes_on))
            .collect();
        repeated.sort_by_key(|(name, named)| (!named.now, usize::MAX - named.earlier, *name));
        repeated
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

/// The nodes that the texts of a turn name.
fn names<'a>(turn: &[Text], nodes: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    turn.iter().flat_map(|text| text.mentions(nodes)).collect()
}
