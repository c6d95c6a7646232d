//! The scores of given documents.

use reground_interrupt::check_interrupt;

use crate::index::error::Result;
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::store::Pages;
use crate::index::score::{Saturation, Statistics, contribution};
use crate::index::search::snapshot::{BufferedMatch, Snapshot};
use crate::index::segment::dictionary::Entry;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;
use crate::query::query_weight::contributes;

/// Scores documents for a query with fixed statistics.
pub(super) struct DocumentScores {
    weights: Vec<f64>,
    saturation: Saturation,
}

impl DocumentScores {
    pub(super) fn new(snapshot: &Snapshot, statistics: &Statistics) -> Result<Self> {
        let average = statistics.average_length();
        Ok(Self {
            weights: statistics.weights(snapshot.terms()),
            saturation: Saturation::new(&snapshot.meta.parameters()?, average),
        })
    }

    /// The saturation of frequencies, for the mean length of the statistics.
    pub(super) fn saturation(&self) -> &Saturation {
        &self.saturation
    }

    fn contribution(&self, weight: f64, frequency: u32, norm: u8) -> u64 {
        match frequency > 0 && contributes(weight) {
            true => contribution(weight, self.saturation.of(frequency, norm)),
            false => 0,
        }
    }

    /// The score of a document of the write buffer; 0 without a term of the query.
    pub(super) fn of_buffered(&self, buffered: &BufferedMatch) -> u64 {
        let each = self.weights.iter().zip(&buffered.frequencies);
        each.map(|(&weight, &frequency)| self.contribution(weight, frequency, buffered.norm))
            .sum()
    }

    /// The entries of the terms that count, in a segment.
    pub(super) fn entries<'a>(
        &'a self,
        entries: &'a [Option<Entry>],
    ) -> impl Iterator<Item = (&'a Entry, f64)> {
        let each = entries.iter().zip(&self.weights);
        each.filter_map(|(entry, &weight)| Some((entry.as_ref()?, weight)))
            .filter(|&(_, weight)| contributes(weight))
    }

    /// The scores of documents of a segment, which ascend; 0 without a term of the query.
    pub(super) fn of_documents<P: Pages>(
        &self,
        reader: &SegmentReader<'_, P>,
        entries: &[Option<Entry>],
        documents: &[u32],
    ) -> Result<Vec<u64>> {
        let mut scores = vec![0; documents.len()];
        for (entry, weight) in self.entries(entries) {
            let mut postings = Postings::new(reader, entry.clone())?;
            check_interrupt(WORK_PER_POSTING * documents.len());
            for (score, &document) in scores.iter_mut().zip(documents) {
                let frequency = postings.frequency(reader, document)?;
                if frequency > 0 {
                    *score += self.contribution(weight, frequency, reader.norm(document)?);
                }
            }
        }
        Ok(scores)
    }
}
