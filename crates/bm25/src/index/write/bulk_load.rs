//! Builds an index of many documents. The postings are sorted in memory, or in runs that are merged at the end if memory is
//! not sufficient. Several processes may each load a part of the documents.

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::meta::Meta;
use crate::index::pages::page::{put_varint, u64_at};
use crate::index::pages::store::Store;
use crate::index::segment::writer::SegmentWriter;
use crate::index::terms::Document;
use crate::index::write::publish::publish_segment;
use crate::index::write::sorted_runs::{
    BUFFER_BYTES, DAMAGED_RUN, RunMerge, RunStorage, read_exactly,
};

/// Bytes of a posting in memory.
const POSTING_BYTES: usize = size_of::<(u64, u32, u32)>();

/// The documents that one process has loaded into its storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LoadedPart {
    /// Number of documents. Their records have [`RECORD_BYTES`] bytes each.
    pub documents: u32,
    /// Number of sorted runs of postings. Their end positions are stored after the documents.
    pub runs: u32,
}

/// Bytes of a document record: row, fingerprint, norm.
const RECORD_BYTES: usize = 6 + 8 + 1;
/// Bytes of the end position of a run.
const END_BYTES: usize = 8;

/// Loads the documents of a build, or the part of them that one of several processes reads.
pub struct BulkLoader<R> {
    /// Documents and runs so far.
    part: LoadedPart,
    documents: R,
    /// Records that are not written yet.
    records: Vec<u8>,
    runs: R,
    /// End position of each run; the next run begins there.
    ends: Vec<u64>,
    postings: Vec<(u64, u32, u32)>,
    /// Maximum number of postings in memory.
    max_postings: usize,
}

impl<R: RunStorage> BulkLoader<R> {
    /// Creates a loader. It keeps up to `memory` bytes of postings in memory, and writes the rest to `runs` and the documents
    /// to `documents`.
    pub fn new(documents: R, runs: R, memory: usize) -> Self {
        Self {
            part: LoadedPart::default(),
            documents,
            records: Vec::with_capacity(BUFFER_BYTES),
            runs,
            ends: Vec::new(),
            postings: Vec::new(),
            max_postings: (memory / POSTING_BYTES).max(1 << 10),
        }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// Errors of the storage, and [`IndexError::Full`].
    pub fn add(&mut self, document: &Document) -> Result<()> {
        if self.postings.len() + document.terms.len() > self.max_postings
            && !self.postings.is_empty()
        {
            self.write_run()?;
        }
        let number = self.part.documents;
        self.part.documents = number.checked_add(1).ok_or(IndexError::Full {
            problem: "a segment has too many documents",
        })?;
        self.records.extend(&document.row.to_le_bytes()[..6]);
        self.records.extend(document.fingerprint.to_le_bytes());
        self.records.push(document.norm());
        if self.records.len() + RECORD_BYTES > BUFFER_BYTES {
            self.documents.write(&self.records)?;
            self.records.clear();
        }
        check_interrupt(WORK_PER_POSTING * document.terms.len());
        let each = document.terms.iter();
        self.postings
            .extend(each.map(|&(hash, frequency)| (hash, number, frequency)));
        Ok(())
    }

    /// Number of documents so far.
    pub fn documents(&self) -> u32 {
        self.part.documents
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

    /// Writes everything that is still in memory, for the process that calls [`finish`].
    ///
    /// # Errors
    /// Errors of the storage.
    pub fn into_part(mut self) -> Result<(LoadedPart, R, R)> {
        if !self.postings.is_empty() {
            self.write_run()?;
        }
        for end in &self.ends {
            self.records.extend(end.to_le_bytes());
        }
        self.documents.write(&self.records)?;
        self.part.runs = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        Ok((self.part, self.documents, self.runs))
    }
}

/// Writes one segment with the documents of this process and of `others`, and publishes it.
/// [`create`](crate::index::write::maintain::create) must have created the index.
///
/// # Errors
/// Errors of the store and of the storage.
pub fn finish<S: Store, R: RunStorage>(
    store: &S,
    mut own: BulkLoader<R>,
    others: Vec<(LoadedPart, R, R)>,
) -> Result<()> {
    let meta = Meta::read(store)?;
    let mut writer = SegmentWriter::new(store, meta.next_id, meta.parameters()?, 0);
    let mut merge = RunMerge::default();
    // Postings in memory stay there, so a small build writes no file.
    sort(&mut own.postings, u64::BITS);
    let held = std::mem::take(&mut own.postings);
    copy_documents(&mut writer, &mut own.documents, own.part, &own.records)?;
    merge.add(own.runs, &own.ends, 0);
    merge.add_in_memory(held, 0);
    for (part, mut documents, runs) in others {
        let base = u32::try_from(writer.documents()).unwrap_or(u32::MAX);
        let behind = copy_documents(&mut writer, &mut documents, part, &[])?;
        let ends = read_ends(&mut documents, behind, part.runs)?;
        merge.add(runs, &ends, base);
    }
    merge.write(&mut writer)?;
    publish_segment(store, writer, &[], None)
}

/// Copies the documents of a part into the segment; the records `left` are the last ones, still in memory. Returns the end
/// position of the records.
fn copy_documents<S: Store>(
    writer: &mut SegmentWriter<'_, S>,
    documents: &mut impl RunStorage,
    part: LoadedPart,
    left: &[u8],
) -> Result<u64> {
    let all = u64::from(part.documents) * RECORD_BYTES as u64;
    let mut at = 0;
    let mut held = vec![0; BUFFER_BYTES / RECORD_BYTES * RECORD_BYTES];
    while at < all {
        let written = usize::try_from(all - left.len() as u64 - at).unwrap_or(usize::MAX);
        let records = if written == 0 {
            left
        } else {
            let wanted = written.min(held.len());
            read_exactly(documents, at, &mut held[..wanted])?;
            &held[..wanted]
        };
        for record in records.chunks_exact(RECORD_BYTES) {
            let number = |at| u64_at(record, at).ok_or(DAMAGED_RUN);
            // The fingerprint follows the six bytes of the row.
            let row = number(0)? & ((1 << 48) - 1);
            writer.document(row, number(6)?, record[RECORD_BYTES - 1])?;
        }
        at += records.len() as u64;
    }
    Ok(all)
}

/// Reads the end positions of the runs of a part.
fn read_ends(documents: &mut impl RunStorage, from: u64, runs: u32) -> Result<Vec<u64>> {
    let mut bytes = vec![0; runs as usize * END_BYTES];
    read_exactly(documents, from, &mut bytes)?;
    let (ends, _) = bytes.as_chunks();
    Ok(ends.iter().copied().map(u64::from_le_bytes).collect())
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
