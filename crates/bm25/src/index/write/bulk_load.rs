//! Loads the documents of a build. The postings are sorted in memory, or in runs that are merged at the end if memory is not
//! sufficient. Several processes may each load a part of the documents.

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::page::put_varint;
use crate::index::terms::Document;
use crate::index::write::loaded_part::{LoadedPart, PartReader, Pass, RECORD_BYTES};
use crate::index::write::sorted_runs::{BUFFER_BYTES, RunStorage};

/// Bytes of a posting in memory.
const POSTING_BYTES: usize = size_of::<(u64, u32, u32)>();

/// Loads the documents of a build, or the part of them that one of several processes reads.
pub struct BulkLoader<R> {
    /// Documents of the last page of the table. A scan returns the rows of a page in any order.
    page: Vec<Document>,
    /// Number of their terms.
    page_terms: usize,
    /// Number of documents that were numbered.
    numbered: u32,
    /// Row of the last document that was numbered.
    row: u64,
    documents: R,
    /// Records that are not written yet.
    records: Vec<u8>,
    runs: R,
    /// End position of each run; the next run begins there.
    ends: Vec<u64>,
    /// The complete passes.
    passes: Vec<Pass>,
    postings: Vec<(u64, u32, u32)>,
    /// Maximum number of postings in memory.
    max_postings: usize,
}

impl<R: RunStorage> BulkLoader<R> {
    /// Creates a loader. It keeps up to `memory` bytes of postings in memory, and writes the rest to `runs` and the documents
    /// to `documents`.
    pub fn new(documents: R, runs: R, memory: usize) -> Self {
        Self {
            page: Vec::new(),
            page_terms: 0,
            numbered: 0,
            row: 0,
            documents,
            records: Vec::with_capacity(BUFFER_BYTES),
            runs,
            ends: Vec::new(),
            passes: Vec::new(),
            postings: Vec::new(),
            max_postings: (memory / POSTING_BYTES).max(1 << 10),
        }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// Errors of the storage, and [`IndexError::Full`].
    pub fn add(&mut self, document: Document) -> Result<()> {
        let block = |document: &Document| document.row >> 16;
        let first = self.page.first();
        let is_next = first.is_some_and(|first| block(first) != block(&document));
        // A lower row of a page that was numbered early begins a new pass.
        if is_next || self.page_terms + document.terms.len() > self.max_postings {
            self.number_page()?;
        }
        self.page_terms += document.terms.len();
        check_interrupt(WORK_PER_POSTING * document.terms.len());
        self.page.push(document);
        Ok(())
    }

    /// Number of documents so far.
    pub fn documents(&self) -> u32 {
        let held = u32::try_from(self.page.len()).unwrap_or(u32::MAX);
        self.numbered.saturating_add(held)
    }

    /// Numbers the documents of the last page by row.
    fn number_page(&mut self) -> Result<()> {
        let mut page = std::mem::take(&mut self.page);
        page.sort_by_key(|document| document.row);
        for document in page.drain(..) {
            self.number(&document)?;
        }
        self.page = page;
        self.page_terms = 0;
        Ok(())
    }

    fn number(&mut self, document: &Document) -> Result<()> {
        let is_full = self.postings.len() + document.terms.len() > self.max_postings;
        let ends_pass = document.row < self.row;
        if (is_full || ends_pass) && !self.postings.is_empty() {
            self.write_run()?;
        }
        if ends_pass {
            self.passes.push(self.pass());
        }
        self.row = document.row;
        let number = self.numbered;
        self.numbered = number.checked_add(1).ok_or(IndexError::Full {
            problem: "a segment has too many documents",
        })?;
        self.records.extend(&document.row.to_le_bytes()[..6]);
        self.records.extend(document.fingerprint.to_le_bytes());
        self.records.push(document.norm());
        if self.records.len() + RECORD_BYTES > BUFFER_BYTES {
            self.documents.write(&self.records)?;
            self.records.clear();
        }
        let each = document.terms.iter();
        self.postings
            .extend(each.map(|&(hash, frequency)| (hash, number, frequency)));
        Ok(())
    }

    /// The pass that ends here.
    fn pass(&self) -> Pass {
        Pass {
            documents: self.numbered,
            runs: u32::try_from(self.ends.len()).unwrap_or(u32::MAX),
        }
    }

    /// Writes the postings in memory as a run.
    fn write_run(&mut self) -> Result<()> {
        sort(&mut self.postings, u64::BITS);
        let mut end = self.ends.last().copied().unwrap_or_default();
        let mut bytes = Vec::with_capacity(2 * BUFFER_BYTES);
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
            if bytes.len() >= BUFFER_BYTES {
                self.runs.write(&bytes)?;
                check_interrupt(bytes.len());
                end += bytes.len() as u64;
                bytes.clear();
            }
        }
        self.runs.write(&bytes)?;
        end += bytes.len() as u64;
        self.ends.push(end);
        self.postings.clear();
        Ok(())
    }

    /// Writes everything that is still in memory, for the process that calls [`finish`](super::load_merge::finish).
    ///
    /// # Errors
    /// Errors of the storage.
    pub fn into_part(mut self) -> Result<(LoadedPart, R, R)> {
        self.number_page()?;
        if !self.postings.is_empty() {
            self.write_run()?;
        }
        self.passes.push(self.pass());
        for end in &self.ends {
            self.records.extend(end.to_le_bytes());
        }
        for pass in &self.passes {
            self.records.extend(pass.documents.to_le_bytes());
            self.records.extend(pass.runs.to_le_bytes());
        }
        self.documents.write(&self.records)?;
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let part = LoadedPart {
            documents: self.numbered,
            runs: count(self.ends.len()),
            passes: count(self.passes.len()),
        };
        Ok((part, self.documents, self.runs))
    }

    /// Returns the documents and the postings for the merge of this process. What is in memory stays there, so a small build writes
    /// no file.
    pub(super) fn into_reader(mut self) -> Result<PartReader<R>> {
        self.number_page()?;
        sort(&mut self.postings, u64::BITS);
        self.passes.push(self.pass());
        let all = self.numbered as usize * RECORD_BYTES;
        Ok(PartReader {
            documents: self.documents,
            written: all - self.records.len(),
            records: self.records,
            runs: self.runs,
            ends: self.ends,
            passes: self.passes,
            postings: self.postings,
        })
    }
}

/// Number of postings that are sorted without an interrupt check; this takes some milliseconds.
const SORT_CHUNK: usize = 1 << 13;

/// Sorts postings by term and document. The postings are partitioned by single bits of the hash, with an interrupt check after
/// each step; hashes are uniform, so one bit splits them about in half. `bits` is the number of low hash bits that may still
/// differ.
fn sort(postings: &mut [(u64, u32, u32)], bits: u32) {
    // The documents of a term ascend, except where the partitioning has exchanged postings.
    let Some(bit) = bits.checked_sub(1).filter(|_| postings.len() > SORT_CHUNK) else {
        postings.sort_unstable();
        check_interrupt(WORK_PER_POSTING * postings.len());
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
    check_interrupt(postings.len());
    let (lower, upper) = postings.split_at_mut(low);
    sort(lower, bit);
    sort(upper, bit);
}
