//! Sorted runs of postings in files or in memory, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::index::error::{IndexError, Result};
use crate::index::pages::page::take_varint;
use crate::index::pages::store::Store;
use crate::index::segment::writer::SegmentWriter;

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

/// A merge of runs in ascending order of their documents. All postings of a document are in the same run.
pub struct RunMerge<R> {
    files: Vec<R>,
    cursors: Vec<Cursor>,
}

impl<R> Default for RunMerge<R> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            cursors: Vec::new(),
        }
    }
}

impl<R: RunStorage> RunMerge<R> {
    /// Adds consecutive runs of a file. `base` is added to their document numbers.
    pub fn add(&mut self, runs: R, ends: &[u64], base: u32) {
        let file = self.files.len();
        self.files.push(runs);
        let mut from = 0;
        for &end in ends {
            let source = RunSource::InFile(FileRun::new(file, from, end));
            self.cursors.push(Cursor { source, base });
            from = end;
        }
    }

    /// Adds a run in memory.
    pub fn add_in_memory(&mut self, postings: Vec<(u64, u32, u32)>, base: u32) {
        let source = RunSource::InMemory(postings, 0, 0);
        self.cursors.push(Cursor { source, base });
    }

    /// Writes all terms to the segment writer.
    ///
    /// # Errors
    /// Errors of the store and of the storage of the runs.
    pub fn write<S: Store>(mut self, writer: &mut SegmentWriter<'_, S>) -> Result<()> {
        let (files, cursors) = (&mut self.files, &mut self.cursors);
        let mut queue = BinaryHeap::new();
        for (at, cursor) in cursors.iter_mut().enumerate() {
            if let Some(hash) = cursor.term(files)? {
                queue.push(Reverse((hash, at)));
            }
        }
        while let Some(&Reverse((hash, _))) = queue.peek() {
            let mut with = Vec::new();
            while let Some(&Reverse((next, at))) = queue.peek()
                && next == hash
            {
                queue.pop();
                with.push(at);
            }
            let mut list = with.iter();
            let mut current = list.next();
            let each = std::iter::from_fn(|| {
                loop {
                    let at = *current?;
                    match cursors[at].posting(files) {
                        Ok(None) => current = list.next(),
                        Ok(Some(posting)) => return Some(Ok(posting)),
                        Err(error) => {
                            current = None;
                            return Some(Err(error));
                        }
                    }
                }
            });
            writer.term(hash, each)?;
            for at in with {
                if let Some(hash) = cursors[at].term(files)? {
                    queue.push(Reverse((hash, at)));
                }
            }
        }
        Ok(())
    }
}

/// A run that is being read.
struct Cursor {
    source: RunSource,
    /// Number of the first document of its part.
    base: u32,
}

/// The postings of a run.
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

impl Cursor {
    /// Returns the next term. All postings of the previous term must have been read.
    fn term<R: RunStorage>(&mut self, files: &mut [R]) -> Result<Option<u64>> {
        match &mut self.source {
            RunSource::InMemory(postings, at, term) => {
                let next = postings.get(*at).map(|&(hash, ..)| hash);
                *term = next.unwrap_or_default();
                Ok(next)
            }
            RunSource::InFile(run) => match files.get_mut(run.file) {
                Some(file) => run.term(file),
                None => Ok(None),
            },
        }
    }

    /// Returns the next posting of the current term.
    fn posting<R: RunStorage>(&mut self, files: &mut [R]) -> Result<Option<(u32, u32)>> {
        let posting = match &mut self.source {
            RunSource::InMemory(postings, at, term) => {
                let next = postings.get(*at).filter(|&&(hash, ..)| hash == *term);
                *at += usize::from(next.is_some());
                next.map(|&(_, document, frequency)| (document, frequency))
            }
            RunSource::InFile(run) => match files.get_mut(run.file) {
                Some(file) => run.posting(file)?,
                None => None,
            },
        };
        match posting {
            Some((document, frequency)) => {
                let number = document.checked_add(self.base).ok_or(DAMAGED_RUN)?;
                Ok(Some((number, frequency)))
            }
            None => Ok(None),
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
