//! What the scores of a query rest on, fixed for a statement: the scan and the operator, which PostgreSQL evaluates again for
//! every row that the scan returns, must not differ by what others insert meanwhile.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use pgrx::pg_sys;
use reground_bm25::asked::{MOST_ASKED, counts};
use reground_bm25::index::meta::Meta;
use reground_bm25::index::score::{Saturation, Statistics, number, part};
use reground_bm25::index::snapshot::Snapshot;
use reground_bm25::index::terms::{Document, Term, term};
use reground_bm25::{Asked, Parameters};

use super::document::{Content, Words};
use super::pages::IndexPages;
use super::query::Bm25Query;
use super::relation::Open;
use super::resolve::indexes;
use crate::error::{Error, Result};
use crate::words::{each_lexeme, find};

/// Queries that are remembered at a time.
const MOST: usize = 16;
/// Scores that are remembered at a time: the operator asks for one soon after the scan has returned its row.
const MOST_SCORES: usize = 4096;

/// A query, weighed.
pub struct Frozen {
    /// Its lexemes in order, with how much it asks for each.
    pub lexemes: Vec<(Vec<u8>, Asked)>,
    /// Of all its indexes together.
    pub statistics: Statistics,
    /// Of the terms.
    pub weights: Vec<f64>,
    saturation: Saturation,
    parameters: Parameters,
    words: Words,
    terms: Vec<Term>,
    /// Scores of contents that a scan returned, by fingerprint.
    scores: RefCell<HashMap<u64, f64>>,
}

/// A statement: its transaction, what it sees, and who asks. One that a cursor fetches on from is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Statement {
    began: i64,
    user: u32,
    xmin: u32,
    xmax: u32,
    command: u32,
}

thread_local! {
    static FROZEN: RefCell<Vec<(Statement, Bm25Query, Rc<Frozen>)>> = RefCell::default();
}

impl Statement {
    fn current() -> Self {
        // SAFETY: reads the session's own state; where there is no snapshot, there is no other statement to tell it from.
        unsafe {
            let began = pg_sys::GetCurrentTransactionStartTimestamp();
            let user = pg_sys::GetUserId().to_u32();
            let snapshot = if pg_sys::ActiveSnapshotSet() {
                pg_sys::GetActiveSnapshot()
            } else {
                std::ptr::null_mut()
            };
            match snapshot.as_ref() {
                Some(snapshot) => Self {
                    began,
                    user,
                    xmin: snapshot.xmin.into_inner(),
                    xmax: snapshot.xmax.into_inner(),
                    command: snapshot.curcid,
                },
                None => Self {
                    began,
                    user,
                    xmin: 0,
                    xmax: 0,
                    command: 0,
                },
            }
        }
    }
}

/// The query, weighed once for this statement.
///
/// # Errors
/// A source without an index, and damage.
pub fn frozen(query: &Bm25Query) -> Result<Rc<Frozen>> {
    Ok(frozen_for(query, None)?.0)
}

/// The same for a scan of one of its indexes; with the snapshot of that index, if it was taken just now to weigh the query.
///
/// # Errors
/// As for [`frozen`].
pub fn frozen_for(
    query: &Bm25Query,
    scanned: Option<pg_sys::Oid>,
) -> Result<(Rc<Frozen>, Option<Snapshot>)> {
    let statement = Statement::current();
    let known = FROZEN.with_borrow(|all| {
        let mut all = all.iter();
        let found = all.find(|(of, asked, _)| *of == statement && asked == query);
        found.map(|(.., frozen)| Rc::clone(frozen))
    });
    if let Some(known) = known {
        return Ok((known, None));
    }
    let (frozen, snapshot) = Frozen::weigh(query, scanned)?;
    let frozen = Rc::new(frozen);
    FROZEN.with_borrow_mut(|all| {
        if all.len() >= MOST {
            // The oldest goes, but not one that a scan is at work with.
            let idle = all
                .iter()
                .position(|(.., frozen)| Rc::strong_count(frozen) == 1);
            all.remove(idle.unwrap_or_default());
        }
        all.push((statement, query.clone(), Rc::clone(&frozen)));
    });
    Ok((frozen, snapshot))
}

impl Frozen {
    /// Weighs a query; with the snapshot of the index that is about to be scanned.
    fn weigh(query: &Bm25Query, scanned: Option<pg_sys::Oid>) -> Result<(Self, Option<Snapshot>)> {
        may_read(query.source)?;
        let mut whole: Option<Self> = None;
        let mut kept = None;
        for index in indexes(query.source)? {
            let Some(open) = Open::relation(index) else {
                return Err(Error::NoBm25Index(index.to_u32().to_string()));
            };
            // SAFETY: the index is open until `open` is dropped.
            let pages = unsafe { IndexPages::new(open.get(), std::ptr::null_mut()) };
            let meta = Meta::read(&pages)?;
            let words = Words::of(&meta)?;
            let parameters = meta.parameters()?;
            let lexemes = match &whole {
                Some(whole)
                    if (whole.words.config, whole.words.weights)
                        == (words.config, words.weights)
                        && whole.parameters == parameters =>
                {
                    whole.lexemes.clone()
                }
                Some(_) => return Err(Error::PartitionsDiffer),
                None => lexemes(&read_by(words.config, query), query),
            };
            let terms = terms(&words, &lexemes);
            let snapshot = Snapshot::take(&pages, meta, &terms)?;
            let own = snapshot.statistics();
            match &mut whole {
                Some(whole) => {
                    whole.statistics.add(own);
                    whole.weigh_anew();
                }
                None => {
                    whole = Some(Self {
                        saturation: Saturation::new(&parameters, own.average()),
                        weights: own.weights(&terms),
                        statistics: own.clone(),
                        lexemes,
                        parameters,
                        words,
                        terms,
                        scores: RefCell::default(),
                    });
                }
            }
            if scanned == Some(index) {
                kept = Some(snapshot);
            }
        }
        let whole = whole.ok_or_else(|| Error::NoBm25Index(query.source.to_u32().to_string()))?;
        Ok((whole, kept))
    }

    fn weigh_anew(&mut self) {
        self.saturation = Saturation::new(&self.parameters, self.statistics.average());
        self.weights = self.statistics.weights(&self.terms);
    }

    /// The query's terms as an index knows them.
    pub fn terms(&self, words: &Words) -> Vec<Term> {
        terms(words, &self.lexemes)
    }

    /// Remembers the score of a content that a scan returns.
    pub fn remember(&self, fingerprint: u64, score: f64) {
        let mut scores = self.scores.borrow_mut();
        if scores.len() >= MOST_SCORES {
            scores.clear();
        }
        scores.insert(fingerprint, score);
    }

    /// The score of a content; 0 where it has none of the terms.
    pub fn score(&self, content: &Content) -> f64 {
        if let Some(&score) = self.scores.borrow().get(&content.fingerprint()) {
            return score;
        }
        let document = self.words.document(0, content);
        number(self.parts(&document).iter().sum())
    }

    /// Whether a content has one of the terms.
    pub fn matches(&self, content: &Content) -> bool {
        let document = self.words.document(0, content);
        let mut each = self.terms.iter().zip(&self.weights);
        each.any(|(term, &weight)| counts(weight) && document.frequency(term.hash) > 0)
    }

    /// What each term adds to a document's score.
    pub fn parts(&self, document: &Document) -> Vec<u64> {
        let norm = document.norm();
        let each = self.terms.iter().zip(&self.weights);
        each.map(|(term, &weight)| match document.frequency(term.hash) {
            0 => 0,
            _ if !counts(weight) => 0,
            frequency => part(weight, self.saturation.of(frequency, norm)),
        })
        .collect()
    }

    /// The index' words, to make a document of a text.
    pub fn words(&self) -> &Words {
        &self.words
    }
}

/// The configurations that a query's words are read by: those that it names, else the index' own.
fn read_by(own: pg_sys::Oid, query: &Bm25Query) -> Vec<pg_sys::Oid> {
    if query.text_configs.is_empty() {
        return vec![own];
    }
    let named = query.text_configs.iter();
    named.filter_map(|name| find(name)).collect()
}

/// A query's lexemes in order, with how much it asks for each: what several configurations make of its words together, each
/// as often as the one that makes it most often.
fn lexemes(configs: &[pg_sys::Oid], query: &Bm25Query) -> Vec<(Vec<u8>, Asked)> {
    let mut all: BTreeMap<Vec<u8>, Asked> = BTreeMap::new();
    for &config in configs {
        let mut read: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        each_lexeme(config, &query.text, |lexeme| match read.get_mut(lexeme) {
            Some(frequency) => *frequency = (*frequency + 1).min(MOST_ASKED),
            None => {
                read.insert(lexeme.to_vec(), 1);
            }
        });
        for (lexeme, frequency) in read {
            let asked = all.entry(lexeme).or_default();
            asked.frequency = asked.frequency.max(frequency);
        }
    }
    for (lexeme, weight) in query.expansion.terms() {
        all.entry(lexeme.as_bytes().to_vec()).or_default().borrowed = weight;
    }
    all.into_iter().collect()
}

fn terms(words: &Words, lexemes: &[(Vec<u8>, Asked)]) -> Vec<Term> {
    let each = lexemes.iter();
    each.map(|(lexeme, asked)| Term {
        hash: term(words.key, lexeme),
        asked: *asked,
    })
    .collect()
}

/// Scores tell how many rows have a word: who asks must be allowed to read the table.
pub fn may_read(source: pg_sys::Oid) -> Result<()> {
    let Some(table) = Open::relation(source).map(|open| open.table()) else {
        return Err(Error::Unknown(
            "table or index",
            source.to_u32().to_string(),
        ));
    };
    // SAFETY: plain look-ups; the table is one, or the answer is no.
    let may = unsafe {
        let right = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
        let user = pg_sys::GetUserId();
        let whole = pg_sys::pg_class_aclcheck(table, user, right);
        whole == pg_sys::AclResult::ACLCHECK_OK
            || pg_sys::pg_attribute_aclcheck_all(
                table,
                user,
                right,
                pg_sys::AclMaskHow::ACLMASK_ANY,
            ) == pg_sys::AclResult::ACLCHECK_OK
    };
    if may {
        Ok(())
    } else {
        let name = Open::relation(table).map(|table| table.name());
        Err(Error::Forbidden(name.unwrap_or_default()))
    }
}
