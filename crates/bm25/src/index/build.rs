//! Builds an index of many documents at once: their postings are sorted in memory, and where that is not enough, in runs that
//! are merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reground_pulse::beat;

use super::POSTING;
use super::fault::{Fault, Result};
use super::maintain::publish;
use super::meta::Meta;
use super::page::{put_varint, take_varint};
use super::store::Store;
use super::terms::Document;
use super::writer::Writer;

/// Bytes of a posting in memory.
const BYTES: usize = size_of::<(u64, u32, u32)>();
/// Bytes of a run that are held while runs are merged.
const HELD: usize = 1 << 16;

/// Sorted runs of postings, in files or wherever there is room.
pub trait Runs {
    /// Appends bytes to what has been written.
    ///
    /// # Errors
    /// Where there is no room.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Fills a buffer with the bytes from a place on; how many there were.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    fn read(&mut self, from: u64, into: &mut [u8]) -> Result<usize>;
}

/// Runs in memory.
#[derive(Debug, Default)]
pub struct InMemory(Vec<u8>);

impl Runs for InMemory {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.extend(bytes);
        Ok(())
    }

    fn read(&mut self, from: u64, into: &mut [u8]) -> Result<usize> {
        let rest = usize::try_from(from)
            .ok()
            .and_then(|from| self.0.get(from..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// An index that is being built.
pub struct Builder<'s, S, R> {
    store: &'s S,
    writer: Writer<'s, S>,
    postings: Vec<(u64, u32, u32)>,
    /// Postings that may be held.
    most: usize,
    runs: R,
    /// Where each run begins and ends.
    bounds: Vec<(u64, u64)>,
}

impl<'s, S: Store, R: Runs> Builder<'s, S, R> {
    /// For an index that [`create`](super::maintain::create) made; `memory` bytes hold postings.
    ///
    /// # Errors
    /// Those of the store.
    pub fn new(store: &'s S, runs: R, memory: usize) -> Result<Self> {
        let meta = Meta::read(store)?;
        Ok(Self {
            store,
            writer: Writer::new(store, meta.next, meta.parameters()?),
            postings: Vec::new(),
            most: (memory / BYTES).max(1 << 10),
            runs,
            bounds: Vec::new(),
        })
    }

    /// Adds a document.
    ///
    /// # Errors
    /// Those of the store and of the runs.
    pub fn add(&mut self, document: &Document) -> Result<()> {
        if self.postings.len() + document.terms.len() > self.most && !self.postings.is_empty() {
            self.run()?;
        }
        let number = self
            .writer
            .document(document.row, document.fingerprint, document.norm())?;
        beat(POSTING * document.terms.len());
        let each = document.terms.iter();
        self.postings
            .extend(each.map(|&(hash, frequency)| (hash, number, frequency)));
        Ok(())
    }

    /// Documents so far.
    pub fn documents(&self) -> usize {
        self.writer.documents()
    }

    /// Writes what is in memory as a run.
    fn run(&mut self) -> Result<()> {
        sort(&mut self.postings, u64::BITS);
        let start = self.bounds.last().map_or(0, |&(_, end)| end);
        let mut end = start;
        let mut bytes = Vec::with_capacity(2 * HELD);
        for list in self.postings.chunk_by(|a, b| a.0 == b.0) {
            bytes.extend(list[0].0.to_le_bytes());
            put_varint(&mut bytes, list.len() as u64);
            let mut next = 0;
            for &(_, document, frequency) in list {
                put_varint(
                    &mut bytes,
                    u64::from(document - next) << 1 | u64::from(frequency == 1),
                );
                if frequency != 1 {
                    put_varint(&mut bytes, u64::from(frequency));
                }
                next = document;
            }
            if bytes.len() >= HELD {
                self.runs.write(&bytes)?;
                beat(bytes.len());
                end += bytes.len() as u64;
                bytes.clear();
            }
        }
        self.runs.write(&bytes)?;
        end += bytes.len() as u64;
        self.bounds.push((start, end));
        self.postings.clear();
        Ok(())
    }

    /// Writes the segment and publishes it.
    ///
    /// # Errors
    /// Those of the store and of the runs.
    pub fn finish(mut self) -> Result<()> {
        if self.bounds.is_empty() {
            sort(&mut self.postings, u64::BITS);
            for list in self.postings.chunk_by(|a, b| a.0 == b.0) {
                let each = list
                    .iter()
                    .map(|&(_, document, count)| Ok((document, count)));
                self.writer.term(list[0].0, each)?;
            }
        } else {
            self.run()?;
            self.postings = Vec::new();
            self.merge()?;
        }
        publish(self.store, self.writer, &[], None)
    }

    /// Merges the runs. A document's postings are in one run, and runs are in the order of documents.
    fn merge(&mut self) -> Result<()> {
        let mut cursors = Vec::new();
        let mut waiting = BinaryHeap::new();
        for (at, &(start, end)) in self.bounds.iter().enumerate() {
            let mut cursor = Cursor::new(start, end);
            if let Some(hash) = cursor.term(&mut self.runs)? {
                waiting.push(Reverse((hash, at)));
            }
            cursors.push(cursor);
        }
        while let Some(&Reverse((hash, _))) = waiting.peek() {
            let mut with = Vec::new();
            while let Some(&Reverse((next, at))) = waiting.peek()
                && next == hash
            {
                waiting.pop();
                with.push(at);
            }
            let (runs, cursors_of) = (&mut self.runs, &mut cursors);
            let mut list = with.iter();
            let mut current = list.next();
            let each = std::iter::from_fn(|| {
                loop {
                    let at = *current?;
                    match cursors_of[at].posting(runs) {
                        Ok(None) => current = list.next(),
                        Ok(Some(posting)) => return Some(Ok(posting)),
                        Err(fault) => {
                            current = None;
                            return Some(Err(fault));
                        }
                    }
                }
            });
            self.writer.term(hash, each)?;
            for at in with {
                if let Some(hash) = cursors[at].term(&mut self.runs)? {
                    waiting.push(Reverse((hash, at)));
                }
            }
        }
        Ok(())
    }
}

/// Postings that are sorted in one go: some milliseconds.
const SORTED: usize = 1 << 13;

/// Sorts postings by term and document, in parts, so that a cancel is heard in between: hashes are spread evenly, and one bit
/// of them parts about half. `bits` is how many of the hash may still differ.
fn sort(postings: &mut [(u64, u32, u32)], bits: u32) {
    // Of one term, documents rise but for what parting has exchanged.
    let Some(bit) = bits.checked_sub(1).filter(|_| postings.len() > SORTED) else {
        postings.sort_unstable();
        beat(POSTING * postings.len());
        return;
    };
    let is_low = |posting: &(u64, u32, u32)| posting.0 >> bit & 1 == 0;
    let (mut low, mut high) = (0, postings.len());
    while low < high {
        if is_low(&postings[low]) {
            low += 1;
        } else {
            high -= 1;
            postings.swap(low, high);
        }
    }
    beat(postings.len());
    let (lower, upper) = postings.split_at_mut(low);
    sort(lower, bit);
    sort(upper, bit);
}

/// A run that is being read.
struct Cursor {
    from: u64,
    end: u64,
    held: Vec<u8>,
    at: usize,
    /// Postings of the term that were not read yet.
    left: u64,
    next: u32,
}

/// A run that was cut off or changed on its way.
const DAMAGED: Fault = Fault::Corrupt {
    block: 0,
    what: "a sorted run of the build cannot be read back",
};

impl Cursor {
    fn new(from: u64, end: u64) -> Self {
        Self {
            from,
            end,
            held: Vec::new(),
            at: 0,
            left: 0,
            next: 0,
        }
    }

    /// What is held, at least 32 bytes as far as there are so many.
    fn bytes(&mut self, runs: &mut impl Runs) -> Result<&[u8]> {
        if self.held.len() - self.at < 32 && self.from < self.end {
            self.held.drain(..self.at);
            self.at = 0;
            let kept = self.held.len();
            let wanted = usize::try_from(self.end - self.from)
                .unwrap_or(HELD)
                .min(HELD);
            self.held.resize(kept + wanted, 0);
            let count = runs.read(self.from, &mut self.held[kept..])?;
            if count == 0 {
                return Err(DAMAGED);
            }
            self.held.truncate(kept + count);
            self.from += count as u64;
            return self.bytes(runs);
        }
        Ok(&self.held[self.at..])
    }

    fn number(&mut self, runs: &mut impl Runs) -> Result<u64> {
        let mut rest = self.bytes(runs)?;
        let before = rest.len();
        let number = take_varint(&mut rest).ok_or(DAMAGED)?;
        let taken = before - rest.len();
        self.at += taken;
        Ok(number)
    }

    /// The next term.
    fn term(&mut self, runs: &mut impl Runs) -> Result<Option<u64>> {
        let bytes = self.bytes(runs)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let hash = u64::from_le_bytes(*bytes.first_chunk().ok_or(DAMAGED)?);
        self.at += 8;
        self.left = self.number(runs)?;
        self.next = 0;
        Ok(Some(hash))
    }

    /// The next posting of the term.
    fn posting(&mut self, runs: &mut impl Runs) -> Result<Option<(u32, u32)>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let number = self.number(runs)?;
        let gap = u32::try_from(number >> 1).map_err(|_| DAMAGED)?;
        self.next = self.next.checked_add(gap).ok_or(DAMAGED)?;
        let frequency = match number & 1 {
            1 => 1,
            _ => u32::try_from(self.number(runs)?).map_err(|_| DAMAGED)?,
        };
        Ok(Some((self.next, frequency)))
    }
}
