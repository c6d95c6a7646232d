//! The hash of a content that can be erased, and one hash over many: a Merkle tree as in RFC 6962, with salted leaves.

use sha2::{Digest as _, Sha256};

use crate::{Digest, Salt};

/// What a leaf's bytes begin with when they are hashed, so that no node can be taken for a leaf.
const LEAF: [u8; 1] = [0];
/// What a node's bytes begin with.
const NODE: [u8; 1] = [1];

/// The hash of a record with its salt. Where the record is erased with its salt, the hash stays: nobody can try out what it
/// was made of.
#[must_use]
pub fn leaf(salt: &Salt, record: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(LEAF);
    hash.update(salt);
    hash.update(record);
    hash.finalize().into()
}

/// The one hash over all leaves in their order: of none that of no bytes, of one itself, else that of both parts, the left
/// one as large as a power of two can be.
#[must_use]
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            let largest = leaves.len().next_power_of_two() / 2;
            let (left, right) = leaves.split_at(largest);
            let mut hash = Sha256::new();
            hash.update(NODE);
            hash.update(root(left));
            hash.update(root(right));
            hash.finalize().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written out for five leaves, as RFC 6962 splits them.
    #[test]
    fn five_leaves() {
        let node = |left: Digest, right: Digest| -> Digest {
            Sha256::digest([&NODE[..], &left, &right].concat()).into()
        };
        let leaves: Vec<Digest> = (0..5).map(|n| leaf(&[n; 16], &[n])).collect();
        let four = node(node(leaves[0], leaves[1]), node(leaves[2], leaves[3]));
        assert_eq!(root(&leaves), node(four, leaves[4]));
        assert_eq!(root(&leaves[..1]), leaves[0]);
        assert_eq!(root(&[]), <[u8; 32]>::from(Sha256::digest(b"")));
    }
}
