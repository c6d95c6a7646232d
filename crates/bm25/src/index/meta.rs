//! The first two pages: what the index is, which segments and which write buffer it has, and which runs of pages are free.

use crate::score::Parameters;

use super::fault::{Fault, Result};
use super::page::{HEADER, Header, Kind, ROOM, content, u16_at, u32_at, u64_at};
use super::store::{Extent, Pages};
use super::terms::{FIELDS, Key, Weights};

/// Block of the meta page.
pub const META: u32 = 0;
/// Block of the list of free runs.
pub const FREE: u32 = 1;
/// Runs of pages that a segment may be spread over.
pub const EXTENTS: usize = 16;

/// Header of the meta page.
const META_HEADER: Header = Header {
    kind: Kind::Meta,
    owner: 0,
    place: 0,
};
/// Header of the free list.
const FREE_HEADER: Header = Header {
    kind: Kind::Free,
    owner: 0,
    place: 1,
};

/// A list of documents and their postings that never changes, but for the bits of removed documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its number; none is used twice.
    pub id: u32,
    /// Documents, removed ones included.
    pub documents: u32,
    /// Documents that vacuum removed.
    pub dead: u32,
    /// Sum of the lengths of all documents, as norms keep them.
    pub length: u64,
    /// Mean length of a document that its impacts were computed with, in 1/256.
    pub average: u32,
    /// Distinct terms.
    pub terms: u32,
    /// Pages of the dictionary.
    pub dictionary: u32,
    /// Place of the first page of the directory.
    pub directory: u32,
    /// Pages in all.
    pub pages: u32,
    /// Where they are.
    pub extents: Vec<Extent>,
}

impl Segment {
    /// Mean length of a document that its impacts were computed with.
    pub fn average_length(&self) -> f64 {
        f64::from(self.average) / 256.0
    }

    /// Block of the page at a place.
    pub fn block(&self, place: u32) -> Option<u32> {
        let mut left = place;
        for extent in &self.extents {
            if left < extent.length {
                return extent.start.checked_add(left);
            }
            left -= extent.length;
        }
        None
    }
}

/// Pages that take what is inserted, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Its number, from those of segments; 0 where there is none.
    pub id: u32,
    /// Its first block.
    pub start: u32,
    /// Its pages.
    pub pages: u32,
}

/// What an index is made with, for good: its terms and impacts rest on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Design {
    /// BM25's k1.
    pub k1: f64,
    /// BM25's b.
    pub b: f64,
    /// Text search configuration; without a schema, pg_catalog's.
    pub text_config: String,
    /// Of the fields.
    pub weights: Weights,
    /// Major version of the server whose parser and dictionaries made the terms.
    pub server: u32,
}

impl Design {
    /// Whether the words are those of a configuration; one that is named without a schema is pg_catalog's.
    pub fn is_of(&self, text_config: &str) -> bool {
        fn name(config: &str) -> &str {
            config.strip_prefix("pg_catalog.").unwrap_or(config)
        }
        name(&self.text_config) == name(text_config)
    }
}

/// The meta page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Hashes terms.
    pub key: Key,
    /// What it was made with.
    pub design: Design,
    /// Number that the next segment or tail gets.
    pub next: u32,
    /// Takes what is inserted.
    pub tail: Tail,
    /// Page of the tail that had room last, as a place.
    pub tail_page: u32,
    /// Being made a segment of.
    pub spilling: Tail,
    /// Number of the segment that is being written, and its pages so far: left over if its writer is gone.
    pub pending: Vec<Extent>,
    /// Largest first.
    pub segments: Vec<Segment>,
}

/// Bytes before the lists.
const FIXED: usize = 80;
/// Bytes of a segment without its extents.
const SEGMENT: usize = 4 * 8 + 8 + 4;
/// Bytes of an extent.
const EXTENT: usize = 8;

impl Meta {
    /// Reads it from its page.
    ///
    /// # Errors
    /// A page that is none.
    pub fn read<P: Pages>(pages: &P) -> Result<Self> {
        pages.look(META, Self::decode)
    }

    /// Reads it from the body of its page.
    ///
    /// # Errors
    /// Bytes that no version of this code wrote.
    pub fn decode(body: &[u8]) -> Result<Self> {
        let bytes = content(body, META, META_HEADER).map_err(not_ours)?;
        Self::parse(bytes).ok_or(Fault::Corrupt {
            block: META,
            what: "its figures are cut off or impossible",
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let tail = |at| {
            Some(Tail {
                id: u32_at(bytes, at)?,
                start: u32_at(bytes, at + 4)?,
                pages: u32_at(bytes, at + 8)?,
            })
        };
        let config_length = usize::from(u16_at(bytes, 72)?);
        let pending = usize::from(u16_at(bytes, 74)?);
        let segments = usize::from(u16_at(bytes, 76)?);
        let mut at = FIXED;
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
                *at += EXTENT;
            }
            Some(extents)
        };
        let mut meta = Self {
            key: [u64_at(bytes, 0)?, u64_at(bytes, 8)?],
            design: Design {
                k1: f64::from_bits(u64_at(bytes, 16)?),
                b: f64::from_bits(u64_at(bytes, 24)?),
                text_config: text_config.to_owned(),
                weights,
                server: u32_at(bytes, 32)?,
            },
            next: u32_at(bytes, 36)?,
            tail: tail(40)?,
            tail_page: u32_at(bytes, 52)?,
            spilling: tail(56)?,
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
            at += SEGMENT;
            segment.extents = extents(&mut at, count)?;
            let pages: u64 = segment.extents.iter().map(|e| u64::from(e.length)).sum();
            if count > EXTENTS
                || pages < u64::from(segment.pages)
                || segment.dead > segment.documents
            {
                return None;
            }
            meta.segments.push(segment);
        }
        meta.parameters().is_ok().then_some(meta)
    }

    /// Writes it to its page.
    ///
    /// # Errors
    /// [`Fault::Full`] where it does not fit.
    pub fn encode(&self, body: &mut [u8]) -> Result<()> {
        let mut bytes = Vec::with_capacity(ROOM);
        let number = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_le_bytes());
        let short = |bytes: &mut Vec<u8>, value: usize| {
            bytes.extend(u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes());
        };
        bytes.extend(self.key[0].to_le_bytes());
        bytes.extend(self.key[1].to_le_bytes());
        bytes.extend(self.design.k1.to_bits().to_le_bytes());
        bytes.extend(self.design.b.to_bits().to_le_bytes());
        for value in [
            self.design.server,
            self.next,
            self.tail.id,
            self.tail.start,
            self.tail.pages,
            self.tail_page,
            self.spilling.id,
            self.spilling.start,
            self.spilling.pages,
        ] {
            number(&mut bytes, value);
        }
        number(&mut bytes, 0);
        short(&mut bytes, self.design.text_config.len());
        short(&mut bytes, self.pending.len());
        short(&mut bytes, self.segments.len());
        short(&mut bytes, 0);
        bytes.extend(self.design.weights.all());
        bytes.extend(self.design.text_config.as_bytes());
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
        put(
            body,
            META_HEADER,
            &bytes,
            "its segments do not fit the meta page",
        )
    }

    /// The parameters that it was made with.
    ///
    /// # Errors
    /// Damage.
    pub fn parameters(&self) -> Result<Parameters> {
        Parameters::new(self.design.k1, self.design.b).map_err(|_| Fault::Corrupt {
            block: META,
            what: "its k1 or b is impossible",
        })
    }

    /// Documents of all segments that vacuum removed.
    pub fn removed(&self) -> u64 {
        let dead = self.segments.iter().map(|segment| segment.dead);
        dead.map(u64::from).sum()
    }

    /// Documents of all segments.
    pub fn documents(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| u64::from(segment.documents))
            .sum()
    }
}

/// A run of pages that was given up, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeRun {
    /// The pages.
    pub extent: Extent,
    /// [`Store::now`](super::store::Store::now) of that moment; 0 where nobody ever read them.
    pub moment: u64,
}

/// Bytes of a free run.
const RUN: usize = 16;
/// Runs that can be remembered.
pub const RUNS: usize = ROOM / RUN;

/// Reads the list of free runs.
///
/// # Errors
/// A page that is none.
pub fn free_runs(body: &[u8]) -> Result<Vec<FreeRun>> {
    let bytes = content(body, FREE, FREE_HEADER).map_err(not_ours)?;
    let run = |run: &[u8]| {
        Some(FreeRun {
            extent: Extent {
                start: u32_at(run, 0)?,
                length: u32_at(run, 4)?,
            },
            moment: u64_at(run, 8)?,
        })
    };
    Ok(bytes.chunks_exact(RUN).filter_map(run).collect())
}

/// Writes the list of free runs. Neighbours that were given up become one, with the later moment; of more than fit the
/// shortest are forgotten: their pages stay unused until the index is made anew.
///
/// # Errors
/// None that can come up.
pub fn put_free_runs(body: &mut [u8], mut runs: Vec<FreeRun>) -> Result<()> {
    runs.sort_unstable_by_key(|run| run.extent);
    let mut merged: Vec<FreeRun> = Vec::with_capacity(runs.len());
    for run in runs {
        match merged.last_mut() {
            Some(last)
                if last.extent.start.checked_add(last.extent.length) == Some(run.extent.start) =>
            {
                last.extent.length += run.extent.length;
                last.moment = last.moment.max(run.moment);
            }
            _ => merged.push(run),
        }
    }
    if merged.len() > RUNS {
        merged.sort_unstable_by_key(|run| std::cmp::Reverse(run.extent.length));
        merged.truncate(RUNS);
    }
    let mut bytes = Vec::with_capacity(merged.len() * RUN);
    for run in merged {
        bytes.extend(run.extent.start.to_le_bytes());
        bytes.extend(run.extent.length.to_le_bytes());
        bytes.extend(run.moment.to_le_bytes());
    }
    put(body, FREE_HEADER, &bytes, "more free runs than fit")
}

/// Fills a page.
pub(super) fn put(body: &mut [u8], header: Header, bytes: &[u8], what: &'static str) -> Result<()> {
    let room = body
        .get_mut(HEADER..)
        .filter(|room| bytes.len() <= room.len());
    let Some(room) = room else {
        return Err(Fault::Full { what });
    };
    room[..bytes.len()].copy_from_slice(bytes);
    room[bytes.len()..].fill(0);
    header.write(body, bytes.len());
    Ok(())
}

/// The first two pages have one owner always.
fn not_ours(fault: Fault) -> Fault {
    match fault {
        Fault::Moved { block } => Fault::Corrupt {
            block,
            what: "it is not the page that belongs there",
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::page::BODY;
    use proptest::prelude::*;

    fn extents() -> impl Strategy<Value = Vec<Extent>> {
        prop::collection::vec(
            (1_u32..9_999, 1_u32..99).prop_map(|(start, length)| Extent { start, length }),
            1..EXTENTS,
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
            let tail = |at: usize| Tail { id: numbers[at], start: numbers[at + 1], pages: numbers[at + 2] };
            let meta = Meta { key, design: Design { k1, b, text_config: config, weights: Weights::new(&numbers[1].to_le_bytes()).unwrap(), server: numbers[0] }, next: numbers[1], tail: tail(2), tail_page: numbers[5],
                spilling: tail(6), pending, segments };
            let mut body = vec![0; BODY];
            meta.encode(&mut body).unwrap();
            prop_assert_eq!(Meta::decode(&body).unwrap(), meta);
        }

        #[test]
        fn any_bytes_are_read_or_refused(noise in prop::collection::vec(any::<u8>(), 0..ROOM)) {
            let mut body = vec![0; BODY];
            put(&mut body, META_HEADER, &noise, "").unwrap();
            let _ = Meta::decode(&body);
            put(&mut body, FREE_HEADER, &noise, "").unwrap();
            let _ = free_runs(&body);
        }
    }

    #[test]
    fn neighbours_become_one_run() {
        let run = |start, length, moment| FreeRun {
            extent: Extent { start, length },
            moment,
        };
        let mut body = vec![0; BODY];
        put_free_runs(
            &mut body,
            vec![run(10, 2, 5), run(4, 3, 1), run(7, 3, 9), run(20, 1, 0)],
        )
        .unwrap();
        assert_eq!(free_runs(&body).unwrap(), [run(4, 8, 9), run(20, 1, 0)]);
    }
}
