//! Links of a conversation's hash chain.

use sha2::{Digest as _, Sha256};

use crate::encoding::{Field, record};
use crate::tree::{leaf, root};
use crate::{Digest, Salt};

/// Prefix of a link's bytes, different from the prefixes of leaves and nodes.
const LINK: [u8; 1] = [2];

/// The digest before the first link of a conversation.
pub const CHAIN_START: Digest = [0; 32];

/// The kind of event that a link records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// A question and the sources shown for it.
    Turn,
    /// A later retrieval within the turn, or passages added to it, and the new sources.
    Retrieval,
    /// An answer and the verdicts on its citations.
    Answer,
}

impl LinkKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Turn, Self::Answer, Self::Retrieval];

    /// Returns the stable name that is stored and shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Retrieval => "retrieval",
            Self::Answer => "answer",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the record label of a leaf, by its position from 1.
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

    /// Returns the display name of a leaf: its label, with a number when several leaves have this label.
    #[must_use]
    pub fn leaf_name(self, position: usize) -> String {
        let label = self.label(position);
        match position.checked_sub(2) {
            Some(number) if number > 0 => format!("{label} {number}"),
            _ => label.to_owned(),
        }
    }
}

/// The fields of a link that its digest covers, besides the leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Id of the conversation.
    pub conversation_id: i64,
    /// Position in the chain, from 1.
    pub link_no: i64,
    /// Tenant of the conversation.
    pub tenant: String,
    /// Kind of the link.
    pub kind: LinkKind,
    /// Id of the turn.
    pub turn_id: i64,
    /// Id of the answer.
    pub message_id: Option<i64>,
    /// Number of the retrieval within the turn.
    pub retrieval_no: Option<i64>,
    /// Creation time, in microseconds since 1970.
    pub at: i64,
}

impl Header {
    /// Returns the digest of the link: a hash over the previous digest, these fields and the leaves.
    #[must_use]
    pub fn digest(&self, previous: &Digest, leaves: &[Digest]) -> Digest {
        let number = |number: i64| number.to_be_bytes();
        // At most one of the two is present, depending on the kind.
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

    /// Returns the leaf hash of the content at a position from 1.
    #[must_use]
    pub fn leaf(&self, position: usize, salt: &Salt, fields: &[Field]) -> Digest {
        let fields = fields.iter().map(Option::as_deref);
        leaf(salt, &record(self.kind.label(position), fields))
    }
}
