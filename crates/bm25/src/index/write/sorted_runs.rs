//! Sorted runs of postings in files or in memory, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::index::error::{IndexError, Result};
use crate::index::pages::page::take_varint;
use crate::index::pages::store::Store;
use crate::index::segment::writer::SegmentWriter;
use crate::index::write::ascending_merge::AscendingMerge;

/// Size of the buffers for writing and merging runs, in bytes.
pub const BUFFER_BYTES: usize = 1 << 16;

/// A run was truncated or changed.
pub const DAMAGED_RUN: IndexError = IndexError::Corrupt {
    block: 0,
    problem: "a sorted run of the build cannot be read back",
};

/// Storage for runs: written once, then read.
pub trait RunStorage {
    /// Appends bytes.
    ///
    /// # Errors
    /// If there is no space.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads bytes from a position into a buffer and returns their number; 0 at the end.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    fn read(&mut self, from: u64, into: &mut [u8]) -> Result<usize>;
}

/// Storage in memory.
#[derive(Debug, Default)]
pub struct InMemoryRuns(Vec<u8>);

impl RunStorage for InMemoryRuns {
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

/// Fills a buffer with the bytes from a position.
///
/// # Errors
/// Errors of the storage, and [`DAMAGED_RUN`] if there are too few bytes.
pub fn read_exactly(runs: &mut impl RunStorage, from: u64, into: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    while filled < into.len() {
        match runs.read(from + filled as u64, &mut into[filled..])? {
            0 => return Err(DAMAGED_RUN),
            count => filled += count,
        }
    }
    Ok(())
}

/// The numbers in a segment of the consecutive documents of a pass. Numbers ascend.
#[derive(Debug)]
pub struct NewNumbers {
    /// The document after the last one.
    next: u32,
    /// First document and its new number, for each range of documents with consecutive new numbers.
    ranges: Vec<(u32, u32)>,
    /// New number after the last one.
    number: u32,
}

impl NewNumbers {
    /// No documents; the first one will be `first`.
    pub fn from(first: u32) -> Self {
        Self {
            next: first,
            ranges: Vec::new(),
            number: 0,
        }
    }

    /// Adds the new number of the next document.
    pub fn push(&mut self, number: u32) {
        if self.ranges.is_empty() || number != self.number {
            self.ranges.push((self.next, number));
        }
        self.next += 1;
        self.number = number + 1;
    }

    /// Returns the new number of a document. `range` is the range of an earlier document, and becomes that of this one.
    fn of(&self, document: u32, range: &mut usize) -> Option<u32> {
        let after = |at: usize| self.ranges.get(at + 1).map_or(self.next, |next| next.0);
        if document >= after(*range) {
            let rest = self.ranges.get(*range..)?;
            *range += rest
                .partition_point(|(first, _)| *first <= document)
                .checked_sub(1)?;
        }
        let (first, number) = *self.ranges.get(*range)?;
        (document < self.next).then_some(())?;
        number.checked_add(document.checked_sub(first)?)
    }
}

/// A merge of the runs of several passes. All postings of a document are in the same run, and the runs of a pass are in the order of
/// its documents.
pub struct RunMerge<R> {
    files: Vec<R>,
    runs: Vec<RunSource>,
    /// For each pass, the new numbers of its documents and the number of runs up to its end.
    passes: Vec<(NewNumbers, usize)>,
}

impl<R> Default for RunMerge<R> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            runs: Vec::new(),
            passes: Vec::new(),
        }
    }
}

impl<R: RunStorage> RunMerge<R> {
    /// Adds a file with runs, and returns its index.
    pub fn add_file(&mut self, runs: R) -> usize {
        self.files.push(runs);
        self.files.len() - 1
    }

    /// Adds a pass: its runs from a position of a file on, up to each of `ends`, and its last run, which is in memory.
    pub fn add_pass(
        &mut self,
        numbers: NewNumbers,
        file: usize,
        mut from: u64,
        ends: &[u64],
        postings: Vec<(u64, u32, u32)>,
    ) {
        for &end in ends {
            self.runs
                .push(RunSource::InFile(FileRun::new(file, from, end)));
            from = end;
        }
        if !postings.is_empty() {
            self.runs.push(RunSource::InMemory(postings, 0, 0));
        }
        self.passes.push((numbers, self.runs.len()));
    }

    /// Writes all terms to the segment writer.
    ///
    /// # Errors
    /// Errors of the store and of the storage of the runs.
    pub fn write<S: Store>(mut self, writer: &mut SegmentWriter<'_, S>) -> Result<()> {
        let (files, runs) = (&mut self.files, &mut self.runs);
        let mut queue = BinaryHeap::new();
        for (at, run) in runs.iter_mut().enumerate() {
            if let Some(hash) = run.term(files)? {
                queue.push(Reverse((hash, at)));
            }
        }
        while let Some(&Reverse((hash, _))) = queue.peek() {
            // Runs of equal terms come in order, so those of a pass follow each other.
            let mut with = Vec::new();
            while let Some(Reverse((_, at))) = pop_if(&mut queue, hash) {
                with.push(at);
            }
            let mut lists: Vec<PassPostings<'_>> = Vec::new();
            for &at in &with {
                let pass = self.passes.partition_point(|(_, end)| *end <= at);
                match lists.last_mut() {
                    Some(list) if list.pass == pass => list.runs.push(at),
                    _ => lists.push(PassPostings {
                        pass,
                        numbers: &self.passes.get(pass).ok_or(DAMAGED_RUN)?.0,
                        runs: vec![at],
                        current: 0,
                        range: 0,
                    }),
                }
            }
            let count = lists.len();
            let next = |list: usize| lists[list].next(runs, files);
            writer.term(hash, AscendingMerge::new(count, next)?)?;
            for at in with {
                if let Some(hash) = runs[at].term(files)? {
                    queue.push(Reverse((hash, at)));
                }
            }
        }
        Ok(())
    }
}

/// Removes the first run of the queue if its term is `hash`.
fn pop_if(
    queue: &mut BinaryHeap<Reverse<(u64, usize)>>,
    hash: u64,
) -> Option<Reverse<(u64, usize)>> {
    let Reverse((next, _)) = queue.peek()?;
    if *next != hash {
        return None;
    }
    queue.pop()
}

/// The postings of a term in one pass.
struct PassPostings<'a> {
    pass: usize,
    numbers: &'a NewNumbers,
    /// The runs with the term, in order, and the one that is being read.
    runs: Vec<usize>,
    current: usize,
    /// The range of the last document.
    range: usize,
}

impl PassPostings<'_> {
    /// Returns the next posting, with its new number.
    fn next<R: RunStorage>(
        &mut self,
        runs: &mut [RunSource],
        files: &mut [R],
    ) -> Result<Option<(u32, u32)>> {
        while let Some(&at) = self.runs.get(self.current) {
            if let Some((document, frequency)) = runs[at].posting(files)? {
                let number = self.numbers.of(document, &mut self.range);
                return Ok(Some((number.ok_or(DAMAGED_RUN)?, frequency)));
            }
            self.current += 1;
        }
        Ok(None)
    }
}

/// A run that is being read.
enum RunSource {
    /// Sorted postings in memory, the number of postings read, and the current term.
    InMemory(Vec<(u64, u32, u32)>, usize, u64),
    /// A run in a file.
    InFile(FileRun),
}

/// The bytes of a run in a file.
struct FileRun {
    /// Index of the file.
    file: usize,
    from: u64,
    end: u64,
    held: Vec<u8>,
    at: usize,
    /// Number of unread postings of the current term.
    left: u64,
    next: u32,
}

impl RunSource {
    /// Returns the next term. All postings of the previous term must have been read.
    fn term<R: RunStorage>(&mut self, files: &mut [R]) -> Result<Option<u64>> {
        match self {
            Self::InMemory(postings, at, term) => {
                let next = postings.get(*at).map(|&(hash, ..)| hash);
                *term = next.unwrap_or_default();
                Ok(next)
            }
            Self::InFile(run) => match files.get_mut(run.file) {
                Some(file) => run.term(file),
                None => Ok(None),
            },
        }
    }

    /// Returns the next posting of the current term.
    fn posting<R: RunStorage>(&mut self, files: &mut [R]) -> Result<Option<(u32, u32)>> {
        match self {
            Self::InMemory(postings, at, term) => {
                let next = postings.get(*at).filter(|&&(hash, ..)| hash == *term);
                *at += usize::from(next.is_some());
                Ok(next.map(|&(_, document, frequency)| (document, frequency)))
            }
            Self::InFile(run) => match files.get_mut(run.file) {
                Some(file) => run.posting(file),
                None => Ok(None),
            },
        }
    }
}

impl FileRun {
    fn new(file: usize, from: u64, end: u64) -> Self {
        Self {
            file,
            from,
            end,
            held: Vec::new(),
            at: 0,
            left: 0,
            next: 0,
        }
    }

    /// Returns the buffered bytes: at least 32, except at the end of the run.
    fn bytes(&mut self, runs: &mut impl RunStorage) -> Result<&[u8]> {
        if self.held.len() - self.at < 32 && self.from < self.end {
            self.held.drain(..self.at);
            self.at = 0;
            let kept = self.held.len();
            let wanted = usize::try_from(self.end - self.from)
                .unwrap_or(BUFFER_BYTES)
                .min(BUFFER_BYTES);
            self.held.resize(kept + wanted, 0);
            let count = runs.read(self.from, &mut self.held[kept..])?;
            if count == 0 {
                return Err(DAMAGED_RUN);
            }
            self.held.truncate(kept + count);
            self.from += count as u64;
            return self.bytes(runs);
        }
        Ok(&self.held[self.at..])
    }

    fn number(&mut self, runs: &mut impl RunStorage) -> Result<u64> {
        let mut rest = self.bytes(runs)?;
        let before = rest.len();
        let number = take_varint(&mut rest).ok_or(DAMAGED_RUN)?;
        let taken = before - rest.len();
        self.at += taken;
        Ok(number)
    }

    /// Returns the next term.
    fn term(&mut self, runs: &mut impl RunStorage) -> Result<Option<u64>> {
        let bytes = self.bytes(runs)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let hash = u64::from_le_bytes(*bytes.first_chunk().ok_or(DAMAGED_RUN)?);
        self.at += 8;
        self.left = self.number(runs)?;
        self.next = 0;
        Ok(Some(hash))
    }

    /// Returns the next posting of the current term.
    fn posting(&mut self, runs: &mut impl RunStorage) -> Result<Option<(u32, u32)>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let number = self.number(runs)?;
        let gap = u32::try_from(number >> 1).map_err(|_| DAMAGED_RUN)?;
        self.next = self.next.checked_add(gap).ok_or(DAMAGED_RUN)?;
        let frequency = match number & 1 {
            1 => 1,
            _ => u32::try_from(self.number(runs)?).map_err(|_| DAMAGED_RUN)?,
        };
        Ok(Some((self.next, frequency)))
    }
}
