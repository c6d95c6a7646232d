//! Reads PostgreSQL's text search vector from its bytes.
//!
//! The layout is that of `TSVectorData` in the server's `tsearch/ts_type.h`, the same in PostgreSQL 15 to 18. After the
//! varlena header follow: an `int32` number of entries; one `u32` bit field per entry (1 bit "has positions", 11 bits length,
//! 20 bits offset into the string area); the string area. In the string area, a lexeme with positions is followed, at the next
//! even offset, by a `u16` count and that many `u16` positions.

use crate::error::Bm25Error;

// The order of bit fields within an integer depends on the machine; it starts at the low bit only on little-endian machines.
#[cfg(target_endian = "big")]
compile_error!("the entries of a text search vector are read in little-endian bit order");

const HEADER: usize = 4;
const ENTRY: usize = 4;

/// A validated view of one text search vector.
///
/// A frequency is the number of positions that PostgreSQL stored: at most 256 per lexeme, and all positions beyond 16,383
/// collapse into one.
#[derive(Debug, Clone, Copy)]
pub struct TsVector<'a> {
    entries: &'a [u8],
    strings: &'a [u8],
    length: u32,
    title_weight: u8,
}

/// The two bits of a position that contain its weight, if the weight is A.
const WEIGHT_A: u16 = 0b11;
/// Number of bits of a position below its weight.
const POSITION_BITS: u32 = 14;

impl<'a> TsVector<'a> {
    /// Parses the payload of a `tsvector`: detoasted, without its 4-byte varlena header, at any alignment. Takes time linear
    /// in the number of entries. Each position counts once, whatever its weight.
    ///
    /// # Errors
    /// As [`TsVector::parse_with_title`].
    pub fn parse(payload: &'a [u8]) -> Result<Self, Bm25Error> {
        Self::parse_with_title(payload, 1)
    }

    /// As [`TsVector::parse`], where each position of weight A, a word of a title, counts `title_weight` times, in frequencies and
    /// in the length. Takes time linear in the number of positions.
    ///
    /// The lexemes are assumed to be sorted, because the server sorts every vector that it receives. If they are not,
    /// [`TsVector::frequency`] may miss a lexeme.
    ///
    /// # Errors
    /// [`Bm25Error::EntryTable`] if the entries do not fit, [`Bm25Error::OutOfBounds`] if one of them points outside the
    /// string area.
    pub fn parse_with_title(payload: &'a [u8], title_weight: u8) -> Result<Self, Bm25Error> {
        let bytes = payload.len();
        let (header, rest) = payload
            .split_first_chunk::<HEADER>()
            .ok_or(Bm25Error::EntryTable { bytes, entries: 0 })?;
        let announced = i32::from_ne_bytes(*header);
        let (entries, strings) = usize::try_from(announced)
            .ok()
            .and_then(|entries| rest.split_at_checked(entries.checked_mul(ENTRY)?))
            .ok_or(Bm25Error::EntryTable {
                bytes,
                entries: i64::from(announced),
            })?;
        let mut vector = TsVector {
            entries,
            strings,
            length: 0,
            title_weight,
        };
        for entry in 0..vector.lexemes() {
            let (_, frequency) = vector.read(entry).ok_or(Bm25Error::OutOfBounds {
                entry,
                bytes: strings.len(),
            })?;
            // A frequency is below 2^24, but entries may share their positions, so only the sum can overflow.
            vector.length = vector.length.saturating_add(frequency);
        }
        Ok(vector)
    }

    /// Number of distinct lexemes.
    pub fn lexemes(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// Length of the passage in weighted positions. A lexeme without positions counts as 1.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Returns how often `lexeme` occurs, weighted: 0 if it is absent, 1 if its positions were stripped. Takes time logarithmic in the
    /// number of lexemes.
    pub fn frequency(&self, lexeme: &[u8]) -> u32 {
        // The server orders lexemes by `memcmp` of the common prefix, then by length. Slices have the same order.
        let (mut low, mut high) = (0, self.lexemes());
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((found, frequency)) = self.read(middle) else {
                return 0;
            };
            match found.cmp(lexeme) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return frequency,
            }
        }
        0
    }

    /// Returns the lexeme and the frequency of one entry; `None` if the entry leaves the string area.
    fn read(&self, entry: usize) -> Option<(&'a [u8], u32)> {
        let field = self.entries.get(entry * ENTRY..)?.first_chunk::<ENTRY>()?;
        let field = u32::from_ne_bytes(*field);
        let start = (field >> 12) as usize;
        let end = start + (field >> 1 & 0x7ff) as usize;
        let lexeme = self.strings.get(start..end)?;
        if field & 1 == 0 {
            return Some((lexeme, 1));
        }
        let positions = self.strings.get(end.next_multiple_of(2)..)?;
        let (count, positions) = positions.split_first_chunk::<2>()?;
        let count = u16::from_ne_bytes(*count);
        let positions = positions.get(..usize::from(count) * 2)?;
        // An empty list of positions is treated like a missing one.
        let frequency = match (count, self.title_weight) {
            (0, _) => 1,
            (_, 1) => u32::from(count),
            _ => self.weighted(positions),
        };
        Some((lexeme, frequency))
    }

    /// Returns the sum of the weights of positions.
    fn weighted(&self, positions: &[u8]) -> u32 {
        let (positions, _) = positions.as_chunks::<2>();
        let weight = |position: &[u8; 2]| match u16::from_ne_bytes(*position) >> POSITION_BITS {
            WEIGHT_A => u32::from(self.title_weight),
            _ => 1,
        };
        positions.iter().map(weight).sum()
    }
}
