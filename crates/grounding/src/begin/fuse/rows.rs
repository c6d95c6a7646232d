//! Fusion of ranked lists into one ordered list of rows.

use super::list_ranks::{ListRanks, list_ranks};
use super::ranking::{FusedRow, SearchResults};
use super::recency::{Recency, reduced};
use super::{rrf, scores};
use crate::settings::{Fusion, Settings};

/// Fusion for `search`, where every key counts by itself. Sorted by descending score, then by key. The order of the
/// lists has no effect.
#[must_use]
pub fn rows(results: &SearchResults, settings: &Settings) -> Vec<FusedRow> {
    fused_rows(results, settings, Some)
}

/// Fusion where `name` returns the passage that a hit counts for. Unknown hits are skipped; the ranks of the others
/// stay.
pub(super) fn fused_rows<'a>(
    results: &'a SearchResults,
    settings: &Settings,
    name: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<FusedRow> {
    let all_ranks = list_ranks(&results.lists, &name);
    let scored: Vec<(&str, ListRanks, f64)> = match settings.fusion {
        Fusion::Rrf => rrf::rrf_scores(all_ranks, results, settings.rrf_k, &name),
        Fusion::Scores | Fusion::Integrated => {
            scores::standardised_scores(all_ranks, results, settings, &name)
        }
    };
    let recency = Recency::of(results, settings, &name);
    let mut rows: Vec<FusedRow> = scored
        .into_iter()
        .map(|(key, ranks, score)| {
            let factor = recency.as_ref().map(|recency| recency.factor(key));
            let score = factor.map_or(score, |factor| reduced(score, factor));
            FusedRow {
                recency: factor,
                ..ranks.into_row(key, score)
            }
        })
        .collect();
    rows.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.chunk_id.cmp(&b.chunk_id))
    });
    rows
}
