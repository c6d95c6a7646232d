//! What the documents of a search must have besides a word of the query that ranks them: a word of another query, or the value of a
//! filter column.

use std::collections::BTreeMap;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::Statistics;
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::snapshot::Snapshot;
use crate::index::segment::dictionary::Entry;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;

/// The documents of an index that have at least one of several terms.
pub struct Requirement {
    /// Entries of the terms, by segment.
    entries: Vec<Vec<Entry>>,
    /// Fingerprints of the documents of the write buffer, by row.
    buffered: BTreeMap<u64, u64>,
}

impl Requirement {
    /// A word of a query that contributes to scores.
    ///
    /// # Errors
    /// A damaged page.
    pub fn word(snapshot: &Snapshot, statistics: &Statistics) -> Result<Self> {
        let scores = DocumentScores::new(snapshot, statistics)?;
        let buffered = snapshot.buffered.iter();
        let buffered = buffered.filter(|buffered| scores.of_buffered(buffered) > 0);
        let entries = snapshot.entries.iter().map(|entries| {
            let entries = scores.entries(entries);
            entries.map(|(entry, _)| entry.clone()).collect()
        });
        Ok(Self {
            entries: entries.collect(),
            buffered: buffered.map(|b| (b.row, b.fingerprint)).collect(),
        })
    }

    /// One of the terms of a snapshot, whatever their weights.
    #[must_use]
    pub fn term(snapshot: &Snapshot) -> Self {
        let buffered = snapshot.buffered.iter();
        let entries = snapshot.entries.iter();
        Self {
            entries: entries
                .map(|e| e.iter().flatten().cloned().collect())
                .collect(),
            buffered: buffered.map(|b| (b.row, b.fingerprint)).collect(),
        }
    }

    /// Whether a row of the write buffer has one of the terms.
    pub(super) fn has_buffered(&self, row: u64) -> bool {
        self.buffered.contains_key(&row)
    }

    /// Rows and fingerprints of the documents of the write buffer with one of the terms.
    pub(super) fn buffered(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buffered.iter().map(|(&row, &print)| (row, print))
    }
}

/// The requirements in one segment. Documents are asked for in ascending order.
pub(super) struct SegmentRequirements<P: Pages> {
    /// The postings of each requirement, the rarest requirement first.
    lists: Vec<Vec<Postings<P>>>,
}

impl<P: Pages> SegmentRequirements<P> {
    /// Opens the postings in segment number `at`.
    pub(super) fn open(
        reader: &SegmentReader<'_, P>,
        at: usize,
        requirements: &[Requirement],
    ) -> Result<Self> {
        let mut lists = Vec::with_capacity(requirements.len());
        for requirement in requirements {
            let entries = requirement.entries.get(at).into_iter().flatten();
            let postings = entries.map(|entry| Postings::new(reader, entry.clone()));
            lists.push(postings.collect::<Result<Vec<_>>>()?);
        }
        lists.sort_by_key(count);
        Ok(Self { lists })
    }

    /// The number of postings of the rarest requirement; `None` without requirements.
    pub(super) fn rarest(&self) -> Option<u64> {
        self.lists.first().map(count)
    }

    /// Moves back to the first document.
    pub(super) fn restart(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        let postings = self.lists.iter_mut().flatten();
        postings.map(|postings| postings.restart(reader)).collect()
    }

    /// Whether a document fulfils each requirement.
    pub(super) fn are_met(&mut self, reader: &SegmentReader<'_, P>, document: u32) -> Result<bool> {
        for list in &mut self.lists {
            if !has_document(list, reader, document)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The documents that fulfil each requirement, ascending: the rarest one is read completely, and the others are asked for its
    /// documents. There are none without requirements.
    pub(super) fn documents(mut self, reader: &SegmentReader<'_, P>) -> Result<Vec<u32>> {
        let Some((rarest, others)) = self.lists.split_first_mut() else {
            return Ok(Vec::new());
        };
        let mut documents: Vec<u32> = Vec::new();
        for postings in rarest {
            while let Some((found, _)) = postings.between(reader, 0, u32::MAX)? {
                check_interrupt(WORK_PER_POSTING * found.len());
                documents.extend(found);
            }
        }
        documents.sort_unstable();
        documents.dedup();
        for list in others {
            check_interrupt(WORK_PER_POSTING * documents.len());
            let mut kept = Vec::with_capacity(documents.len());
            for document in documents {
                if has_document(list, reader, document)? {
                    kept.push(document);
                }
            }
            documents = kept;
        }
        Ok(documents)
    }
}

/// The number of postings of several terms.
fn count<P: Pages>(list: &Vec<Postings<P>>) -> u64 {
    list.iter()
        .map(|postings| u64::from(postings.documents()))
        .sum()
}

/// Whether one of several terms has a document.
fn has_document<P: Pages>(
    list: &mut [Postings<P>],
    reader: &SegmentReader<'_, P>,
    document: u32,
) -> Result<bool> {
    for postings in list {
        if postings.frequency(reader, document)? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
