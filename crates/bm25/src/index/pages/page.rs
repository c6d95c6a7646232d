//! A page: 8 kB without the server's header, with our own header that names its owner.

use crate::index::error::{IndexError, Result};

/// Bytes of a page without PostgreSQL's header: 8,192 − 24.
pub const BODY_BYTES: usize = 8168;
/// Bytes of our header.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a page after our header.
pub const CONTENT_BYTES: usize = BODY_BYTES - HEADER_BYTES;

const MAGIC: u16 = 0xb25a;
/// Version of the format. An index of another version must be rebuilt.
const FORMAT: u8 = 4;

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PageKind {
    /// The meta page: settings, list of segments, write buffer.
    Meta = 1,
    /// The free list, or an unused page.
    Free = 2,
    /// Documents that are not in a segment yet.
    WriteBuffer = 3,
    /// Row addresses and fingerprints of a segment's documents.
    Documents = 4,
    /// Lengths of a segment's documents, one byte each.
    Norms = 5,
    /// One bit for each document of a segment: whether vacuum removed it.
    Dead = 6,
    /// Posting blocks.
    Postings = 7,
    /// Skip entries: one for each block of a long posting list.
    Skips = 8,
    /// Terms with their entries.
    Dictionary = 9,
    /// First term of each dictionary page.
    Directory = 10,
}

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHeader {
    /// Kind of the page.
    pub kind: PageKind,
    /// Number of the segment or write buffer that the page belongs to; 0 for the first two pages.
    pub owner: u32,
    /// Page number within its owner.
    pub page_no: u32,
}

impl PageHeader {
    /// The header of a page without content.
    pub fn unused(block: u32) -> Self {
        Self {
            kind: PageKind::Free,
            owner: 0,
            page_no: block,
        }
    }

    /// Writes the header of a page with `used` bytes of content.
    pub fn write(self, body: &mut [u8], used: usize) {
        let used = u16::try_from(used).unwrap_or(u16::MAX);
        let bytes = [
            &MAGIC.to_le_bytes()[..],
            &[self.kind as u8, FORMAT],
            &self.owner.to_le_bytes(),
            &self.page_no.to_le_bytes(),
            &used.to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        if let Some(head) = body.get_mut(..HEADER_BYTES) {
            head.copy_from_slice(&bytes);
        }
    }
}

/// Returns the number of bytes from the start of the body that must be kept; the whole body if there is no valid header.
pub fn extent(body: &[u8]) -> usize {
    match u16_at(body, 0) {
        Some(MAGIC) => {
            HEADER_BYTES + usize::from(u16_at(body, 12).unwrap_or_default()).min(CONTENT_BYTES)
        }
        _ => BODY_BYTES,
    }
}

/// Returns the content of a page, which must have the `expected` header.
///
/// # Errors
/// [`IndexError::Reused`] if the page has another owner: it was reused after the caller had looked up its block.
/// [`IndexError::Corrupt`] for every other difference.
pub fn content(body: &[u8], block: u32, expected: PageHeader) -> Result<&[u8]> {
    let corrupt = |problem| IndexError::Corrupt { block, problem };
    if u16_at(body, 0) != Some(MAGIC) {
        return Err(corrupt("it is not a page of an index"));
    }
    if body.get(3) != Some(&FORMAT) {
        return Err(corrupt("its format version is unknown"));
    }
    let used = u16_at(body, 12).ok_or(corrupt("its header is truncated"))?;
    let (owner, page_no) = (u32_at(body, 4), u32_at(body, 8));
    if owner != Some(expected.owner) {
        return Err(IndexError::Reused { block });
    }
    if body.get(2) != Some(&(expected.kind as u8)) || page_no != Some(expected.page_no) {
        return Err(corrupt("it is the wrong page"));
    }
    body.get(HEADER_BYTES..HEADER_BYTES + usize::from(used))
        .ok_or(corrupt("its content length is too large"))
}

/// Reads a little-endian u16.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a little-endian u32.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a little-endian u64.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Appends a number as a variable-length integer: groups of seven bits, lowest first.
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Removes a variable-length integer from the front of `bytes` and returns it.
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
