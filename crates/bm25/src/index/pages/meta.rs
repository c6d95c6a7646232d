//! The first page of an index: settings, segments and the write buffer.

use crate::score::Parameters;

use crate::index::error::{IndexError, Result};
use crate::index::pages::page::{
    CONTENT_BYTES, HEADER_BYTES, PageHeader, PageKind, content, u16_at, u32_at, u64_at,
};
use crate::index::pages::store::{Extent, Pages};
use crate::index::terms::{FIELDS, Key, Weights};

/// Block of the meta page.
pub const META: u32 = 0;
/// Maximum number of extents of a segment.
pub const MAX_EXTENTS: usize = 16;

/// Header of the meta page.
const META_HEADER: PageHeader = PageHeader {
    kind: PageKind::Meta,
    owner: 0,
    page_no: 0,
};

/// A set of documents with their postings. It never changes, except for the bits of removed documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment. No number is used twice.
    pub id: u32,
    /// Number of documents, including removed ones.
    pub documents: u32,
    /// Number of documents that vacuum removed.
    pub dead: u32,
    /// Sum of the lengths of all documents, as encoded in norms.
    pub length: u64,
    /// Mean document length with which the impacts were computed, in units of 1/256.
    pub average: u32,
    /// Number of distinct terms.
    pub terms: u32,
    /// Number of dictionary pages.
    pub dictionary: u32,
    /// Page number of the first directory page.
    pub directory: u32,
    /// Total number of pages.
    pub pages: u32,
    /// The blocks of the pages.
    pub extents: Vec<Extent>,
}

impl Segment {
    /// Mean document length with which the impacts were computed.
    pub fn average_length(&self) -> f64 {
        f64::from(self.average) / 256.0
    }

    /// Returns the block of a page.
    pub fn block(&self, page_no: u32) -> Option<u32> {
        let mut left = page_no;
        for extent in &self.extents {
            if left < extent.length {
                return extent.start.checked_add(left);
            }
            left -= extent.length;
        }
        None
    }
}

/// A run of pages to which new documents are appended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteBuffer {
    /// Number of the buffer, from the same sequence as segment numbers; 0 for none.
    pub id: u32,
    /// First block.
    pub start: u32,
    /// Number of pages.
    pub pages: u32,
}

impl WriteBuffer {
    /// Its pages.
    pub fn extent(&self) -> Extent {
        Extent {
            start: self.start,
            length: self.pages,
        }
    }
}

fn plain(text_config: &str) -> &str {
    text_config
        .strip_prefix("pg_catalog.")
        .unwrap_or(text_config)
}

/// The permanent settings of an index. Its terms and impacts depend on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexSettings {
    /// The parameter k1 of BM25.
    pub k1: f64,
    /// The parameter b of BM25.
    pub b: f64,
    /// Text search configuration. A name without a schema is in pg_catalog.
    pub text_config: String,
    /// Weights of the fields.
    pub weights: Weights,
    /// Major version of the server whose parser and dictionaries made the terms.
    pub server: u32,
    /// Number of filter columns.
    pub filters: u16,
}

impl IndexSettings {
    /// Returns whether the index uses a text search configuration. A name without a schema is in pg_catalog.
    pub fn uses_text_config(&self, text_config: &str) -> bool {
        self.plain_text_config() == plain(text_config)
    }

    /// The text search configuration, without the schema pg_catalog.
    pub fn plain_text_config(&self) -> &str {
        plain(&self.text_config)
    }
}

/// The content of the meta page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Secret key of the term hashes.
    pub key: Key,
    /// Settings with which the index was built.
    pub settings: IndexSettings,
    /// Number for the next segment or write buffer.
    pub next_id: u32,
    /// Buffer that receives new documents.
    pub write_buffer: WriteBuffer,
    /// Number of the buffer page that had free space last.
    pub write_buffer_page: u32,
    /// Former write buffer that is being converted to a segment.
    pub spilling: WriteBuffer,
    /// Pages of the segment that is being written. They are left over if its writer is interrupted.
    pub pending: Vec<Extent>,
    /// Segments, largest first.
    pub segments: Vec<Segment>,
}

/// Bytes before the variable part.
const FIXED_BYTES: usize = 80;
/// Bytes of a segment without its extents.
const SEGMENT_BYTES: usize = 4 * 8 + 8 + 4;
/// Bytes of an extent.
const EXTENT_BYTES: usize = 8;

impl Meta {
    /// Reads the meta page of an index.
    ///
    /// # Errors
    /// [`IndexError::Corrupt`] if it is not a meta page.
    pub fn read<P: Pages>(pages: &P) -> Result<Self> {
        pages.look(META, Self::decode)
    }

    /// Parses the body of the meta page.
    ///
    /// # Errors
    /// [`IndexError::Corrupt`] for invalid bytes.
    pub fn decode(body: &[u8]) -> Result<Self> {
        let bytes = content(body, META, META_HEADER).map_err(IndexError::without_reuse)?;
        Self::parse(bytes).ok_or(IndexError::Corrupt {
            block: META,
            problem: "its fields are truncated or invalid",
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let buffer = |at| {
            Some(WriteBuffer {
                id: u32_at(bytes, at)?,
                start: u32_at(bytes, at + 4)?,
                pages: u32_at(bytes, at + 8)?,
            })
        };
        let config_length = usize::from(u16_at(bytes, 72)?);
        let pending = usize::from(u16_at(bytes, 74)?);
        let segments = usize::from(u16_at(bytes, 76)?);
        let mut at = FIXED_BYTES;
        let weights = Weights::new(bytes.get(at..at + FIELDS)?)?;
        at += FIELDS;
        let text_config = std::str::from_utf8(bytes.get(at..at + config_length)?).ok()?;
        at += config_length;
        let extents = |at: &mut usize, count: usize| {
            let mut extents = Vec::new();
            for _ in 0..count {
                extents.push(Extent {
                    start: u32_at(bytes, *at)?,
                    length: u32_at(bytes, *at + 4)?,
                });
                *at += EXTENT_BYTES;
            }
            Some(extents)
        };
        let mut meta = Self {
            key: [u64_at(bytes, 0)?, u64_at(bytes, 8)?],
            settings: IndexSettings {
                k1: f64::from_bits(u64_at(bytes, 16)?),
                b: f64::from_bits(u64_at(bytes, 24)?),
                text_config: text_config.to_owned(),
                weights,
                server: u32_at(bytes, 32)?,
                filters: u16_at(bytes, 78)?,
            },
            next_id: u32_at(bytes, 36)?,
            write_buffer: buffer(40)?,
            write_buffer_page: u32_at(bytes, 52)?,
            spilling: buffer(56)?,
            pending: extents(&mut at, pending)?,
            segments: Vec::new(),
        };
        for _ in 0..segments {
            let number = |index: usize| u32_at(bytes, at + 4 * index);
            let mut segment = Segment {
                id: number(0)?,
                documents: number(1)?,
                dead: number(2)?,
                average: number(3)?,
                terms: number(4)?,
                dictionary: number(5)?,
                directory: number(6)?,
                pages: number(7)?,
                length: u64_at(bytes, at + 32)?,
                extents: Vec::new(),
            };
            let count = usize::try_from(u32_at(bytes, at + 40)?).ok()?;
            at += SEGMENT_BYTES;
            segment.extents = extents(&mut at, count)?;
            let pages: u64 = segment.extents.iter().map(|e| u64::from(e.length)).sum();
            if count > MAX_EXTENTS
                || pages < u64::from(segment.pages)
                || segment.dead > segment.documents
            {
                return None;
            }
            meta.segments.push(segment);
        }
        meta.parameters().is_ok().then_some(meta)
    }

    /// Writes the meta page into `body`.
    ///
    /// # Errors
    /// [`IndexError::Full`] if it does not fit.
    pub fn encode(&self, body: &mut [u8]) -> Result<()> {
        let mut bytes = Vec::with_capacity(CONTENT_BYTES);
        let number = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_le_bytes());
        let short = |bytes: &mut Vec<u8>, value: usize| {
            bytes.extend(u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes());
        };
        bytes.extend(self.key[0].to_le_bytes());
        bytes.extend(self.key[1].to_le_bytes());
        bytes.extend(self.settings.k1.to_bits().to_le_bytes());
        bytes.extend(self.settings.b.to_bits().to_le_bytes());
        for value in [
            self.settings.server,
            self.next_id,
            self.write_buffer.id,
            self.write_buffer.start,
            self.write_buffer.pages,
            self.write_buffer_page,
            self.spilling.id,
            self.spilling.start,
            self.spilling.pages,
        ] {
            number(&mut bytes, value);
        }
        number(&mut bytes, 0);
        short(&mut bytes, self.settings.text_config.len());
        short(&mut bytes, self.pending.len());
        short(&mut bytes, self.segments.len());
        short(&mut bytes, self.settings.filters.into());
        bytes.extend(self.settings.weights.all());
        bytes.extend(self.settings.text_config.as_bytes());
        let extents = |bytes: &mut Vec<u8>, extents: &[Extent]| {
            for extent in extents {
                number(bytes, extent.start);
                number(bytes, extent.length);
            }
        };
        extents(&mut bytes, &self.pending);
        for segment in &self.segments {
            for value in [
                segment.id,
                segment.documents,
                segment.dead,
                segment.average,
                segment.terms,
                segment.dictionary,
                segment.directory,
                segment.pages,
            ] {
                number(&mut bytes, value);
            }
            bytes.extend(segment.length.to_le_bytes());
            number(
                &mut bytes,
                u32::try_from(segment.extents.len()).unwrap_or(u32::MAX),
            );
            extents(&mut bytes, &segment.extents);
        }
        write_page(
            body,
            META_HEADER,
            &bytes,
            "the meta page has no space for its segments",
        )
    }

    /// Returns the BM25 parameters of the index.
    ///
    /// # Errors
    /// [`IndexError::Corrupt`] if they are outside their range.
    pub fn parameters(&self) -> Result<Parameters> {
        Parameters::new(self.settings.k1, self.settings.b).map_err(|_| IndexError::Corrupt {
            block: META,
            problem: "its k1 or b is out of range",
        })
    }

    /// Number of removed documents in all segments.
    pub fn removed(&self) -> u64 {
        let dead = self.segments.iter().map(|segment| segment.dead);
        dead.map(u64::from).sum()
    }

    /// Number of documents in all segments, including removed ones.
    pub fn documents(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| u64::from(segment.documents))
            .sum()
    }
}

/// Writes a header and the content of a page.
///
/// # Errors
/// [`IndexError::Full`] with `problem` if the content does not fit.
pub fn write_page(
    body: &mut [u8],
    header: PageHeader,
    bytes: &[u8],
    problem: &'static str,
) -> Result<()> {
    let room = body
        .get_mut(HEADER_BYTES..)
        .filter(|room| bytes.len() <= room.len());
    let Some(room) = room else {
        return Err(IndexError::Full { problem });
    };
    room[..bytes.len()].copy_from_slice(bytes);
    room[bytes.len()..].fill(0);
    header.write(body, bytes.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::pages::page::BODY_BYTES;
    use proptest::prelude::*;

    fn extents() -> impl Strategy<Value = Vec<Extent>> {
        prop::collection::vec(
            (1_u32..9_999, 1_u32..99).prop_map(|(start, length)| Extent { start, length }),
            1..MAX_EXTENTS,
        )
    }

    fn segment() -> impl Strategy<Value = Segment> {
        (any::<[u32; 6]>(), any::<u64>(), extents()).prop_map(|(n, length, extents)| Segment {
            id: n[0],
            documents: n[1],
            dead: n[1] / 2,
            length,
            average: n[2],
            terms: n[3],
            dictionary: n[4],
            directory: n[5],
            pages: extents.iter().map(|extent| extent.length).sum(),
            extents,
        })
    }

    proptest! {
        #[test]
        fn meta_round_trip(key in any::<Key>(), numbers in any::<[u32; 9]>(), k1 in 0.0..9.0_f64, b in 0.0..=1.0_f64,
            config in "[a-z.]{0,130}", pending in extents(), segments in prop::collection::vec(segment(), 0..30)) {
            let buffer = |at: usize| WriteBuffer { id: numbers[at], start: numbers[at + 1], pages: numbers[at + 2] };
            let meta = Meta { key, settings: IndexSettings { k1, b, text_config: config, weights: Weights::new(&numbers[1].to_le_bytes()).unwrap(), server: numbers[0], filters: numbers[2] as u16 }, next_id: numbers[1], write_buffer: buffer(2), write_buffer_page: numbers[5],
                spilling: buffer(6), pending, segments };
            let mut body = vec![0; BODY_BYTES];
            meta.encode(&mut body).unwrap();
            prop_assert_eq!(Meta::decode(&body).unwrap(), meta);
        }

        #[test]
        fn any_bytes_are_parsed_or_rejected(noise in prop::collection::vec(any::<u8>(), 0..CONTENT_BYTES)) {
            let mut body = vec![0; BODY_BYTES];
            write_page(&mut body, META_HEADER, &noise, "").unwrap();
            let _ = Meta::decode(&body);
        }
    }
}
