//! A part of the documents of a build, as one process has loaded it.

use crate::index::error::Result;
use crate::index::pages::page::{u32_at, u64_at};
use crate::index::write::sorted_runs::{BUFFER_BYTES, DAMAGED_RUN, RunStorage, read_exactly};

/// The documents that one process has loaded into its storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LoadedPart {
    /// Number of documents. Their records have [`RECORD_BYTES`] bytes each.
    pub documents: u32,
    /// Number of sorted runs of postings. Their end positions are stored after the documents.
    pub runs: u32,
    /// Number of passes. They are stored after the runs.
    pub passes: u32,
}

/// Consecutive documents whose rows ascend. A scan that begins in the middle of a table makes two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Number of documents up to its end.
    pub documents: u32,
    /// Number of runs up to its end. No run is in two passes.
    pub runs: u32,
}

/// Bytes of a document record: row, fingerprint, norm.
pub const RECORD_BYTES: usize = 6 + 8 + 1;

/// Bytes of the end position of a run.
const END_BYTES: usize = 8;
/// Bytes of a pass: number of documents and of runs up to its end.
const PASS_BYTES: usize = 8;

/// The documents and postings of a part.
pub(super) struct PartReader<R> {
    /// The records of the documents; the last ones may be in memory.
    pub documents: R,
    /// Bytes of records that were written.
    pub written: usize,
    /// The records that were not written.
    pub records: Vec<u8>,
    pub runs: R,
    /// End position of each run.
    pub ends: Vec<u64>,
    pub passes: Vec<Pass>,
    /// The last run, if it is in memory. It belongs to the last pass.
    pub postings: Vec<(u64, u32, u32)>,
}

impl<R: RunStorage> PartReader<R> {
    /// Opens the part of another process.
    pub fn open(part: LoadedPart, mut documents: R, runs: R) -> Result<Self> {
        let written = part.documents as usize * RECORD_BYTES;
        let behind = part.runs as usize * END_BYTES;
        let mut bytes = vec![0; behind + part.passes as usize * PASS_BYTES];
        read_exactly(&mut documents, written as u64, &mut bytes)?;
        let (ends, passes) = bytes.split_at(behind);
        let ends = ends.chunks_exact(END_BYTES).map(|end| u64_at(end, 0));
        let passes = passes.chunks_exact(PASS_BYTES).map(|pass| {
            Some(Pass {
                documents: u32_at(pass, 0)?,
                runs: u32_at(pass, 4)?,
            })
        });
        Ok(Self {
            documents,
            written,
            records: Vec::new(),
            runs,
            ends: ends.collect::<Option<_>>().ok_or(DAMAGED_RUN)?,
            passes: passes.collect::<Option<_>>().ok_or(DAMAGED_RUN)?,
            postings: Vec::new(),
        })
    }

    /// Reads records from a position: as many as fit into a buffer, up to `until`.
    pub fn read(&mut self, from: usize, until: usize) -> Result<Vec<u8>> {
        if let Some(at) = from.checked_sub(self.written) {
            let held = self.records.get(at..until - self.written);
            return Ok(held.ok_or(DAMAGED_RUN)?.to_vec());
        }
        let most = BUFFER_BYTES / RECORD_BYTES * RECORD_BYTES;
        let mut bytes = vec![0; most.min(until.min(self.written) - from)];
        read_exactly(&mut self.documents, from as u64, &mut bytes)?;
        Ok(bytes)
    }
}
