//! A link of a conversation's chain.

use sha2::{Digest as _, Sha256};

use crate::encoding::{Field, record};
use crate::tree::{leaf, root};
use crate::{Digest, Salt};

/// What a link's bytes begin with when they are hashed, as leaves and nodes have their own.
const LINK: [u8; 1] = [2];

/// The digest before the first link of a conversation.
pub const BEGINNING: Digest = [0; 32];

/// What a link is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was asked and shown.
    Turn,
    /// What was searched for or handed over after that, and what it added.
    Retrieval,
    /// What was answered, and the verdicts on its citations.
    Answer,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Turn, Self::Answer, Self::Retrieval];

    /// The stable text that is stored and shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Retrieval => "retrieval",
            Self::Answer => "answer",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What a leaf is, by its position from 1: the label of its record.
    #[must_use]
    pub fn label(self, position: usize) -> &'static str {
        match (self, position) {
            (Self::Turn, 1) => "question",
            (Self::Turn | Self::Retrieval, 2) => "turn",
            (Self::Retrieval, 1) => "retrieval",
            (Self::Turn | Self::Retrieval, _) => "source",
            (Self::Answer, 1) => "answer",
            (Self::Answer, 2) => "verdict",
            (Self::Answer, _) => "citation",
        }
    }

    /// What a leaf is called: its label, with a number of its own where there are several.
    #[must_use]
    pub fn leaf_name(self, position: usize) -> String {
        let label = self.label(position);
        match position.checked_sub(2) {
            Some(number) if number > 0 => format!("{label} {number}"),
            _ => label.to_owned(),
        }
    }
}

/// What a link says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Key of the conversation.
    pub conversation_id: i64,
    /// Position in its chain, from 1.
    pub link_no: i64,
    /// Whose it is.
    pub tenant: String,
    /// What it is about.
    pub kind: Kind,
    /// Key of the turn.
    pub turn_id: i64,
    /// Key of the answer.
    pub message_id: Option<i64>,
    /// Number of the retrieval within the turn.
    pub retrieval_no: Option<i64>,
    /// When it was made, in microseconds since 1970.
    pub at: i64,
}

impl Header {
    /// The digest of the link: over the one before, what it says of itself, and its leaves.
    #[must_use]
    pub fn digest(&self, previous: &Digest, leaves: &[Digest]) -> Digest {
        let number = |number: i64| number.to_be_bytes();
        // One of the two at most; the kind says which.
        let part = self.message_id.or(self.retrieval_no).map(number);
        let record = record(
            "link",
            [
                Some(&number(self.conversation_id)[..]),
                Some(&number(self.link_no)),
                Some(self.tenant.as_bytes()),
                Some(self.kind.name().as_bytes()),
                Some(&number(self.turn_id)),
                part.as_ref().map(|id| &id[..]),
                Some(&number(self.at)),
                Some(&(leaves.len() as u64).to_be_bytes()),
                Some(&root(leaves)),
            ],
        );
        let mut hash = Sha256::new();
        hash.update(LINK);
        hash.update(previous);
        hash.update(record);
        hash.finalize().into()
    }

    /// The leaf of a content at its position from 1.
    #[must_use]
    pub fn leaf(&self, position: usize, salt: &Salt, fields: &[Field]) -> Digest {
        let fields = fields.iter().map(Option::as_deref);
        leaf(salt, &record(self.kind.label(position), fields))
    }
}
