//! Writes a segment: first its documents in order, then its terms by rising hash, each with its postings.

use reground_interrupt::check_interrupt;

use crate::score::Parameters;

use super::POSTING;
use super::blocks::{self, FULL};
use super::dictionary::{Entry, Filling, INLINE, Place};
use super::fault::{Fault, Result};
use super::meta::Segment;
use super::norms;
use super::page::{Kind, ROOM};
use super::score::{Saturation, impact};
use super::space::Space;
use super::store::{Extent, Store};

/// Bytes of a document: its row's address and its fingerprint.
pub const DOCUMENT: usize = 6 + 8;
/// Documents on a page.
pub const DOCUMENTS: usize = ROOM / DOCUMENT;
/// Bytes of the entry of a block: last document, page, offset, impact.
pub const SKIP: usize = 4 + 4 + 2 + 1;
/// Entries on a page.
pub const SKIPS: usize = ROOM / SKIP;
/// Bytes of the entry of a dictionary page: its first term, its place.
pub const DIRECTION: usize = 8 + 4;
/// Entries on a page.
pub const DIRECTIONS: usize = ROOM / DIRECTION;
/// Most documents of a segment: a bit of the numbers is kept free.
pub const MOST_DOCUMENTS: u32 = 1 << 31;

/// A page that is being filled, and its place.
#[derive(Default)]
struct Open {
    place: u32,
    bytes: Vec<u8>,
}

/// The entry of a block.
#[derive(Clone, Copy)]
struct Skip {
    last: u32,
    page: u32,
    offset: u16,
    impact: u8,
}

/// A segment that is being written.
pub struct Writer<'s, S> {
    space: Space<'s, S>,
    id: u32,
    parameters: Parameters,
    documents: Vec<u8>,
    norms: Vec<u8>,
    /// Sum of the lengths as norms keep them: a merge knows no others.
    length: u64,
    terms: Option<Terms>,
}

/// What is kept while terms are written.
struct Terms {
    saturation: Saturation,
    average: u32,
    count: u32,
    last: Option<u64>,
    postings: Open,
    skips: Open,
    dictionary: Filling,
    dictionary_place: u32,
    directory: Vec<(u64, u32)>,
}

/// The mean length as segments keep it, in 1/256, at least 1.
fn kept_average(length: u64, documents: usize) -> u32 {
    let mean = length as f64 / documents.max(1) as f64 * 256.0;
    (mean as u32).max(1)
}

impl<'s, S: Store> Writer<'s, S> {
    /// Nothing is written yet.
    pub fn new(store: &'s S, id: u32, parameters: Parameters) -> Self {
        Self {
            space: Space::new(store, id),
            id,
            parameters,
            documents: Vec::with_capacity(ROOM),
            norms: Vec::new(),
            length: 0,
            terms: None,
        }
    }

    /// Adds a document; its number.
    ///
    /// # Errors
    /// Those of the store, and [`Fault::Full`].
    pub fn document(&mut self, row: u64, fingerprint: u64, norm: u8) -> Result<u32> {
        let number = u32::try_from(self.norms.len()).unwrap_or(u32::MAX);
        if number >= MOST_DOCUMENTS {
            return Err(Fault::Full {
                what: "a segment has more documents than can be counted",
            });
        }
        if self.documents.len() + DOCUMENT > ROOM {
            self.flush_documents()?;
        }
        self.documents.extend(&row.to_le_bytes()[..6]);
        self.documents.extend(fingerprint.to_le_bytes());
        self.norms.push(norm);
        self.length += u64::from(norms::length(norm));
        check_interrupt(DOCUMENT);
        Ok(number)
    }

    /// How many documents it has so far.
    pub fn documents(&self) -> usize {
        self.norms.len()
    }

    fn flush_documents(&mut self) -> Result<()> {
        if !self.documents.is_empty() {
            let place = self.space.place()?;
            self.space.write(place, Kind::Documents, &self.documents)?;
            self.documents.clear();
        }
        Ok(())
    }

    /// Ends the documents: norms, and a bit for each.
    fn terms(&mut self) -> Result<&mut Terms> {
        if self.terms.is_none() {
            self.flush_documents()?;
            for norms in self.norms.chunks(ROOM) {
                let place = self.space.place()?;
                self.space.write(place, Kind::Norms, norms)?;
            }
            for documents in self.norms.chunks(ROOM * 8) {
                let place = self.space.place()?;
                let bits = vec![0; documents.len().div_ceil(8)];
                self.space.write(place, Kind::Dead, &bits)?;
            }
            let average = kept_average(self.length, self.norms.len());
            self.terms = Some(Terms {
                saturation: Saturation::new(&self.parameters, f64::from(average) / 256.0),
                average,
                count: 0,
                last: None,
                postings: Open::default(),
                skips: Open::default(),
                dictionary: Filling::default(),
                dictionary_place: 0,
                directory: Vec::new(),
            });
        }
        self.terms.as_mut().ok_or(Fault::Full {
            what: "a segment without terms",
        })
    }

    /// Adds a term with its postings, by rising document. Terms come by rising hash; one without postings is none.
    ///
    /// # Errors
    /// Those of the store and of `postings`.
    pub fn term(
        &mut self,
        hash: u64,
        postings: impl IntoIterator<Item = Result<(u32, u32)>>,
    ) -> Result<()> {
        self.terms()?;
        let (space, norms) = (&mut self.space, &self.norms);
        let Some(terms) = &mut self.terms else {
            return Ok(());
        };
        let (mut documents, mut frequencies) = ([0; FULL], [0; FULL]);
        let (mut held, mut total) = (0, 0_u32);
        let mut before = None;
        let mut skips: Vec<Skip> = Vec::new();
        let flush = |documents: &[u32], frequencies: &[u32], before: Option<u32>| {
            let mut most = 0.0_f64;
            for (&document, &frequency) in documents.iter().zip(frequencies) {
                let norm = norms.get(document as usize).copied().unwrap_or_default();
                most = most.max(terms.saturation.of(frequency, norm));
            }
            let mut block = Vec::with_capacity(blocks::LONGEST);
            blocks::encode(&mut block, before, documents, frequencies);
            check_interrupt(POSTING * documents.len());
            (impact(most), block)
        };
        let mut last_block = None;
        for posting in postings {
            let (document, frequency) = posting?;
            if held == FULL {
                let (impact, block) = flush(&documents, &frequencies, before);
                let last = documents[FULL - 1];
                skips.push(put_block(space, &mut terms.postings, &block, last, impact)?);
                before = Some(last);
                held = 0;
            }
            documents[held] = document;
            frequencies[held] = frequency;
            held += 1;
            total += 1;
        }
        if held == 0 {
            return Ok(());
        }
        let (impact, block) = flush(&documents[..held], &frequencies[..held], before);
        if total as usize <= INLINE {
            last_block = Some(block);
        } else {
            let last = documents[held - 1];
            skips.push(put_block(space, &mut terms.postings, &block, last, impact)?);
        }
        let most = skips
            .iter()
            .map(|skip| skip.impact)
            .max()
            .unwrap_or(u8::MAX);
        let place = match (last_block, &skips[..]) {
            (Some(block), _) => Place::Inline(block),
            (None, [only]) => Place::Block {
                page: only.page,
                offset: only.offset,
            },
            (None, many) => put_skips(space, &mut terms.skips, many)?,
        };
        let entry = Entry {
            documents: total,
            impact: most,
            place,
        };
        terms.put(space, hash, &entry.encode())
    }

    /// Ends it: the segment, and pages that it has left.
    ///
    /// # Errors
    /// Those of the store.
    pub fn finish(mut self) -> Result<(Segment, Vec<Extent>)> {
        self.terms()?;
        let Some(mut terms) = self.terms else {
            return Err(Fault::Full {
                what: "a segment without terms",
            });
        };
        let mut space = self.space;
        terms.flush_dictionary(&mut space)?;
        for (open, kind) in [(terms.postings, Kind::Postings), (terms.skips, Kind::Skips)] {
            if !open.bytes.is_empty() {
                space.write(open.place, kind, &open.bytes)?;
            }
        }
        let mut directory = None;
        for entries in terms.directory.chunks(DIRECTIONS) {
            let place = space.place()?;
            directory.get_or_insert(place);
            let mut bytes = Vec::with_capacity(entries.len() * DIRECTION);
            for (hash, place) in entries {
                bytes.extend(hash.to_le_bytes());
                bytes.extend(place.to_le_bytes());
            }
            space.write(place, Kind::Directory, &bytes)?;
        }
        let (pages, extents, left) = space.finish();
        let segment = Segment {
            id: self.id,
            documents: u32::try_from(self.norms.len()).unwrap_or(u32::MAX),
            dead: 0,
            length: self.length,
            average: terms.average,
            terms: terms.count,
            dictionary: u32::try_from(terms.directory.len()).unwrap_or(u32::MAX),
            directory: directory.unwrap_or_default(),
            pages,
            extents,
        };
        Ok((segment, left))
    }
}

impl Terms {
    /// Puts an entry into the dictionary.
    fn put<S: Store>(&mut self, space: &mut Space<'_, S>, hash: u64, entry: &[u8]) -> Result<()> {
        debug_assert!(self.last < Some(hash), "terms do not rise");
        self.last = Some(hash);
        if !self.dictionary.has_room(entry.len()) {
            self.flush_dictionary(space)?;
        }
        if self.dictionary.is_empty() {
            self.dictionary_place = space.place()?;
            self.directory.push((hash, self.dictionary_place));
        }
        self.dictionary.add(hash, entry);
        self.count += 1;
        Ok(())
    }

    fn flush_dictionary<S: Store>(&mut self, space: &mut Space<'_, S>) -> Result<()> {
        if !self.dictionary.is_empty() {
            let bytes = self.dictionary.take();
            space.write(self.dictionary_place, Kind::Dictionary, &bytes)?;
        }
        Ok(())
    }
}

/// Puts a block on the open postings page, or on the next where it does not fit.
fn put_block<S: Store>(
    space: &mut Space<'_, S>,
    open: &mut Open,
    block: &[u8],
    last: u32,
    impact: u8,
) -> Result<Skip> {
    let room = ensure_room(space, open, Kind::Postings, block.len())?;
    open.bytes.extend(block);
    Ok(Skip {
        last,
        page: open.place,
        offset: room,
        impact,
    })
}

/// Puts the entries of a list on the open skip page if all of them fit, else on pages of their own, which follow each other.
fn put_skips<S: Store>(space: &mut Space<'_, S>, open: &mut Open, skips: &[Skip]) -> Result<Place> {
    let bytes = |skips: &[Skip]| {
        let mut bytes = Vec::with_capacity(skips.len() * SKIP);
        for skip in skips {
            bytes.extend(skip.last.to_le_bytes());
            bytes.extend(skip.page.to_le_bytes());
            bytes.extend(skip.offset.to_le_bytes());
            bytes.push(skip.impact);
        }
        bytes
    };
    if skips.len() <= SKIPS {
        let at = ensure_room(space, open, Kind::Skips, skips.len() * SKIP)?;
        open.bytes.extend(bytes(skips));
        return Ok(Place::Blocks {
            page: open.place,
            entry: at / SKIP as u16,
        });
    }
    let mut first = None;
    for skips in skips.chunks(SKIPS) {
        let place = space.place()?;
        first.get_or_insert(place);
        space.write(place, Kind::Skips, &bytes(skips))?;
    }
    Ok(Place::Blocks {
        page: first.unwrap_or_default(),
        entry: 0,
    })
}

/// Makes the open page have room for so many bytes; the offset at which they go.
fn ensure_room<S: Store>(
    space: &mut Space<'_, S>,
    open: &mut Open,
    kind: Kind,
    bytes: usize,
) -> Result<u16> {
    if open.bytes.len() + bytes > ROOM {
        space.write(open.place, kind, &open.bytes)?;
        open.bytes.clear();
    }
    if open.bytes.is_empty() {
        open.place = space.place()?;
    }
    Ok(u16::try_from(open.bytes.len()).unwrap_or(u16::MAX))
}
