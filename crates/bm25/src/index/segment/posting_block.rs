//! Posting blocks: 128 document numbers with term frequencies, bit-packed; a shorter block consists of variable-length
//! integers.
//!
//! The layout of a full block is `[bits of a gap][bits of a frequency][gaps][frequencies]`. Both parts use the 4-lane packing
//! of simdcomp. Gaps are stored minus one, except where there is no previous document; frequencies are stored minus one.
//! Decoding needs the document before the first one of the block; the skip entry of the previous block holds it.

use bitpacking::{BitPacker, BitPacker4x};

use crate::index::pages::page::{put_varint, take_varint};

/// Number of postings in a full block.
pub const BLOCK_LEN: usize = BitPacker4x::BLOCK_LEN;

/// Maximum length of an encoded block: two bit widths, and twice 32 bits for each posting.
pub const MAX_BLOCK_BYTES: usize = 2 + 2 * 4 * BLOCK_LEN;

/// A decoded block.
#[derive(Clone)]
pub struct Block {
    /// Documents, ascending.
    pub documents: [u32; BLOCK_LEN],
    /// Frequency of the term in each document, at least 1.
    pub frequencies: [u32; BLOCK_LEN],
    /// Number of postings.
    pub length: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            documents: [0; BLOCK_LEN],
            frequencies: [0; BLOCK_LEN],
            length: 0,
        }
    }
}

/// Appends a block of up to [`BLOCK_LEN`] postings. `before` is the document before the first one.
pub fn encode(bytes: &mut Vec<u8>, before: Option<u32>, documents: &[u32], frequencies: &[u32]) {
    let (Ok(full), Ok(frequencies_full)) = (
        <&[u32; BLOCK_LEN]>::try_from(documents),
        <&[u32; BLOCK_LEN]>::try_from(frequencies),
    ) else {
        return encode_few(bytes, before, documents, frequencies);
    };
    let packer = BitPacker4x::new();
    let gaps = packer.num_bits_strictly_sorted(before, full);
    let less_one = frequencies_full.map(|frequency| frequency.saturating_sub(1));
    let counts = packer.num_bits(&less_one);
    bytes.extend([gaps, counts]);
    let start = bytes.len();
    let middle = start + BitPacker4x::compressed_block_size(gaps);
    bytes.resize(middle + BitPacker4x::compressed_block_size(counts), 0);
    packer.compress_strictly_sorted(before, full, &mut bytes[start..middle], gaps);
    packer.compress(&less_one, &mut bytes[middle..], counts);
}

fn encode_few(bytes: &mut Vec<u8>, before: Option<u32>, documents: &[u32], frequencies: &[u32]) {
    let mut next = before.map_or(0, |before| u64::from(before) + 1);
    for (&document, &frequency) in documents.iter().zip(frequencies) {
        let gap = u64::from(document).saturating_sub(next);
        put_varint(bytes, gap << 1 | u64::from(frequency == 1));
        if frequency != 1 {
            put_varint(bytes, u64::from(frequency));
        }
        next = u64::from(document) + 1;
    }
}

/// Decodes a block of `length` postings from the front of `bytes`; `None` for invalid bytes. The decoded documents are
/// ascending and below `documents` for any input.
pub fn decode(
    mut bytes: &[u8],
    before: Option<u32>,
    length: usize,
    documents: u32,
    into: &mut Block,
) -> Option<()> {
    into.length = 0;
    if before == Some(u32::MAX) {
        return None;
    }
    if length == BLOCK_LEN {
        let (&[gaps, counts], rest) = bytes.split_first_chunk()?;
        if gaps > 32 || counts > 32 {
            return None;
        }
        let (gap_bytes, rest) = rest.split_at_checked(BitPacker4x::compressed_block_size(gaps))?;
        let count_bytes = rest.get(..BitPacker4x::compressed_block_size(counts))?;
        let packer = BitPacker4x::new();
        packer.decompress_strictly_sorted(before, gap_bytes, &mut into.documents, gaps);
        if counts == 0 {
            into.frequencies = [1; BLOCK_LEN];
        } else {
            packer.decompress(count_bytes, &mut into.frequencies, counts);
            for frequency in &mut into.frequencies {
                *frequency = frequency.saturating_add(1);
            }
        }
        // An overflow in the prefix sums makes the documents descend.
        let pairs = into.documents.iter().zip(&into.documents[1..]);
        let rising = pairs.fold(true, |rising, (one, next)| rising & (one < next));
        let after = before.is_none_or(|before| before < into.documents[0]);
        if !rising || !after || into.documents[BLOCK_LEN - 1] >= documents {
            return None;
        }
        into.length = BLOCK_LEN;
        return Some(());
    }
    let mut next = before.map_or(0, |before| u64::from(before) + 1);
    for at in 0..length.min(BLOCK_LEN) {
        let number = take_varint(&mut bytes)?;
        let document = next.checked_add(number >> 1)?;
        let frequency = if number & 1 == 1 {
            1
        } else {
            u32::try_from(take_varint(&mut bytes)?).ok()?
        };
        if document >= u64::from(documents) || frequency == 0 {
            return None;
        }
        into.documents[at] = u32::try_from(document).ok()?;
        into.frequencies[at] = frequency;
        next = document + 1;
    }
    into.length = length.min(BLOCK_LEN);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(
            gaps in prop::collection::vec((0_u32..5_000, 1_u32..300), 1..=BLOCK_LEN),
            before in prop::option::of(0_u32..1_000_000),
        ) {
            let mut next = before.map_or(0, |before| before + 1);
            let (mut documents, mut frequencies) = (Vec::new(), Vec::new());
            for &(gap, frequency) in &gaps {
                documents.push(next + gap);
                frequencies.push(frequency);
                next += gap + 1;
            }
            let mut bytes = Vec::new();
            encode(&mut bytes, before, &documents, &frequencies);
            prop_assert!(bytes.len() <= MAX_BLOCK_BYTES);
            bytes.extend([7; 9]);
            let mut block = Block::default();
            prop_assert_eq!(decode(&bytes, before, documents.len(), next, &mut block), Some(()));
            prop_assert_eq!(&block.documents[..block.length], &documents[..]);
            prop_assert_eq!(&block.frequencies[..block.length], &frequencies[..]);
            prop_assert_eq!(decode(&bytes, before, documents.len(), next - 1, &mut block), None);
        }

        #[test]
        fn any_bytes_are_decoded_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..1_200), before in prop::option::of(any::<u32>()), length in 0..=BLOCK_LEN, documents in any::<u32>()) {
            let mut block = Block::default();
            if decode(&bytes, before, length, documents, &mut block).is_some() {
                prop_assert_eq!(block.length, length);
                let found = &block.documents[..length];
                prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(found.iter().all(|&document| document < documents));
                prop_assert!(before.is_none_or(|before| found.iter().all(|&document| document > before)));
            }
        }
    }
}
