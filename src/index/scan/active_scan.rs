//! The rows of a scan in progress.

use std::rc::Rc;

use pgrx::pg_sys;
use reground_bm25::index::Result as IndexResult;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::present::read_present;
use reground_bm25::index::search::ranked_search::{Search, SearchHit};
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::query::found_scores::FoundScore;

use super::conditions::{Conditions, requirements};
use crate::error::{Error, Result};
use crate::index::content::FilterValue;
use crate::index::query::{
    Bm25Query, ClientStatement, WeightedQuery, weighted_query, weighted_query_for_scan,
};
use crate::index::storage::IndexPages;

/// How many rows of a scan are fetched.
#[derive(Clone, Copy)]
pub enum Fetched {
    /// As many as a statement needs, one after the other.
    ByStatement(ClientStatement),
    /// All at once.
    All,
}

/// A scan in progress. It pins no page between two rows.
pub struct ActiveScan {
    pages: IndexPages,
    rows: FoundRows,
    /// The query that orders the rows; `None` if there are only conditions on filter columns.
    weighted: Option<Rc<WeightedQuery>>,
    /// Whether the rows meet the conditions of that query for certain.
    fulfils: bool,
    /// Whether PostgreSQL must compare the rows with the conditions again.
    pub recheck: bool,
    /// Whether it must compute the scores again. Those of the index are not lower.
    pub recheck_order: bool,
}

/// The rows that a scan returns, by descending score.
enum FoundRows {
    /// Those that match the ordering query, found as far as they are fetched.
    Ranked(Box<Search>, Ranking),
    /// Those that match other queries. Rows without a word of the ordering query come last, with score 0.
    Listed(std::vec::IntoIter<SearchHit>),
}

/// What a ranked search asks the index.
struct Ranking {
    weighted: Rc<WeightedQuery>,
    /// Other queries whose words the rows must have.
    others: Vec<Rc<WeightedQuery>>,
    filters: Vec<FilterValue>,
}

impl Ranking {
    /// Reads the present index, or what `snapshot` has of it.
    fn read(
        &self,
        pages: &IndexPages,
        snapshot: Option<Snapshot>,
    ) -> IndexResult<(Snapshot, Vec<Requirement>)> {
        let snapshot = match snapshot {
            Some(snapshot) => snapshot,
            None => {
                let meta = Meta::read(pages)?;
                let terms = self.weighted.terms(meta.key);
                Snapshot::take(pages, meta, &terms)?
            }
        };
        let ranking = Some(&*self.weighted);
        let required = requirements(pages, snapshot.meta(), &self.others, ranking, &self.filters)?;
        Ok((snapshot, required))
    }
}

impl ActiveScan {
    /// Begins a scan of an index. The queries are of the index.
    pub fn begin(
        index: pg_sys::Oid,
        pages: IndexPages,
        conditions: Conditions,
        fetched: Fetched,
    ) -> Result<Self> {
        let Some(ordering) = conditions.ordering() else {
            return Self::filtered(pages, &conditions.filters);
        };
        // The rows come from the words of the ordering query, unless only other queries are conditions.
        if conditions.queries.is_empty() || conditions.queries.contains(ordering) {
            let ordering = ordering.clone();
            Self::ranked(index, pages, &ordering, conditions, fetched)
        } else {
            Self::intersected(pages, ordering, &conditions)
        }
    }

    /// Begins the search of a query in an index.
    fn ranked(
        index: pg_sys::Oid,
        pages: IndexPages,
        query: &Bm25Query,
        conditions: Conditions,
        fetched: Fetched,
    ) -> Result<Self> {
        // There is no snapshot if the query was weighted earlier in this statement.
        let (weighted, mut snapshot) = weighted_query_for_scan(query, Some(index))?;
        let is_condition = conditions.queries.contains(query);
        let others = conditions.queries.iter().filter(|other| *other != query);
        let others: Vec<_> = others.map(weighted_query).collect::<Result<_>>()?;
        let fulfils = weighted.conditions.are_decided_by_words();
        let recheck = need_recheck(&conditions.filters, &others) || is_condition && !fulfils;
        let ranking = Ranking {
            weighted: Rc::clone(&weighted),
            others,
            filters: conditions.filters,
        };
        let expected = match fetched {
            Fetched::ByStatement(statement) => statement.expected_rows(index, query),
            Fetched::All => usize::MAX,
        };
        let search = read_present(|| {
            let (snapshot, required) = ranking.read(&pages, snapshot.take())?;
            let search = Search::begin(snapshot, &weighted.statistics, expected)?;
            Ok(search.requiring(required))
        })?;
        Ok(Self {
            pages,
            rows: FoundRows::Ranked(Box::new(search), ranking),
            weighted: Some(weighted),
            fulfils,
            recheck,
            recheck_order: !fulfils && !is_condition,
        })
    }

    /// Finds the rows of an index that fulfil all conditions, of which the ordering query is none.
    fn intersected(
        pages: IndexPages,
        ordering: &Bm25Query,
        conditions: &Conditions,
    ) -> Result<Self> {
        let weighted = weighted_query(ordering)?;
        let queries = conditions.queries.iter().map(weighted_query);
        let queries: Vec<_> = queries.collect::<Result<_>>()?;
        let hits = read_present(|| {
            let meta = Meta::read(&pages)?;
            let snapshot = Snapshot::take(&pages, meta.clone(), &weighted.terms(meta.key))?;
            let required = requirements(&pages, &meta, &queries, None, &conditions.filters)?;
            let ranking = Some((&snapshot, &weighted.statistics));
            conjunction::matches(&pages, &meta, ranking, &required)
        })?;
        let fulfils = weighted.conditions.is_empty();
        Ok(Self {
            pages,
            rows: FoundRows::Listed(hits.into_iter()),
            weighted: Some(weighted),
            fulfils,
            recheck: need_recheck(&conditions.filters, &queries),
            recheck_order: !fulfils,
        })
    }

    /// Finds the rows of an index that fulfil conditions on filter columns.
    fn filtered(pages: IndexPages, filters: &[FilterValue]) -> Result<Self> {
        if filters.is_empty() {
            return Err(Error::NoCondition);
        }
        let hits = read_present(|| {
            let meta = Meta::read(&pages)?;
            let required = requirements(&pages, &meta, &[], None, filters)?;
            conjunction::matches(&pages, &meta, None, &required)
        })?;
        Ok(Self {
            pages,
            rows: FoundRows::Listed(hits.into_iter()),
            weighted: None,
            fulfils: false,
            recheck: need_recheck(filters, &[]),
            recheck_order: false,
        })
    }

    /// Returns the next row, and keeps its score for the operators.
    pub fn next(&mut self) -> Result<Option<SearchHit>> {
        let found = match &mut self.rows {
            FoundRows::Ranked(search, ranking) => {
                let mut is_stale = false;
                read_present(|| {
                    if std::mem::replace(&mut is_stale, true) {
                        let (snapshot, required) = ranking.read(&self.pages, None)?;
                        search.resume(snapshot, required);
                    }
                    search.next(&self.pages)
                })?
            }
            FoundRows::Listed(hits) => hits.next(),
        };
        if let (Some(found), Some(weighted)) = (&found, &self.weighted) {
            let score = FoundScore {
                score: found.score,
                fulfils: self.fulfils,
            };
            weighted.keep_score(found.fingerprint, score);
        }
        Ok(found)
    }

    /// Returns how many rows were fetched from a ranked search, if there were more.
    pub fn fetched(&self) -> Option<usize> {
        match &self.rows {
            FoundRows::Ranked(search, _) => search.fetched(),
            FoundRows::Listed(_) => None,
        }
    }
}

/// Whether PostgreSQL must compare the rows with conditions again: hashes of different values can be equal, and the index does not know the
/// positions of words.
fn need_recheck(filters: &[FilterValue], queries: &[Rc<WeightedQuery>]) -> bool {
    let mut queries = queries.iter();
    !filters.is_empty() || queries.any(|query| !query.conditions.are_decided_by_words())
}
