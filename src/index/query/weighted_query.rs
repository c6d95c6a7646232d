//! Queries with their statistics, fixed for a statement. PostgreSQL evaluates the operator again for every row that a scan
//! returns; the scan and the operator must return the same score, whatever others insert meanwhile.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use pgrx::pg_sys;
use reground_bm25::index::pages::meta::{IndexSettings, Meta};
use reground_bm25::index::score::{
    NO_SCORE, Saturation, Statistics, contribution, is_found, to_float,
};
use reground_bm25::index::search::present::read_present;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, Key, QueryTerm, term_hash};
use reground_bm25::query::carried_statistics::CarriedStatistics;
use reground_bm25::query::clauses::Demand;
use reground_bm25::query::conditions::Conditions;
use reground_bm25::query::found_scores::{FoundScore, FoundScores};
use reground_bm25::query::phrase::Phrase;
use reground_bm25::query::query_weight::{MAX_QUERY_WEIGHT, contributes};
use reground_bm25::{Parameters, QueryWeight};

use super::bm25_query::Bm25Query;
use super::statement_identity::StatementIdentity;
use crate::error::{Error, Result};
use crate::index::content::{Content, Tokenizer};
use crate::index::index_lookup::indexes;
use crate::index::relation::OpenRelation;
use crate::index::storage::IndexPages;
use crate::sql::is_distributed;
use crate::words::{each_lexeme, each_position, find_config};

/// Maximum number of cached queries.
const MAX_QUERIES: usize = 16;

/// A query with the weights of its terms.
pub struct WeightedQuery {
    /// Lexemes in order, with their weights in the query.
    pub lexemes: Vec<(Vec<u8>, QueryWeight)>,
    /// Statistics of all its indexes together.
    pub statistics: Statistics,
    /// Weight of each term.
    pub weights: Vec<f64>,
    saturation: Saturation,
    parameters: Parameters,
    tokenizer: Tokenizer,
    terms: Vec<QueryTerm>,
    /// What a content must have and must not have.
    pub conditions: Conditions,
    /// Scores of contents that a scan returned.
    found: RefCell<FoundScores>,
}

/// A query that was weighted for a statement.
struct KnownQuery {
    statement: StatementIdentity,
    /// The stored form of the query.
    stored: Vec<u8>,
    weighted: Rc<WeightedQuery>,
}

thread_local! {
    /// The queries that were weighted last.
    static WEIGHTED_QUERIES: RefCell<Vec<KnownQuery>> = RefCell::default();
}

/// Returns the weighted query of this statement.
///
/// # Errors
/// A relation without an index, and a damaged index.
pub fn weighted_query(query: &Bm25Query) -> Result<Rc<WeightedQuery>> {
    Ok(weighted_query_for_scan(query, None)?.0)
}

/// Returns the weighted query for a scan of one of its indexes, and the snapshot of that index if it was taken by this call.
///
/// # Errors
/// As for [`weighted_query`].
pub fn weighted_query_for_scan(
    query: &Bm25Query,
    scanned: Option<pg_sys::Oid>,
) -> Result<(Rc<WeightedQuery>, Option<Snapshot>)> {
    let stored = query.to_bytes();
    if let Some(known) = known(&stored) {
        return Ok((known, None));
    }
    let (weighted, snapshot) = WeightedQuery::compute(query, scanned)?;
    let weighted = Rc::new(weighted);
    WEIGHTED_QUERIES.with_borrow_mut(|all| {
        if all.len() >= MAX_QUERIES {
            // Remove the oldest query, but not one in use by a scan.
            let idle = all
                .iter()
                .position(|known| Rc::strong_count(&known.weighted) == 1);
            all.remove(idle.unwrap_or_default());
        }
        all.push(KnownQuery {
            statement: StatementIdentity::current(),
            stored,
            weighted: Rc::clone(&weighted),
        });
    });
    Ok((weighted, snapshot))
}

/// Returns the weighted query of this statement for a stored query, which is not parsed if it was weighted before.
///
/// # Errors
/// As for [`weighted_query`].
pub fn weighted_query_of(stored: &[u8]) -> Result<Rc<WeightedQuery>> {
    match known(stored) {
        Some(known) => Ok(known),
        None => weighted_query(&Bm25Query::of_bytes(stored)),
    }
}

/// Returns a query that this statement has weighted.
fn known(stored: &[u8]) -> Option<Rc<WeightedQuery>> {
    let statement = StatementIdentity::current();
    WEIGHTED_QUERIES.with_borrow(|all| {
        let mut all = all.iter();
        let found = all.find(|known| known.statement == statement && known.stored == stored);
        found.map(|known| Rc::clone(&known.weighted))
    })
}

impl WeightedQuery {
    /// Weights a query. Also returns the snapshot of the index that is about to be scanned.
    fn compute(
        query: &Bm25Query,
        scanned: Option<pg_sys::Oid>,
    ) -> Result<(Self, Option<Snapshot>)> {
        if let Some(statistics) = &query.statistics {
            return Ok((Self::carried(query, statistics)?, None));
        }
        check_readable(query.relation)?;
        if let Some(open) = OpenRelation::open(query.relation)
            && is_distributed(open.table())?
        {
            return Err(Error::Distributed(open.name()));
        }
        let mut combined: Option<Self> = None;
        let mut scan_snapshot = None;
        for index in indexes(query.relation)? {
            let Some(open) = OpenRelation::open(index) else {
                return Err(Error::NoBm25Index(index.to_u32().to_string()));
            };
            // SAFETY: the index is open until `open` is dropped.
            let pages = unsafe { IndexPages::new(open.as_ptr()) };
            let meta = Meta::read(&pages)?;
            let tokenizer = Tokenizer::of(&meta)?;
            let parameters = meta.parameters()?;
            let configs = text_configs(tokenizer.config, query)?;
            let lexemes = match &combined {
                Some(combined)
                    if (combined.tokenizer.config, combined.tokenizer.weights)
                        == (tokenizer.config, tokenizer.weights)
                        && combined.parameters == parameters =>
                {
                    combined.lexemes.clone()
                }
                Some(_) => return Err(Error::PartitionsDiffer),
                None => lexemes(&configs, query)?,
            };
            let terms = terms(tokenizer.key, &lexemes);
            let mut meta = Some(meta);
            let snapshot = read_present(|| {
                let meta = meta.take().map_or_else(|| Meta::read(&pages), Ok)?;
                Snapshot::take(&pages, meta, &terms)
            })?;
            let own = snapshot.statistics();
            match &mut combined {
                Some(combined) => {
                    combined.statistics.add(own);
                    combined.update_weights();
                }
                None => {
                    let conditions = conditions(&configs, query)?;
                    let statistics = own.clone();
                    combined = Some(Self::new(
                        lexemes, conditions, tokenizer, parameters, statistics,
                    ));
                }
            }
            if scanned == Some(index) {
                scan_snapshot = Some(snapshot);
            }
        }
        let combined =
            combined.ok_or_else(|| Error::NoBm25Index(query.relation.to_u32().to_string()))?;
        Ok((combined, scan_snapshot))
    }

    /// Weights a query with the statistics that it carries.
    fn carried(query: &Bm25Query, carried: &CarriedStatistics) -> Result<Self> {
        let name = carried.text_config();
        let config = find_config(name).ok_or_else(|| Error::UnknownTextConfig(name.to_owned()))?;
        let (weights, parameters) = carried
            .scoring()
            .ok_or_else(|| Error::QueryForm(query.text.clone()))?;
        let tokenizer = Tokenizer {
            key: session_key(),
            config,
            weights,
        };
        let configs = text_configs(config, query)?;
        let lexemes = lexemes(&configs, query)?;
        let words: Vec<_> = lexemes.iter().map(|(word, _)| word_text(word)).collect();
        let statistics = carried.statistics(words.iter().map(AsRef::as_ref));
        let conditions = conditions(&configs, query)?;
        Ok(Self::new(
            lexemes, conditions, tokenizer, parameters, statistics,
        ))
    }

    fn new(
        lexemes: Vec<(Vec<u8>, QueryWeight)>,
        conditions: Conditions,
        tokenizer: Tokenizer,
        parameters: Parameters,
        statistics: Statistics,
    ) -> Self {
        let terms = terms(tokenizer.key, &lexemes);
        Self {
            saturation: Saturation::new(&parameters, statistics.average_length()),
            weights: statistics.weights(&terms),
            statistics,
            lexemes,
            parameters,
            tokenizer,
            terms,
            conditions,
            found: RefCell::default(),
        }
    }

    /// The statistics, for a query that carries them. `settings` are those of its indexes.
    pub fn to_carry(&self, settings: &IndexSettings) -> CarriedStatistics {
        let words: Vec<_> = (self.lexemes.iter())
            .map(|(word, _)| word_text(word))
            .collect();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        CarriedStatistics::new(settings, &self.statistics, &words)
    }

    fn update_weights(&mut self) {
        self.saturation = Saturation::new(&self.parameters, self.statistics.average_length());
        self.weights = self.statistics.weights(&self.terms);
    }

    /// Returns the query's terms in an index with this key.
    pub fn terms(&self, key: Key) -> Vec<QueryTerm> {
        terms(key, &self.lexemes)
    }

    /// Estimates the share of the rows that match.
    pub fn selectivity(&self) -> f64 {
        self.conditions
            .selectivity(&self.lexemes, &self.weights, &self.statistics)
    }

    /// Keeps the score of a content that a scan returns.
    pub fn keep_score(&self, fingerprint: u64, found: FoundScore) {
        self.found.borrow_mut().add(fingerprint, found);
    }

    /// Returns the score of a content; 0 without a match.
    pub fn score(&self, content: &Content<'_>) -> f64 {
        let found = self.found.borrow_mut().get(content.fingerprint());
        if !found.is_some_and(|found| found.fulfils) && !self.meets_conditions(content) {
            return NO_SCORE;
        }
        // After a change of the dictionaries, the scores of the index are still those that the scan has returned.
        if let Some(found) = found {
            return found.score;
        }
        let document = self.tokenizer.words(content);
        to_float(self.contributions(&document).iter().sum())
    }

    /// Returns whether a content has what the query requires.
    pub fn meets_conditions(&self, content: &Content<'_>) -> bool {
        let conditions = &self.conditions;
        conditions.is_empty() || conditions.are_met(&self.tokenizer.positions(content, conditions))
    }

    /// Returns whether a content contains a term of the query, and meets its conditions.
    pub fn matches(&self, content: &Content<'_>) -> bool {
        is_found(self.score(content))
    }

    /// Returns the contribution of each term to a document's score.
    pub fn contributions(&self, document: &Document) -> Vec<u64> {
        let norm = document.norm();
        let each = self.terms.iter().zip(&self.weights);
        each.map(|(term, &weight)| match document.frequency(term.hash) {
            0 => 0,
            _ if !contributes(weight) => 0,
            frequency => contribution(weight, self.saturation.of(frequency, norm)),
        })
        .collect()
    }

    /// Returns the tokenizer of the index, to make documents of contents.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }
}

fn word_text(lexeme: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(lexeme)
}

thread_local! {
    static SESSION_KEY: Key = {
        let random = RandomState::new();
        [random.hash_one(0), random.hash_one(1)]
    };
}

/// A secret key for the terms of texts outside of an index.
fn session_key() -> Key {
    SESSION_KEY.with(|key| *key)
}

/// Returns the text search configurations of a query: its own ones, or else that of the index.
///
/// # Errors
/// 42704 if one was dropped after the query was made.
fn text_configs(own: pg_sys::Oid, query: &Bm25Query) -> Result<Vec<pg_sys::Oid>> {
    if query.text_configs.is_empty() {
        return Ok(vec![own]);
    }
    let unknown = |name: &String| Error::UnknownTextConfig(name.clone());
    let named = query.text_configs.iter();
    named
        .map(|name| find_config(name).ok_or_else(|| unknown(name)))
        .collect()
}

/// Returns the lexemes of a query in order, with their weights. The lexemes of several configurations are combined; each
/// counts with its maximum frequency among them. Excluded words do not count.
fn lexemes(configs: &[pg_sys::Oid], query: &Bm25Query) -> Result<Vec<(Vec<u8>, QueryWeight)>> {
    let clauses = query.clauses()?.into_iter();
    let counted = clauses.filter(|clause| clause.demand != Demand::Excluded);
    let texts: Vec<&str> = match query.syntax {
        true => counted.map(|clause| clause.text).collect(),
        false => vec![&query.text],
    };
    let mut all: BTreeMap<Vec<u8>, QueryWeight> = BTreeMap::new();
    for &config in configs {
        let mut read: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        for text in &texts {
            each_lexeme(config, text, |lexeme| match read.get_mut(lexeme) {
                Some(frequency) => *frequency = (*frequency + 1).min(MAX_QUERY_WEIGHT),
                None => {
                    read.insert(lexeme.to_vec(), 1);
                }
            });
        }
        for (lexeme, frequency) in read {
            let query_weight = all.entry(lexeme).or_default();
            query_weight.frequency = query_weight.frequency.max(frequency);
        }
    }
    for (lexeme, weight) in query.expansion.terms() {
        all.entry(lexeme.as_bytes().to_vec()).or_default().expansion = weight;
    }
    Ok(all.into_iter().collect())
}

/// Returns the conditions of a query, by each configuration.
fn conditions(configs: &[pg_sys::Oid], query: &Bm25Query) -> Result<Conditions> {
    let phrase = |config: pg_sys::Oid, text: &str| {
        let mut words = Vec::new();
        each_position(config, text, |word, at| words.push((word.to_vec(), at)));
        Phrase::new(words)
    };
    let phrases = |text: &str| {
        let each = configs.iter();
        each.map(|&config| phrase(config, text)).collect()
    };
    Ok(Conditions::new(&query.clauses()?, phrases))
}

fn terms(key: Key, lexemes: &[(Vec<u8>, QueryWeight)]) -> Vec<QueryTerm> {
    let each = lexemes.iter();
    each.map(|(lexeme, query_weight)| QueryTerm {
        hash: term_hash(key, lexeme),
        query_weight: *query_weight,
    })
    .collect()
}

/// Checks that the user may read the table of `relation`, or the columns of its indexed texts: scores reveal how many rows contain
/// a word.
///
/// # Errors
/// If the table does not exist, or the user may not read it.
pub fn check_readable(relation: pg_sys::Oid) -> Result<()> {
    let Some(table) = OpenRelation::open(relation).map(|open| open.table()) else {
        return Err(Error::Unknown(
            "table or index",
            relation.to_u32().to_string(),
        ));
    };
    let right = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
    let granted = |result| result == pg_sys::AclResult::ACLCHECK_OK;
    // SAFETY: a privilege look-up by oid. A relation that was dropped meanwhile raises an error.
    let reads_table =
        unsafe { granted(pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), right)) };
    let reads_column = |name: &CString| {
        // SAFETY: privilege look-ups by oid and NUL-terminated name. A missing column raises an error.
        unsafe {
            let column = pg_sys::get_attnum(table, name.as_ptr());
            granted(pg_sys::pg_attribute_aclcheck(
                table,
                column,
                pg_sys::GetUserId(),
                right,
            ))
        }
    };
    let reads_index = |index: pg_sys::Oid| {
        let columns = OpenRelation::open(index).and_then(|index| index.scored_columns());
        columns.is_some_and(|columns| !columns.is_empty() && columns.iter().all(reads_column))
    };
    let may = reads_table || indexes(relation)?.into_iter().all(reads_index);
    if may {
        Ok(())
    } else {
        let name = OpenRelation::open(table).map(|table| table.name());
        Err(Error::Forbidden(name.unwrap_or_default()))
    }
}

/// Returns whether row-level security hides rows of the table of `relation` from the user.
///
/// # Errors
/// If the table does not exist.
pub fn hides_rows(relation: pg_sys::Oid) -> Result<bool> {
    let Some(table) = OpenRelation::open(relation).map(|open| open.table()) else {
        return Err(Error::Unknown(
            "table or index",
            relation.to_u32().to_string(),
        ));
    };
    // SAFETY: a catalog look-up for the current user. It returns whether policies apply, and raises no error about it.
    let applied = unsafe { pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true) };
    Ok(u32::try_from(applied) == Ok(pg_sys::CheckEnableRlsResult::RLS_ENABLED))
}
