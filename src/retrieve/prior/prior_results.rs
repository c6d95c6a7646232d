//! Scores results of earlier turns for this turn's query combined with the query that found them.

use reground_grounding::begin::prior_results::{PriorResults, PriorScores, integrate};
use reground_grounding::query::plan::PriorSearch;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, LexicalStrategy, Search, Wanted};
use crate::retrieve::vector;
use crate::store::corpora::Corpus;

/// Returns the results that still exist, that the caller may read and that pass the filter. `best` is the best score for this
/// turn's own query. Runs two queries per earlier turn.
pub fn results(
    corpus: &Corpus,
    historical: &[PriorSearch],
    filter: &Filter,
    strategy: &LexicalStrategy,
    best: Option<f64>,
) -> Result<PriorResults> {
    let mut earlier = Vec::new();
    for turn in historical {
        let wanted = Wanted {
            chunk_ids: turn.chunk_ids.iter().cloned().collect(),
            ..Wanted::default()
        };
        let search = Search {
            queries: std::slice::from_ref(&turn.query),
            filter,
            embedding: None,
            limit: 1,
        };
        let ranked = lexical::rank(corpus, &search, &wanted, strategy)?
            .each
            .pop();
        let ranked = ranked.unwrap_or_default();
        let distances = match &turn.embedding {
            Some(embedding) => vector::distances(corpus, embedding, filter, &wanted.chunk_ids)?,
            None => Vec::new(),
        };
        earlier.push(PriorScores {
            best: ranked.hits.first().map(|hit| hit.value),
            lexical: ranked.wanted,
            distances: distances
                .into_iter()
                .map(|hit| (hit.chunk_id, hit.value))
                .collect(),
        });
    }
    Ok(integrate(earlier, best))
}
