//! What the documents of a search must have besides a word of the query that ranks them: a word of another query, a required word, or
//! the value of a filter column. Excluded words are requirements too.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::Statistics;
use crate::index::search::document_scores::DocumentScores;
use crate::index::search::posting_list::LOOKUP_COST;
use crate::index::search::snapshot::Snapshot;
use crate::index::search::window::{Positions, WINDOW};
use crate::index::segment::dictionary::Entry;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;

/// The documents of an index that have at least one of several terms, or none of them.
pub struct Requirement {
    /// Whether the documents have none of the terms.
    excludes: bool,
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
            excludes: false,
            entries: entries.collect(),
            buffered: buffered.map(|b| (b.row, b.fingerprint)).collect(),
        })
    }

    /// Requires one of the terms with these numbers in a snapshot. Their weights do not matter.
    #[must_use]
    pub fn term(snapshot: &Snapshot, terms: Range<usize>) -> Self {
        let entries = snapshot.entries.iter().map(|entries| {
            let entries = entries.get(terms.clone()).unwrap_or_default();
            entries.iter().flatten().cloned().collect()
        });
        let buffered = snapshot.buffered.iter().filter(|buffered| {
            let frequencies = buffered.frequencies.get(terms.clone());
            frequencies
                .unwrap_or_default()
                .iter()
                .any(|&count| count > 0)
        });
        Self {
            excludes: false,
            entries: entries.collect(),
            buffered: buffered.map(|b| (b.row, b.fingerprint)).collect(),
        }
    }

    /// None of these terms.
    #[must_use]
    pub fn no_term(snapshot: &Snapshot, terms: Range<usize>) -> Self {
        Self {
            excludes: true,
            ..Self::term(snapshot, terms)
        }
    }

    /// Whether a row of the write buffer fulfils the requirement.
    pub(super) fn is_met_by_buffered(&self, row: u64) -> bool {
        self.buffered.contains_key(&row) != self.excludes
    }

    /// Rows and fingerprints of the documents of the write buffer that fulfil the requirement; `None` if it excludes documents.
    pub(super) fn buffered(&self) -> Option<impl Iterator<Item = (u64, u64)>> {
        let rows = self.buffered.iter().map(|(&row, &print)| (row, print));
        (!self.excludes).then_some(rows)
    }
}

/// A requirement that at most one in this many documents meets is narrow.
const NARROW: u64 = 4;

/// The requirements in one segment. Documents are asked for in ascending order.
pub(super) struct SegmentRequirements<P: Pages> {
    /// Whether the rarest requirement is narrow. If so, candidates are compared with it before the last lists are added to them.
    narrow: bool,
    /// The postings of each requirement, the rarest requirement first.
    lists: Vec<Vec<Postings<P>>>,
    /// The postings of all excluded terms.
    excluded: Vec<Postings<P>>,
}

impl<P: Pages> SegmentRequirements<P> {
    /// Opens the postings in segment number `at`.
    pub(super) fn open(
        reader: &SegmentReader<'_, P>,
        at: usize,
        requirements: &[Requirement],
    ) -> Result<Self> {
        let (mut lists, mut excluded) = (Vec::new(), Vec::new());
        for requirement in requirements {
            let entries = requirement.entries.get(at).into_iter().flatten();
            let postings = entries.map(|entry| Postings::new(reader, entry.clone()));
            let postings = postings.collect::<Result<Vec<_>>>()?;
            match requirement.excludes {
                true => excluded.extend(postings),
                false => lists.push(postings),
            }
        }
        lists.sort_by_key(|list: &Vec<_>| count(list));
        let most = u64::from(reader.segment.documents) / NARROW;
        Ok(Self {
            narrow: lists.first().is_some_and(|list| count(list) <= most),
            lists,
            excluded,
        })
    }

    /// The number of postings of the rarest requirement; `None` if documents are only excluded.
    pub(super) fn rarest(&self) -> Option<u64> {
        self.lists.first().map(|list| count(list))
    }

    /// Moves back to the first document.
    pub(super) fn restart(&mut self, reader: &SegmentReader<'_, P>) -> Result<()> {
        let lists = self.lists.iter_mut().flatten();
        let mut all = lists.chain(&mut self.excluded);
        all.try_for_each(|postings| postings.restart(reader))
    }

    /// Removes the candidates of a window that do not fulfil the rarest requirement, if it is narrow.
    pub(super) fn retain_narrow(
        &mut self,
        reader: &SegmentReader<'_, P>,
        window: Range<u32>,
        candidates: &mut Vec<(usize, u64)>,
    ) -> Result<()> {
        let Some(rarest) = self.lists.first_mut().filter(|_| self.narrow) else {
            return Ok(());
        };
        let all = u64::from(reader.segment.documents.max(1));
        let in_window = (count(rarest) * WINDOW as u64 / all) as usize;
        let lookups = candidates.len() * rarest.len();
        let mut found = Positions::new();
        if lookups * LOOKUP_COST <= in_window {
            check_interrupt(WORK_PER_POSTING * lookups);
            for &(position, _) in &*candidates {
                if has_document(rarest, reader, window.start + position as u32)? {
                    found.insert(position);
                }
            }
        } else {
            for postings in rarest {
                while let Some((documents, _)) =
                    postings.between(reader, window.start, window.end)?
                {
                    check_interrupt(WORK_PER_POSTING * documents.len());
                    for document in documents {
                        found.insert((document - window.start) as usize);
                    }
                }
            }
        }
        candidates.retain(|&(position, _)| found.contains(position));
        Ok(())
    }

    /// Whether a document fulfils each requirement, except the rarest one if it is narrow.
    pub(super) fn others_are_met(
        &mut self,
        reader: &SegmentReader<'_, P>,
        document: u32,
    ) -> Result<bool> {
        for list in self.lists.iter_mut().skip(usize::from(self.narrow)) {
            if !has_document(list, reader, document)? {
                return Ok(false);
            }
        }
        Ok(!has_document(&mut self.excluded, reader, document)?)
    }

    /// The documents that fulfil each requirement, ascending: the rarest one is read completely, and the others are asked for its
    /// documents. There are none if documents are only excluded.
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
        let others = others.iter_mut().map(|list| (list, true));
        for (list, wanted) in others.chain([(&mut self.excluded, false)]) {
            check_interrupt(WORK_PER_POSTING * documents.len());
            let mut kept = Vec::with_capacity(documents.len());
            for document in documents {
                if has_document(list, reader, document)? == wanted {
                    kept.push(document);
                }
            }
            documents = kept;
        }
        Ok(documents)
    }
}

/// The number of postings of several terms.
fn count<P: Pages>(list: &[Postings<P>]) -> u64 {
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
