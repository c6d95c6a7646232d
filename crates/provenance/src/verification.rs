//! What of a chain, and of what it was made of, is still as it was.

use crate::encoding::Field;
use crate::link::{BEGINNING, Header, Kind};
use crate::{Digest, Salt};

/// A link as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it says of itself.
    pub header: Header,
    /// By position; `None` where the content was erased.
    pub salts: Vec<Option<Salt>>,
    /// The hashes of its contents.
    pub leaves: Vec<Digest>,
    /// The digest of the link before.
    pub previous: Digest,
    /// Its own.
    pub digest: Digest,
}

/// The content of a link as it stands now: fields by position from 1. Positions may be missing; one that none of its leaves can have,
/// as 0, was added.
pub type Content = Vec<(usize, Vec<Field>)>;

/// What is to be said of a link. The worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It does not follow from the link before, or is not what it was.
    ChainBroken,
    /// It is gone, or what it is about.
    Missing,
    /// What it is about is not what it was.
    ContentChanged,
    /// Some of what it is about was erased; the rest is what it was.
    ContentErased,
    /// All is as it was.
    Ok,
}

impl Status {
    /// The stable text that is shown.
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

/// What was found of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its position in the chain; `None` of what has no link.
    pub link_no: Option<i64>,
    /// The worst that is to be said.
    pub status: Status,
    /// All that is to be said; empty where all is as it was.
    pub detail: String,
}

/// Goes along a chain, link by link.
#[derive(Clone, Debug)]
pub struct Verifier {
    /// Whose conversation it is.
    tenant: String,
    last: i64,
    /// What the next link may say that the last one had: its digest as it is stored, and as it follows from its fields. Where
    /// they differ, the last one is at fault and not the next.
    digests: [Digest; 2],
}

impl Verifier {
    /// Begins, in the conversation of a tenant, after a link of that number and digest: 0 and [`crate::link::BEGINNING`], or a checkpoint.
    #[must_use]
    pub fn after(tenant: &str, link_no: i64, digest: Digest) -> Self {
        Self {
            tenant: tenant.to_owned(),
            last: link_no,
            digests: [digest; 2],
        }
    }

    /// Holds the next link of the chain against the one before and against what it is about. Its finding comes last, after
    /// one for each link that is missing before it. Links come by their numbers.
    pub fn check(&mut self, link: &Link, content: &Content) -> Vec<Finding> {
        let number = link.header.link_no;
        let mut findings = self.gap(number);
        let follows = findings.is_empty();
        let mut said = content_faults(link, content);
        if follows && !self.digests.contains(&link.previous) {
            said.push((
                Status::ChainBroken,
                "it does not follow from the link before".to_owned(),
            ));
        }
        let computed = link.header.digest(&link.previous, &link.leaves);
        if computed != link.digest || link.salts.len() != link.leaves.len() {
            said.push((
                Status::ChainBroken,
                "its digest is not that of its fields".to_owned(),
            ));
        }
        if link.header.tenant != self.tenant {
            said.push((
                Status::ChainBroken,
                format!(
                    "the conversation is {}'s, the link {}'s",
                    self.tenant, link.header.tenant
                ),
            ));
        }
        self.last = number;
        self.digests = [link.digest, computed];
        findings.push(finding(number, said));
        findings
    }

    /// What is to be said when all links have come, of which the conversation says how many there are and what the last digest is.
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

    /// A finding for each link before that of a number, and after the last that came.
    fn gap(&self, number: i64) -> Vec<Finding> {
        let missing = self.last.saturating_add(1)..number;
        let gone = |number| {
            let said = (Status::Missing, "the link is gone".to_owned());
            finding(number, vec![said])
        };
        // A chain that claims millions of missing links says so with the first of them.
        missing.take(1000).map(gone).collect()
    }
}

/// Where a verification begins: the number and the digest of the link before the first.
///
/// After the latest checkpoint before the first link that is kept; where there is none, at the beginning. Whatever is missing
/// between the two was not removed by retention.
#[must_use]
pub fn start(checkpoints: &[(i64, Digest)], first: Option<i64>) -> (i64, Digest) {
    let before_first = checkpoints
        .iter()
        .filter(|(number, _)| first.is_none_or(|first| *number < first));
    let latest = before_first.max_by_key(|(number, _)| *number);
    latest.copied().unwrap_or((0, BEGINNING))
}

/// What was asked, shown or answered in a turn that should have a link, and has none.
#[must_use]
pub fn unlinked(kind: Kind) -> Finding {
    let detail = match kind {
        Kind::Turn => "the turn has no link",
        Kind::Retrieval => "a retrieval of the turn has no link",
        Kind::Answer => "the answer has no link",
    };
    Finding {
        link_no: None,
        status: Status::Missing,
        detail: detail.to_owned(),
    }
}

/// What is wrong with the content of a link.
fn content_faults(link: &Link, content: &Content) -> Vec<(Status, String)> {
    let kind = link.header.kind;
    let mut said = Vec::new();
    let standing = |position: usize| content.iter().find(|(at, _)| *at == position);
    let kept = link.salts.iter().any(Option::is_some);
    if kept && standing(1).is_none() {
        let what = match kind {
            Kind::Turn => "its turn is gone",
            Kind::Retrieval => "its retrieval is gone",
            Kind::Answer => "its answer is gone",
        };
        said.push((Status::Missing, what.to_owned()));
        return said;
    }
    for (position, (salt, leaf)) in (1..).zip(link.salts.iter().zip(&link.leaves)) {
        let name = || kind.leaf_name(position);
        match (salt, standing(position)) {
            (None, _) => said.push((Status::ContentErased, format!("{} was erased", name()))),
            (Some(_), None) => said.push((Status::ContentChanged, format!("{} is gone", name()))),
            (Some(salt), Some((_, fields))) => {
                if link.header.leaf(position, salt, fields) != *leaf {
                    said.push((Status::ContentChanged, format!("{} was changed", name())));
                }
            }
        }
    }
    for (position, _) in content {
        if !(1..=link.leaves.len()).contains(position) {
            let name = kind.leaf_name(*position);
            said.push((Status::ContentChanged, format!("{name} was added")));
        }
    }
    said
}

fn finding(link_no: i64, said: Vec<(Status, String)>) -> Finding {
    let status = said.iter().map(|(status, _)| *status).min();
    let detail: Vec<String> = said.into_iter().map(|(_, detail)| detail).collect();
    Finding {
        link_no: Some(link_no),
        status: status.unwrap_or(Status::Ok),
        detail: detail.join("; "),
    }
}
