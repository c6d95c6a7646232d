//! Hashes of erasable contents, and a Merkle tree over them as in RFC 6962, with salted leaves.

use sha2::{Digest as _, Sha256};

use crate::{Digest, Salt};

/// Prefix of a leaf's bytes. Leaves and nodes have different prefixes, so that they cannot be confused.
const LEAF: [u8; 1] = [0];
/// Prefix of a node's bytes.
const NODE: [u8; 1] = [1];

/// Returns the hash of a record with its salt. When the record and its salt are erased, the hash stays. Without the salt nobody
/// can guess the record by trying.
#[must_use]
pub fn leaf(salt: &Salt, record: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(LEAF);
    hash.update(salt);
    hash.update(record);
    hash.finalize().into()
}

/// Returns the root hash over all leaves in order. The root of no leaves is the hash of no bytes; the root of one leaf is the leaf.
/// Otherwise the leaves are split, and the left part has the largest possible power of two.
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

    /// The expected value is written out as RFC 6962 splits five leaves.
    #[test]
    fn root_of_five_leaves() {
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
