//! Every manipulation of a chain or its contents is found, and an unchanged chain verifies.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use reground_provenance::encoding::{Field, record};
use reground_provenance::link::{CHAIN_START, Header, LinkKind};
use reground_provenance::verification::{Content, Finding, Link, Status, Verifier, unlinked};
use reground_provenance::{Digest, tree};

/// A chain and its contents, as the extension writes them.
#[derive(Clone, Debug)]
struct Chain {
    links: Vec<(Link, Content)>,
}

impl Chain {
    fn new(contents: Vec<Vec<Vec<Field>>>) -> Self {
        let mut links: Vec<(Link, Content)> = Vec::new();
        for (number, fields) in contents.into_iter().enumerate() {
            let header = Header {
                conversation_id: 7,
                link_no: number as i64 + 1,
                tenant: "acme".into(),
                kind: LinkKind::ALL[number % 2],
                turn_id: 100 + number as i64 / 2,
                message_id: (number % 2 == 1).then_some(50),
                retrieval_no: None,
                at: 1_700_000_000_000_000 + number as i64,
            };
            let salts: Vec<_> = (0..fields.len())
                .map(|leaf| Some([(number * 31 + leaf) as u8; 16]))
                .collect();
            let content: Content = (1..).zip(fields).collect();
            let leaves: Vec<Digest> = content
                .iter()
                .zip(&salts)
                .map(|((position, fields), salt)| {
                    header.leaf(*position, salt.as_ref().unwrap_or(&[0; 16]), fields)
                })
                .collect();
            let previous = links.last().map_or(CHAIN_START, |(link, _)| link.digest);
            let digest = header.digest(&previous, &leaves);
            let link = Link {
                header,
                salts,
                leaves,
                previous_digest: previous,
                digest,
            };
            links.push((link, content));
        }
        Self { links }
    }

    fn head(&self) -> (i64, Option<Digest>) {
        let last = self.links.last();
        (
            last.map_or(0, |(link, _)| link.header.link_no),
            last.map(|(link, _)| link.digest),
        )
    }

    /// Verifies the chain against the head that the conversation's row stores.
    fn findings(&self, (length, head): (i64, Option<Digest>)) -> Vec<Finding> {
        let mut verifier = Verifier::after("acme", 0, CHAIN_START);
        let mut findings = Vec::new();
        for (link, content) in &self.links {
            findings.extend(verifier.check(link, content));
        }
        findings.extend(verifier.finish(length, head));
        findings
    }
}

fn faults(findings: &[Finding]) -> Vec<(Option<i64>, Status)> {
    findings
        .iter()
        .filter(|finding| finding.status != Status::Ok)
        .map(|finding| (finding.link_no, finding.status))
        .collect()
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    vec(option::of(vec(any::<u8>(), 0..6)), 1..4)
}

fn chains() -> impl Strategy<Value = Chain> {
    vec(vec(fields(), 2..6), 1..7).prop_map(Chain::new)
}

proptest! {
    #[test]
    fn an_unchanged_chain_verifies(chain in chains()) {
        let findings = chain.findings(chain.head());
        prop_assert_eq!(faults(&findings), vec![]);
        prop_assert_eq!(findings.len(), chain.links.len());
        prop_assert!(findings.iter().all(|finding| finding.detail.is_empty()));
    }

    /// Flips one bit of any field. Only the link of this content is reported.
    #[test]
    fn a_changed_content_is_found(chain in chains(), link in any::<Index>(), leaf in any::<Index>(), field in any::<Index>(), bit in 0u8..8, at in any::<Index>()) {
        let mut changed = chain.clone();
        let number = link.index(changed.links.len());
        let content = &mut changed.links[number].1;
        let leaf = leaf.index(content.len());
        let fields = &mut content[leaf].1;
        let index = field.index(fields.len());
        let field = &mut fields[index];
        match field {
            Some(bytes) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Some(_) => *field = None,
            None => *field = Some(Vec::new()),
        }
        let expected = vec![(Some(number as i64 + 1), Status::ContentChanged)];
        prop_assert_eq!(faults(&changed.findings(chain.head())), expected);
    }

    /// Removes, adds or swaps contents.
    #[test]
    fn removed_added_and_swapped_contents_are_found(chain in chains(), link in any::<Index>(), leaf in any::<Index>(), what in 0..4) {
        let mut changed = chain.clone();
        let number = link.index(changed.links.len());
        let content = &mut changed.links[number].1;
        let leaf = leaf.index(content.len());
        let mut expected = Status::ContentChanged;
        match what {
            0 => {
                content.remove(leaf);
                if leaf == 0 {
                    expected = Status::Missing;
                }
            }
            1 => content.push((content.len() + 1, vec![])),
            // A row with a position that no leaf can have.
            2 => content.insert(0, (0, vec![])),
            _ => {
                let other = (leaf + 1) % content.len();
                prop_assume!(content[leaf].1 != content[other].1);
                let fields = content[leaf].1.clone();
                content[leaf].1 = std::mem::replace(&mut content[other].1, fields);
            }
        }
        prop_assert_eq!(faults(&changed.findings(chain.head())), vec![(Some(number as i64 + 1), expected)]);
    }

    /// Changes any field of a link.
    #[test]
    fn a_changed_link_is_found(chain in chains(), link in any::<Index>(), what in 0..9, leaf in any::<Index>(), bit in 0u8..8, byte in 0usize..32) {
        let mut changed = chain.clone();
        let number = link.index(changed.links.len());
        let link = &mut changed.links[number].0;
        let leaf = leaf.index(link.leaves.len());
        let mut status = Status::ChainBroken;
        match what {
            0 => link.header.conversation_id += 1,
            1 => link.header.tenant.push('x'),
            2 => link.header.kind = LinkKind::ALL[(number + 1) % 2],
            3 => link.header.turn_id -= 1,
            4 => link.header.message_id = link.header.message_id.map_or(Some(1), |_| None),
            5 => link.header.at += 1,
            6 => link.leaves[leaf][byte] ^= 1 << bit,
            7 => link.digest[byte] ^= 1 << bit,
            _ => {
                link.salts[leaf] = Some([0xee; 16]);
                status = Status::ContentChanged;
            }
        }
        let found = faults(&changed.findings(chain.head()));
        prop_assert_eq!(found, vec![(Some(number as i64 + 1), status)]);
        // The digest also covers the previous digest.
        let mut changed = chain.clone();
        changed.links[number].0.previous_digest[byte] ^= 1 << bit;
        prop_assert_eq!(faults(&changed.findings(chain.head()))[0], (Some(number as i64 + 1), Status::ChainBroken));
    }

    /// An attacker with write access can recompute a link with valid digests. Then the next link, or the conversation's head,
    /// differs.
    #[test]
    fn a_recomputed_link_is_found(chain in chains(), link in any::<Index>()) {
        let mut changed = chain.clone();
        let number = link.index(changed.links.len());
        let (link, content) = &mut changed.links[number];
        content[0].1 = vec![Some(b"what was never asked".to_vec())];
        link.leaves[0] = link.header.leaf(1, &link.salts[0].unwrap(), &content[0].1);
        link.digest = link.header.digest(&link.previous_digest, &link.leaves);
        let last = number + 1 == chain.links.len();
        let expected = number as i64 + if last { 1 } else { 2 };
        prop_assert_eq!(faults(&changed.findings(chain.head())), vec![(Some(expected), Status::ChainBroken)]);
    }

    #[test]
    fn a_removed_link_is_found(chain in chains(), link in any::<Index>()) {
        let mut changed = chain.clone();
        let number = link.index(changed.links.len());
        changed.links.remove(number);
        let found = faults(&changed.findings(chain.head()));
        prop_assert_eq!(found, vec![(Some(number as i64 + 1), Status::Missing)]);
        // The end is cut off.
        let mut cut = chain.clone();
        cut.links.truncate(number);
        let found = faults(&cut.findings(chain.head()));
        let expected: Vec<_> = (number..chain.links.len()).map(|gone| (Some(gone as i64 + 1), Status::Missing)).collect();
        prop_assert_eq!(found, expected);
        // The conversation's row does not count the last link.
        prop_assume!(chain.links.len() > 1);
        let short = Chain { links: chain.links[..chain.links.len() - 1].to_vec() };
        prop_assert_eq!(faults(&chain.findings(short.head())), vec![(Some(chain.links.len() as i64), Status::ChainBroken)]);
    }

    #[test]
    fn swapped_links_are_found(chain in chains(), link in any::<Index>()) {
        prop_assume!(chain.links.len() > 1);
        let mut changed = chain.clone();
        let number = link.index(changed.links.len() - 1);
        changed.links.swap(number, number + 1);
        for at in [number, number + 1] {
            changed.links[at].0.header.link_no = at as i64 + 1;
        }
        let found = faults(&changed.findings(chain.head()));
        for at in [number, number + 1] {
            prop_assert!(found.contains(&(Some(at as i64 + 1), Status::ChainBroken)), "{found:?}");
        }
    }

    /// Erased contents lose their salts. The rest still verifies, and changes of it are still found.
    #[test]
    fn a_chain_with_erased_contents_verifies(chain in chains(), link in any::<Index>(), leaf in any::<Index>()) {
        let mut erased = chain.clone();
        let number = link.index(erased.links.len());
        let (link, content) = &mut erased.links[number];
        let leaf = leaf.index(content.len());
        link.salts[leaf] = None;
        content[leaf].1 = vec![Some(b"erased".to_vec())];
        let expected = vec![(Some(number as i64 + 1), Status::ContentErased)];
        prop_assert_eq!(faults(&erased.findings(chain.head())), expected.clone());
        let content = &mut erased.links[number].1;
        let other = (leaf + 1) % content.len();
        content[other].1.push(None);
        prop_assert_eq!(faults(&erased.findings(chain.head())), vec![(expected[0].0, Status::ContentChanged)]);
        // All contents and their rows are erased.
        let (link, content) = &mut erased.links[number];
        link.salts.fill(None);
        content.clear();
        prop_assert_eq!(faults(&erased.findings(chain.head())), expected);
    }

    /// A chain whose beginning was removed verifies from the right checkpoint only.
    #[test]
    fn verifies_from_a_checkpoint(chain in chains(), from in any::<Index>()) {
        let from = from.index(chain.links.len());
        let digest = |until: usize| match until.checked_sub(1) {
            Some(last) => chain.links[last].0.digest,
            None => CHAIN_START,
        };
        let findings = |from: usize, digest| {
            let mut verifier = Verifier::after("acme", from as i64, digest);
            let mut findings: Vec<Finding> = chain.links[from..].iter().flat_map(|(link, content)| verifier.check(link, content)).collect();
            findings.extend(verifier.finish(chain.head().0, chain.head().1));
            faults(&findings)
        };
        prop_assert_eq!(findings(from, digest(from)), vec![]);
        prop_assert_eq!(findings(from, [9; 32]), vec![(Some(from as i64 + 1), Status::ChainBroken)]);
    }

    /// The chain is complete, but the conversation now belongs to another tenant.
    #[test]
    fn a_changed_tenant_is_found(chain in chains()) {
        let mut verifier = Verifier::after("bolt", 0, CHAIN_START);
        let findings: Vec<Finding> = chain.links.iter().flat_map(|(link, content)| verifier.check(link, content)).collect();
        prop_assert_eq!(faults(&findings).len(), chain.links.len());
        prop_assert!(findings.iter().all(|finding| finding.status == Status::ChainBroken));
        // The conversation's row has lost its head.
        let (length, _) = chain.head();
        prop_assert_eq!(faults(&chain.findings((length, None))), vec![(Some(length), Status::ChainBroken)]);
    }

    /// Different records have different bytes.
    #[test]
    fn different_records_have_different_bytes(a in fields(), b in fields()) {
        fn bytes(fields: &[Field]) -> Vec<u8> {
            record("q", fields.iter().map(Option::as_deref))
        }
        prop_assert_eq!(bytes(&a) == bytes(&b), a == b);
        prop_assert_ne!(record("a", a.iter().map(Option::as_deref)), record("b", a.iter().map(Option::as_deref)));
    }

    /// Changed, moved, removed or added leaves change the root.
    #[test]
    fn different_leaves_have_different_roots(leaves in vec(any::<[u8; 32]>(), 1..20), at in any::<Index>(), bit in 0usize..256) {
        let root = tree::root(&leaves);
        let at = at.index(leaves.len());
        let mut changed = leaves.clone();
        changed[at][bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(tree::root(&changed), root);
        let mut more = leaves.clone();
        more.push(leaves[at]);
        prop_assert_ne!(tree::root(&more), root);
        let mut turned = leaves.clone();
        turned.rotate_left(1);
        prop_assert_eq!(tree::root(&turned) == root, turned == leaves);
    }
}

#[test]
fn start_is_the_latest_checkpoint_before_the_first_link() {
    let checkpoints = [(4, [4; 32]), (9, [9; 32])];
    use reground_provenance::verification::start;
    assert_eq!(start(&[], Some(1)), (0, CHAIN_START));
    assert_eq!(start(&checkpoints, Some(10)), checkpoints[1]);
    assert_eq!(start(&checkpoints, None), checkpoints[1]);
    // A later link that is missing is reported.
    assert_eq!(start(&checkpoints, Some(12)), checkpoints[1]);
    // Links that exist although they were removed once.
    assert_eq!(start(&checkpoints, Some(6)), checkpoints[0]);
}

#[test]
fn names_are_stable() {
    let names = [
        LinkKind::Turn.leaf_name(1),
        LinkKind::Turn.leaf_name(3),
        LinkKind::Answer.leaf_name(2),
    ];
    assert_eq!(names, ["question", "source 1", "verdict"]);
    assert_eq!(unlinked(LinkKind::Answer).detail, "the answer has no link");
    for kind in LinkKind::ALL {
        assert_eq!(LinkKind::parse(kind.name()), Some(kind));
    }
    assert_eq!(LinkKind::parse("other"), None);
}
