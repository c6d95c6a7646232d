//! Turns with the intent that they have, built from conversations and judgements.
//!
//! A later turn is *same sources* where a passage that is relevant to it was relevant in one of the last three turns
//! (so long a source is remembered), *drill down* where none was but one is of a document that had a relevant passage
//! there, and goes on *elsewhere* where its relevant passages are of other documents: that is neither, but no new topic.
//! A *new topic* is a turn of another conversation, asked in the place of every other such turn. It has to stand alone,
//! so it is an opening question or the stand-alone rewrite of any turn, by turns of the same corpus and of the other;
//! the other conversation shares no relevant document with this one and is of the same fold.

use super::conversations::{Conversation, Library, Question, Turn};
use crate::statistics::folds::fold;
use crate::statistics::random::SplitMix;

/// Turns for which a source is remembered.
const REMEMBERED: u32 = 3;
/// The seed of the splices.
const SEED: u64 = 6;

/// What a turn is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// Spliced in.
    NewTopic,
    /// Same document, other passage.
    DrillDown,
    /// Same passage.
    SameSources,
    /// Same conversation, other document.
    Elsewhere,
}

/// Where a new topic comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpliceKind {
    /// The opening of a conversation.
    Opening,
    /// Any turn, in its stand-alone rewrite.
    Rewrite,
    /// Any turn in the user's words: often nothing tells that it belongs elsewhere.
    Verbatim,
}

impl SpliceKind {
    /// All, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Opening, Self::Rewrite, Self::Verbatim];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening question",
            Self::Rewrite => "any turn, rewritten to stand alone",
            Self::Verbatim => "any turn as it stands",
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

/// A turn that is judged.
#[derive(Clone, Copy)]
pub struct Example<'a> {
    /// The conversation.
    pub conversation: &'a Conversation,
    /// Earlier turns.
    pub earlier: &'a [Turn],
    /// What is asked.
    pub question: &'a Question,
    /// What it is known to be.
    pub label: Label,
    /// The turn that it is; `None` of a spliced one.
    pub turn: Option<&'a Turn>,
    /// Where it comes from if it is spliced in, and whether from the same corpus.
    pub splice: Option<(SpliceKind, bool)>,
}

/// The later turns that have a label by the judgements and an embedding; comparisons have a label of their own.
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

/// New topics in the places of later turns: of each of `kinds` in turn, first from the same corpus, then from the other.
/// A place in `one_in` gets one.
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
        if let Some(question) = random.of(&questions) {
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
