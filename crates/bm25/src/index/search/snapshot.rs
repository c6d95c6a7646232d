//! A snapshot of an index for one search: the segments, the dictionary entries of the query's terms, and the matching
//! documents of the write buffer.
//!
//! Maintenance may reuse pages of the segments meanwhile. Their readers notice it, because each page names its owner, and take a snapshot
//! again ([`IndexError::Reused`](crate::index::IndexError::Reused)).

use std::cmp::Reverse;

use crate::index::error::Result;
use crate::index::pages::meta::{Meta, Segment};
use crate::index::pages::store::Pages;
use crate::index::score::Statistics;
use crate::index::segment::dictionary::Entry;
use crate::index::segment::norms;
use crate::index::segment::reader::SegmentReader;
use crate::index::terms::{QueryTerm, textless_term};
use crate::index::write::write_buffer;

/// An index as one reader sees it.
pub struct Snapshot {
    pub(super) meta: Meta,
    terms: Vec<QueryTerm>,
    statistics: Statistics,
    pub(super) buffered: Vec<BufferedMatch>,
    /// Dictionary entries by segment and term.
    pub(super) entries: Vec<Vec<Option<Entry>>>,
}

/// A document of the write buffer that contains a term of the query.
#[derive(Clone, Debug)]
pub(super) struct BufferedMatch {
    pub row: u64,
    pub fingerprint: u64,
    pub norm: u8,
    /// Frequency of each term.
    pub frequencies: Vec<u32>,
}

/// The segments of an index in the order of a search, the largest first.
pub(super) fn in_search_order(meta: &Meta) -> Vec<&Segment> {
    let mut segments: Vec<&Segment> = meta.segments.iter().collect();
    segments.sort_by_key(|segment| Reverse(segment.documents));
    segments
}

impl Snapshot {
    /// Looks up the terms. The meta page must have been read after the snapshot of the reader's transaction was taken.
    ///
    /// # Errors
    /// A damaged page.
    pub fn take<P: Pages>(pages: &P, mut meta: Meta, terms: &[QueryTerm]) -> Result<Self> {
        meta.segments = in_search_order(&meta).into_iter().cloned().collect();
        let mut statistics = Statistics {
            documents: meta.documents(),
            length: meta.segments.iter().map(|segment| segment.length).sum(),
            frequencies: vec![0; terms.len()],
        };
        let textless = (meta.settings.filters > 0).then(|| textless_term(meta.key));
        let mut in_order: Vec<usize> = (0..terms.len()).collect();
        in_order.sort_unstable_by_key(|&at| terms[at].hash);
        let mut entries = Vec::with_capacity(meta.segments.len());
        for segment in &meta.segments {
            let reader = SegmentReader::new(pages, segment);
            let mut found = vec![None; terms.len()];
            for &at in &in_order {
                let entry = reader.find(terms[at].hash)?;
                let documents = entry.as_ref().map_or(0, |entry| entry.documents);
                statistics.frequencies[at] += u64::from(documents);
                found[at] = entry;
            }
            entries.push(found);
            if let Some(textless) = textless {
                let without_text = reader.find(textless)?.map_or(0, |entry| entry.documents);
                statistics.documents -= u64::from(without_text.min(segment.documents));
            }
        }
        let mut buffered = Vec::new();
        for buffer in [&meta.spilling, &meta.write_buffer] {
            write_buffer::for_each_document(pages, buffer, |document| {
                if document.removed {
                    return;
                }
                let has_text = textless.is_none_or(|term| document.frequency(term) == 0);
                statistics.documents += u64::from(has_text);
                statistics.length += u64::from(norms::length(document.norm));
                let frequencies: Vec<u32> = terms
                    .iter()
                    .map(|term| document.frequency(term.hash))
                    .collect();
                if frequencies.iter().any(|&frequency| frequency > 0) {
                    for (total, &frequency) in statistics.frequencies.iter_mut().zip(&frequencies) {
                        *total += u64::from(frequency > 0);
                    }
                    buffered.push(BufferedMatch {
                        row: document.row,
                        fingerprint: document.fingerprint,
                        norm: document.norm,
                        frequencies,
                    });
                }
            })?;
        }
        Ok(Self {
            meta,
            terms: terms.to_vec(),
            statistics,
            buffered,
            entries,
        })
    }

    /// The meta page that the snapshot was taken of.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Statistics of this index.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The terms, in the order of the statistics.
    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }
}
