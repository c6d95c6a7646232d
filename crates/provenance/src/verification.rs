//! Verification: finds links of a chain that are missing or changed, and contents that were changed or erased.

use crate::encoding::Field;
use crate::link::{CHAIN_START, Header, LinkKind};
use crate::{Digest, Salt};

/// A stored link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The fields that the digest covers.
    pub header: Header,
    /// Salts by position; `None` for an erased content.
    pub salts: Vec<Option<Salt>>,
    /// Hashes of the contents.
    pub leaves: Vec<Digest>,
    /// The digest of the previous link.
    pub previous_digest: Digest,
    /// The digest of this link.
    pub digest: Digest,
}

/// The current content of a link: fields by position from 1. Positions may be missing. A position that no leaf can have, such as
/// 0, marks a row that was added.
pub type Content = Vec<(usize, Vec<Field>)>;

/// Status of a link, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The link does not follow from the previous one, or its fields were changed.
    ChainBroken,
    /// The link or its content is missing.
    Missing,
    /// Some content was changed.
    ContentChanged,
    /// Some content was erased. The rest is unchanged.
    ContentErased,
    /// Everything is unchanged.
    Ok,
}

impl Status {
    /// Returns the stable name that is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ChainBroken => "chain_broken",
            Self::Missing => "missing",
            Self::ContentChanged => "content_changed",
            Self::ContentErased => "content_erased",
            Self::Ok => "ok",
        }
    }
}

/// Result of verifying one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Position in the chain; `None` for a row without a link.
    pub link_no: Option<i64>,
    /// The worst status.
    pub status: Status,
    /// All faults, separated by "; ". Empty when there are none.
    pub detail: String,
}

/// Verifies a chain link by link.
#[derive(Clone, Debug)]
pub struct Verifier {
    /// Tenant of the conversation.
    tenant: String,
    last: i64,
    /// The digests that the next link may have as its previous one: the stored digest of the last link, and the digest computed
    /// from its fields. If they differ, only the last link is reported.
    digests: [Digest; 2],
}

impl Verifier {
    /// Creates a verifier that starts after the link with this number and digest: 0 and [`CHAIN_START`], or a checkpoint.
    #[must_use]
    pub fn after(tenant: &str, link_no: i64, digest: Digest) -> Self {
        Self {
            tenant: tenant.to_owned(),
            last: link_no,
            digests: [digest; 2],
        }
    }

    /// Verifies the next link of the chain against the previous one and against its content. Links must be passed in order of
    /// their numbers. Returns a finding for each missing link before this one, then the finding of this link.
    pub fn check(&mut self, link: &Link, content: &Content) -> Vec<Finding> {
        let number = link.header.link_no;
        let mut findings = self.gap(number);
        let follows = findings.is_empty();
        let mut faults = content_faults(link, content);
        if follows && !self.digests.contains(&link.previous_digest) {
            faults.push((
                Status::ChainBroken,
                "it does not follow from the link before".to_owned(),
            ));
        }
        let computed = link.header.digest(&link.previous_digest, &link.leaves);
        if computed != link.digest || link.salts.len() != link.leaves.len() {
            faults.push((
                Status::ChainBroken,
                "its digest is not that of its fields".to_owned(),
            ));
        }
        if link.header.tenant != self.tenant {
            faults.push((
                Status::ChainBroken,
                format!(
                    "the conversation is {}'s, the link {}'s",
                    self.tenant, link.header.tenant
                ),
            ));
        }
        self.last = number;
        self.digests = [link.digest, computed];
        findings.push(finding(number, faults));
        findings
    }

    /// Ends the verification. `length` and `head` are the number of links and the last digest that the conversation's row stores.
    #[must_use]
    pub fn finish(self, length: i64, head: Option<Digest>) -> Vec<Finding> {
        let missing = self.gap(length.saturating_add(1));
        if !missing.is_empty() {
            return missing;
        }
        let beyond = self.last > length;
        let ends = match head {
            Some(head) => self.digests.contains(&head),
            None => length == 0,
        };
        if !beyond && ends {
            return Vec::new();
        }
        let detail = if beyond {
            format!("the conversation has {length} links only")
        } else {
            "the conversation ends with another digest".to_owned()
        };
        vec![finding(self.last, vec![(Status::ChainBroken, detail)])]
    }

    /// Returns a finding for each missing link between the last one and `number`.
    fn gap(&self, number: i64) -> Vec<Finding> {
        let missing = self.last.saturating_add(1)..number;
        let gone = |number| {
            let faults = vec![(Status::Missing, "the link is gone".to_owned())];
            finding(number, faults)
        };
        // A manipulated chain can claim millions of missing links. The first 1000 are enough.
        missing.take(1000).map(gone).collect()
    }
}

/// Returns where a verification starts: the number and the digest of the link before the first one.
///
/// This is the latest checkpoint before the first remaining link, or the start of the chain. Links missing after that point were
/// not removed by retention.
#[must_use]
pub fn start(checkpoints: &[(i64, Digest)], first: Option<i64>) -> (i64, Digest) {
    let before_first = checkpoints
        .iter()
        .filter(|(number, _)| first.is_none_or(|first| *number < first));
    let latest = before_first.max_by_key(|(number, _)| *number);
    latest.copied().unwrap_or((0, CHAIN_START))
}

/// Returns the finding for a turn, retrieval or answer that should have a link and has none.
#[must_use]
pub fn unlinked(kind: LinkKind) -> Finding {
    let detail = match kind {
        LinkKind::Turn => "the turn has no link",
        LinkKind::Retrieval => "a retrieval of the turn has no link",
        LinkKind::Answer => "the answer has no link",
    };
    Finding {
        link_no: None,
        status: Status::Missing,
        detail: detail.to_owned(),
    }
}

/// Returns the faults of a link's content.
fn content_faults(link: &Link, content: &Content) -> Vec<(Status, String)> {
    let kind = link.header.kind;
    let mut faults = Vec::new();
    let current = |position: usize| content.iter().find(|(at, _)| *at == position);
    let kept = link.salts.iter().any(Option::is_some);
    if kept && current(1).is_none() {
        let what = match kind {
            LinkKind::Turn => "its turn is gone",
            LinkKind::Retrieval => "its retrieval is gone",
            LinkKind::Answer => "its answer is gone",
        };
        faults.push((Status::Missing, what.to_owned()));
        return faults;
    }
    for (position, (salt, leaf)) in (1..).zip(link.salts.iter().zip(&link.leaves)) {
        let name = || kind.leaf_name(position);
        match (salt, current(position)) {
            (None, _) => faults.push((Status::ContentErased, format!("{} was erased", name()))),
            (Some(_), None) => faults.push((Status::ContentChanged, format!("{} is gone", name()))),
            (Some(salt), Some((_, fields))) => {
                if link.header.leaf(position, salt, fields) != *leaf {
                    faults.push((Status::ContentChanged, format!("{} was changed", name())));
                }
            }
        }
    }
    for (position, _) in content {
        if !(1..=link.leaves.len()).contains(position) {
            let name = kind.leaf_name(*position);
            faults.push((Status::ContentChanged, format!("{name} was added")));
        }
    }
    faults
}

fn finding(link_no: i64, faults: Vec<(Status, String)>) -> Finding {
    let status = faults.iter().map(|(status, _)| *status).min();
    let detail: Vec<String> = faults.into_iter().map(|(_, detail)| detail).collect();
    Finding {
        link_no: Some(link_no),
        status: status.unwrap_or(Status::Ok),
        detail: detail.join("; "),
    }
}
