//! Dictionary pages: terms by ascending hash, each with the location of its postings.
//!
//! The layout is `[count u16][hashes u64 …][ends of the entries u16 …][entries]`. An entry begins with the number of
//! documents. For up to [`MAX_INLINE_POSTINGS`] documents the postings follow. For a single block follow the largest impact
//! and the location of the block, for several blocks the largest impact and the location of their skip entries.

use crate::index::pages::page::{CONTENT_BYTES, put_varint, take_varint, u16_at, u64_at};
use crate::index::segment::posting_block::{self, BLOCK_LEN, Block};

/// Maximum number of postings that are stored in the dictionary itself.
pub const MAX_INLINE_POSTINGS: usize = 4;

/// Location of the postings of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostingsLocation {
    /// In the dictionary; the bytes of a block.
    Inline(Vec<u8>),
    /// One block, at an offset of a postings page.
    Block {
        /// Page number within the segment.
        page: u32,
        /// Offset on the page.
        offset: u16,
    },
    /// Several blocks; the location of their first skip entry.
    Blocks {
        /// Number of the skip page within the segment.
        page: u32,
        /// Number of the entry on the page.
        entry: u16,
    },
}

/// The entry of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number of documents that contain the term.
    pub documents: u32,
    /// Largest impact of the blocks; 255 for inline postings, which store none.
    pub impact: u8,
    /// Location of the postings.
    pub location: PostingsLocation,
}

impl Entry {
    /// Returns the entry as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12);
        put_varint(&mut bytes, u64::from(self.documents));
        match &self.location {
            PostingsLocation::Inline(block) => bytes.extend(block),
            PostingsLocation::Block { page, offset: at }
            | PostingsLocation::Blocks { page, entry: at } => {
                bytes.push(self.impact);
                put_varint(&mut bytes, u64::from(*page));
                put_varint(&mut bytes, u64::from(*at));
            }
        }
        bytes
    }

    /// Parses an entry; `None` for invalid bytes.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let documents = u32::try_from(take_varint(&mut bytes)?).ok()?;
        if documents == 0 {
            return None;
        }
        let count = documents as usize;
        if count <= MAX_INLINE_POSTINGS {
            return Some(Self {
                documents,
                impact: u8::MAX,
                location: PostingsLocation::Inline(bytes.to_vec()),
            });
        }
        let (&impact, mut bytes) = bytes.split_first()?;
        let page = u32::try_from(take_varint(&mut bytes)?).ok()?;
        let at = u16::try_from(take_varint(&mut bytes)?).ok()?;
        let location = if count <= BLOCK_LEN {
            PostingsLocation::Block { page, offset: at }
        } else {
            PostingsLocation::Blocks { page, entry: at }
        };
        Some(Self {
            documents,
            impact,
            location,
        })
    }

    /// Decodes inline postings into a block; `None` if the postings are elsewhere or invalid.
    pub fn decode_inline(&self, documents: u32, into: &mut Block) -> Option<()> {
        match &self.location {
            PostingsLocation::Inline(bytes) => {
                posting_block::decode(bytes, None, self.documents as usize, documents, into)
            }
            _ => None,
        }
    }
}

/// A dictionary page under construction.
#[derive(Default)]
pub struct DictionaryPageBuilder {
    hashes: Vec<u64>,
    ends: Vec<u16>,
    entries: Vec<u8>,
}

impl DictionaryPageBuilder {
    /// Returns whether the page has no terms.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns whether an entry of this length fits on the page.
    pub fn has_room(&self, entry: usize) -> bool {
        2 + 10 * (self.hashes.len() + 1) + self.entries.len() + entry <= CONTENT_BYTES
    }

    /// Adds a term.
    pub fn add(&mut self, hash: u64, entry: &[u8]) {
        self.hashes.push(hash);
        self.entries.extend(entry);
        self.ends
            .push(u16::try_from(self.entries.len()).unwrap_or(u16::MAX));
    }

    /// Returns the bytes of the page and clears the builder.
    pub fn take(&mut self) -> Vec<u8> {
        let count = u16::try_from(self.hashes.len()).unwrap_or(u16::MAX);
        let mut bytes = count.to_le_bytes().to_vec();
        bytes.extend(self.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        bytes.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
        bytes.append(&mut self.entries);
        self.hashes.clear();
        self.ends.clear();
        bytes
    }
}

/// Number of terms on a page; `None` if the page is too short for them.
pub fn count(page: &[u8]) -> Option<usize> {
    let count = usize::from(u16_at(page, 0)?);
    (page.len() >= 2 + 10 * count).then_some(count)
}

/// Hash of the term at a position on the page.
pub fn hash(page: &[u8], at: usize) -> Option<u64> {
    u64_at(page, 2 + 8 * at)
}

/// Bytes of the entry at a position on the page.
pub fn entry(page: &[u8], at: usize) -> Option<&[u8]> {
    let count = count(page)?;
    let end = |at: usize| Some(usize::from(u16_at(page, 2 + 8 * count + 2 * at)?));
    let start = if at == 0 { 0 } else { end(at - 1)? };
    page.get(2 + 10 * count..)?.get(start..end(at)?)
}

/// Finds the position of a term on the page: `Some(Err(()))` if it is absent, `None` for a damaged page.
pub fn find(page: &[u8], wanted: u64) -> Option<Result<usize, ()>> {
    let (mut low, mut high) = (0, count(page)?);
    while low < high {
        let middle = low + (high - low) / 2;
        match hash(page, middle)?.cmp(&wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Some(Ok(middle)),
        }
    }
    Some(Err(()))
}
