//! Merges the parts of a build into one segment, with the documents by row.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::index::error::Result;
use crate::index::pages::meta::Meta;
use crate::index::pages::page::u64_at;
use crate::index::pages::store::Store;
use crate::index::segment::writer::SegmentWriter;
use crate::index::write::bulk_load::BulkLoader;
use crate::index::write::loaded_part::{LoadedPart, PartReader, RECORD_BYTES};
use crate::index::write::publish::publish_segment;
use crate::index::write::sorted_runs::{DAMAGED_RUN, NewNumbers, RunMerge, RunStorage};

/// A document of a pass.
struct Record {
    row: u64,
    fingerprint: u64,
    norm: u8,
}

/// Reads the documents of a pass in order.
struct PassDocuments {
    /// Index of the part.
    part: usize,
    /// Position of the next records that are not in `held`, and the end of the pass.
    from: usize,
    until: usize,
    held: Vec<u8>,
    at: usize,
    numbers: NewNumbers,
}

impl PassDocuments {
    fn next<R: RunStorage>(&mut self, parts: &mut [PartReader<R>]) -> Result<Option<Record>> {
        if self.at == self.held.len() {
            if self.from == self.until {
                return Ok(None);
            }
            self.held = parts[self.part].read(self.from, self.until)?;
            self.from += self.held.len();
            self.at = 0;
        }
        let record = self.held.get(self.at..self.at + RECORD_BYTES);
        let record = record.ok_or(DAMAGED_RUN)?;
        self.at += RECORD_BYTES;
        let number = |at| u64_at(record, at).ok_or(DAMAGED_RUN);
        Ok(Some(Record {
            // The fingerprint follows the six bytes of the row.
            row: number(0)? & ((1 << 48) - 1),
            fingerprint: number(6)?,
            norm: record[RECORD_BYTES - 1],
        }))
    }
}

/// Writes one segment with the documents of this process and of `others`, and publishes it.
/// [`create`](crate::index::write::maintain::create) must have created the index.
///
/// # Errors
/// Errors of the store and of the storage.
pub fn finish<S: Store, R: RunStorage>(
    store: &S,
    own: BulkLoader<R>,
    others: Vec<(LoadedPart, R, R)>,
) -> Result<()> {
    let meta = Meta::read(store)?;
    let mut writer = SegmentWriter::new(store, meta.next_id, meta.parameters()?, 0);
    let mut parts = vec![own.into_reader()?];
    for (part, documents, runs) in others {
        parts.push(PartReader::open(part, documents, runs)?);
    }
    let passes = write_documents(&mut writer, &mut parts)?;
    let mut merge = RunMerge::default();
    let mut passes = passes.into_iter();
    for part in parts {
        let file = merge.add_file(part.runs);
        let (mut from, mut runs) = (0, 0);
        let last = part.passes.len().saturating_sub(1);
        let mut postings = Some(part.postings);
        for (at, (pass, documents)) in part.passes.iter().zip(passes.by_ref()).enumerate() {
            let ends = part.ends.get(runs..pass.runs as usize).ok_or(DAMAGED_RUN)?;
            let held = postings.take_if(|_| at == last).unwrap_or_default();
            merge.add_pass(documents.numbers, file, from, ends, held);
            runs = pass.runs as usize;
            from = ends.last().copied().unwrap_or(from);
        }
    }
    merge.write(&mut writer)?;
    publish_segment(store, writer, &[], None)
}

/// Writes the documents of all passes by row. Returns the passes, part by part, with the new numbers of their documents.
fn write_documents<S: Store, R: RunStorage>(
    writer: &mut SegmentWriter<'_, S>,
    parts: &mut [PartReader<R>],
) -> Result<Vec<PassDocuments>> {
    let mut passes = Vec::new();
    for (part, reader) in parts.iter().enumerate() {
        let mut from = 0;
        for pass in &reader.passes {
            let until = pass.documents as usize * RECORD_BYTES;
            passes.push(PassDocuments {
                part,
                from,
                until,
                held: Vec::new(),
                at: 0,
                numbers: NewNumbers::from((from / RECORD_BYTES) as u32),
            });
            from = until;
        }
    }
    let mut next: Vec<Option<Record>> = Vec::new();
    let mut queue = BinaryHeap::new();
    for (at, pass) in passes.iter_mut().enumerate() {
        let record = pass.next(parts)?;
        queue.extend(record.as_ref().map(|record| Reverse((record.row, at))));
        next.push(record);
    }
    while let Some(Reverse((_, at))) = queue.pop() {
        let Some(record) = next[at].take() else {
            continue;
        };
        let number = writer.document(record.row, record.fingerprint, record.norm)?;
        passes[at].numbers.push(number);
        next[at] = passes[at].next(parts)?;
        queue.extend(next[at].as_ref().map(|record| Reverse((record.row, at))));
    }
    Ok(passes)
}
