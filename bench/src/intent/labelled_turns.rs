//! Turns with intent labels, derived from conversations and judgements.
//!
//! A later turn is *same sources* if a passage relevant to it was relevant in one of the last three turns (as long as a source is
//! remembered). It is *drill down* if only a document of its passages had a relevant passage there. Otherwise it continues
//! *elsewhere*, which is no new topic either. A *new topic* is a turn of another conversation that replaces every second such turn.
//! It must be understood alone, so it is a first question or a stand-alone rewrite, alternating between the same corpus and the
//! other. The other conversation shares no relevant document with this one and is in the same fold.

use super::conversations::{Conversation, Library, Question, Turn};
use crate::statistics::folds::fold;
use crate::statistics::random::SplitMix;

/// Turns for which a source is remembered.
const REMEMBERED: u32 = 3;
/// Seed of the splices.
const SEED: u64 = 6;

/// The true label of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A turn of another conversation.
    NewTopic,
    /// Same document, other passage.
    DrillDown,
    /// Same passage.
    SameSources,
    /// Same conversation, other document.
    Elsewhere,
}

/// The origin of a new topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpliceKind {
    /// The first question of a conversation.
    Opening,
    /// The stand-alone rewrite of any turn.
    Rewrite,
    /// The user's words of any turn; often nothing shows that they belong to another conversation.
    Verbatim,
}

impl SpliceKind {
    /// All variants, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Opening, Self::Rewrite, Self::Verbatim];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening question",
            Self::Rewrite => "any turn, rewritten to stand alone",
            Self::Verbatim => "any turn, unchanged",
        }
    }

    fn of(self, turn: &Turn) -> Option<&Question> {
        match self {
            Self::Opening => Some(&turn.question).filter(|_| turn.number == 1),
            Self::Rewrite => turn.rewrite.as_ref(),
            Self::Verbatim => Some(&turn.question),
        }
        .filter(|question| question.embedding.is_some() && !turn.comparative)
    }
}

/// A labelled turn.
#[derive(Clone, Copy)]
pub struct Example<'a> {
    /// The conversation.
    pub conversation: &'a Conversation,
    /// Earlier turns.
    pub earlier: &'a [Turn],
    /// The question.
    pub question: &'a Question,
    /// The true label.
    pub label: Label,
    /// The turn; `None` for a spliced question.
    pub turn: Option<&'a Turn>,
    /// The origin of a spliced question, and whether it is from the same corpus.
    pub splice: Option<(SpliceKind, bool)>,
}

/// The later turns with a label and an embedding, without comparisons, which have their own label.
pub fn later_turns<'a>(
    libraries: &[Library],
    conversations: &'a [Conversation],
) -> Vec<Example<'a>> {
    let mut examples = Vec::new();
    for conversation in conversations {
        let Some(library) = libraries
            .iter()
            .find(|l| l.corpus.domain == conversation.domain)
        else {
            continue;
        };
        for (at, turn) in conversation.turns.iter().enumerate().skip(1) {
            let earlier = &conversation.turns[..at];
            if turn.cited.is_empty() || turn.question.embedding.is_none() || turn.comparative {
                continue;
            }
            examples.push(Example {
                conversation,
                earlier,
                question: &turn.question,
                label: label(library, earlier, turn),
                turn: Some(turn),
                splice: None,
            });
        }
    }
    examples
}

fn label(library: &Library, earlier: &[Turn], turn: &Turn) -> Label {
    let remembered = || {
        let recent = |past: &&Turn| past.number + REMEMBERED >= turn.number;
        earlier.iter().filter(recent)
    };
    let documents = library.documents_of(&turn.cited);
    if remembered().any(|past| !past.cited.is_disjoint(&turn.cited)) {
        Label::SameSources
    } else if remembered().any(|past| !library.documents_of(&past.cited).is_disjoint(&documents)) {
        Label::DrillDown
    } else {
        Label::Elsewhere
    }
}

/// New topics that replace later turns, one of `one_in`: each of `kinds` in turn, first from the same corpus, then from the other.
pub fn new_topics<'a>(
    libraries: &[Library],
    conversations: &'a [Conversation],
    places: &[Example<'a>],
    kinds: &[SpliceKind],
    one_in: usize,
) -> Vec<Example<'a>> {
    let mut random = SplitMix(SEED);
    let mut spliced = Vec::new();
    for (n, place) in places.iter().step_by(one_in).enumerate() {
        let here = (n / kinds.len()).is_multiple_of(2);
        let kind = kinds[n % kinds.len()];
        let questions: Vec<&Question> = conversations
            .iter()
            .filter(|other| (other.domain == place.conversation.domain) == here)
            .filter(|other| fold(&other.id) == fold(&place.conversation.id))
            .filter(|other| foreign(libraries, place.conversation, other))
            .flat_map(|other| other.turns.iter().filter_map(|turn| kind.of(turn)))
            .collect();
        if let Some(question) = random.choose(&questions) {
            spliced.push(Example {
                question,
                label: Label::NewTopic,
                turn: None,
                splice: Some((kind, here)),
                ..*place
            });
        }
    }
    spliced
}

/// Whether two conversations share no relevant document.
fn foreign(libraries: &[Library], one: &Conversation, other: &Conversation) -> bool {
    if one.domain != other.domain {
        return true;
    }
    let library = libraries.iter().find(|l| l.corpus.domain == one.domain);
    library.is_some_and(|library| {
        let of = |conversation: &Conversation| {
            let cited = conversation.turns.iter().flat_map(|turn| &turn.cited);
            cited.copied().collect()
        };
        let (one, other) = (of(one), of(other));
        library
            .documents_of(&one)
            .is_disjoint(&library.documents_of(&other))
    })
}
