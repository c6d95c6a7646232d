//! A page: 8 kB less the server's header, with a header of ours that says whose it is.

use super::fault::{Fault, Result};

/// Bytes of a page that are ours: PostgreSQL's page of 8,192 without its header of 24.
pub const BODY: usize = 8168;
/// Bytes of our header.
pub const HEADER: usize = 16;
/// Bytes that a page can hold after our header.
pub const ROOM: usize = BODY - HEADER;

const MAGIC: u16 = 0xb25a;
const FORMAT: u8 = 1;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The index' own figures, its list of segments, its write buffer.
    Meta = 1,
    /// Runs of pages that can be used again.
    Free = 2,
    /// Documents that were inserted and are in no segment yet.
    Tail = 3,
    /// Row addresses and text hashes of a segment's documents.
    Documents = 4,
    /// Lengths of a segment's documents, one byte each.
    Norms = 5,
    /// A bit for each document of a segment that vacuum removed.
    Dead = 6,
    /// Posting blocks.
    Postings = 7,
    /// Entries of the blocks of long lists.
    Skips = 8,
    /// Terms.
    Dictionary = 9,
    /// The first term of each dictionary page.
    Directory = 10,
}

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the page holds.
    pub kind: Kind,
    /// Segment (or tail) that it belongs to; 0 for the first two pages.
    pub owner: u32,
    /// Its place in there.
    pub place: u32,
}

impl Header {
    /// Of a page that holds nothing yet.
    pub fn unused(block: u32) -> Self {
        Self {
            kind: Kind::Free,
            owner: 0,
            place: block,
        }
    }

    /// Writes the header of a page of which `used` bytes after it hold something.
    pub fn write(self, body: &mut [u8], used: usize) {
        let used = u16::try_from(used).unwrap_or(u16::MAX);
        let bytes = [
            &MAGIC.to_le_bytes()[..],
            &[self.kind as u8, FORMAT],
            &self.owner.to_le_bytes(),
            &self.place.to_le_bytes(),
            &used.to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        if let Some(head) = body.get_mut(..HEADER) {
            head.copy_from_slice(&bytes);
        }
    }
}

/// Bytes from the start of the body that mean something; all of it where the header is none.
pub fn extent(body: &[u8]) -> usize {
    match u16_at(body, 0) {
        Some(MAGIC) => HEADER + usize::from(u16_at(body, 12).unwrap_or_default()).min(ROOM),
        _ => BODY,
    }
}

/// The content of a page that must be `expected`. A page of another owner is [`Fault::Moved`]: it was used again while we
/// were on our way to it. Anything else that does not fit is [`Fault::Corrupt`].
pub fn content(body: &[u8], block: u32, expected: Header) -> Result<&[u8]> {
    let corrupt = |what| Fault::Corrupt { block, what };
    if u16_at(body, 0) != Some(MAGIC) {
        return Err(corrupt("it is no page of this index"));
    }
    if body.get(3) != Some(&FORMAT) {
        return Err(corrupt("its format is another one"));
    }
    let used = u16_at(body, 12).ok_or(corrupt("its header is cut off"))?;
    let (owner, place) = (u32_at(body, 4), u32_at(body, 8));
    if owner != Some(expected.owner) {
        return Err(Fault::Moved { block });
    }
    if body.get(2) != Some(&(expected.kind as u8)) || place != Some(expected.place) {
        return Err(corrupt("it is not the page that belongs there"));
    }
    body.get(HEADER..HEADER + usize::from(used))
        .ok_or(corrupt("it says that it is fuller than it can be"))
}

/// A little-endian u16.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A little-endian u32.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A little-endian u64.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a number in groups of seven bits, lowest first.
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes such a number off the front.
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
