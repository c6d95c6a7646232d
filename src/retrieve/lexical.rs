//! The lexical branch: exact BM25 in one pass over the visible passages.
//!
//! N, df and the average length are those of what the caller may see, so no statistics leak across row-level security.
//! An index of our own will replace the pass behind the same function.

use std::collections::BTreeSet;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::spi::Spi;
use reground_bm25::{Collector, Parameters, Ranking, TsVector};
use reground_grounding::passage::{Branch, Hit, RankedList};

use crate::datum::TsVectorBytes;
use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::sql;
use crate::store::corpora::Corpus;
use crate::store::sources::Live;

/// Passages read from the cursor at a time.
const BATCH: std::ffi::c_long = 1000;

/// Characters of one text that are read: a tsvector holds 1 MB, and no passage or claim is that long.
pub const LONGEST_TEXT: i32 = 100_000;

/// Passages whose score is wanted whether or not they come in among the best.
#[derive(Default)]
pub struct Wanted {
    /// Keys of passages.
    pub passages: BTreeSet<String>,
    /// Keys of documents: all their passages.
    pub documents: BTreeSet<String>,
}

impl Wanted {
    /// What a conversation remembers of a corpus.
    pub fn of(live: &[Live], corpus: &str) -> Self {
        let mut wanted = Self::default();
        for source in live.iter().map(|live| &live.source) {
            if source.corpus != corpus {
                continue;
            }
            if source.passage.is_empty() {
                wanted.documents.insert(source.doc_id.clone());
            } else {
                wanted.passages.insert(source.passage.clone());
            }
        }
        wanted
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.documents.is_empty()
    }
}

/// Whether the corpus keeps its lexemes, so that the pass need not make them.
pub fn has_lexemes(corpus: &Corpus) -> bool {
    corpus.column("lexemes").is_some()
}

/// Ranks the passages by BM25 for each query; one ranking a query, in order.
pub fn rank(
    corpus: &Corpus,
    queries: &[String],
    filter: &Filter,
    wanted: &Wanted,
    limit: usize,
) -> Result<Vec<Ranking>> {
    let terms = queries
        .iter()
        .map(|query| query_terms(corpus, query))
        .collect::<Result<Vec<_>>>()?;
    let mut collectors: Vec<Collector> = terms
        .iter()
        .map(|terms| Collector::new(terms.clone(), Parameters::default()))
        .collect();
    if terms.iter().all(Vec::is_empty) {
        return Ok(collectors
            .into_iter()
            .map(|collector| collector.finish(limit))
            .collect());
    }
    let lexemes = match corpus.column("lexemes") {
        Some(column) => column,
        None => format!(
            "pg_catalog.to_tsvector({}::pg_catalog.regconfig, pg_catalog.left({}::text, {LONGEST_TEXT}))",
            sql::literal(&corpus.text_config),
            corpus.required("content")?
        ),
    };
    let statement = format!(
        "SELECT {}::text, {}::text, coalesce({}, false), {lexemes} FROM {} WHERE {lexemes} IS NOT NULL",
        corpus.key()?,
        corpus.document()?,
        filter.clause(1),
        corpus.relations()?,
    );
    Spi::connect(|client| -> Result<()> {
        let mut cursor = client.open_cursor(statement.as_str(), &filter.args());
        loop {
            let rows = cursor.fetch(BATCH)?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                let (Some(key), Some(bytes)) =
                    (row.get::<String>(1)?, row.get::<TsVectorBytes>(4)?)
                else {
                    continue;
                };
                let admitted = row.get::<bool>(3)?.unwrap_or(false);
                let wanted = admitted
                    && (wanted.passages.contains(&key)
                        || row
                            .get::<String>(2)?
                            .is_some_and(|document| wanted.documents.contains(&document)));
                let vector = TsVector::parse(&bytes.0)?;
                for collector in &mut collectors {
                    collector.add(&key, admitted, wanted, &vector);
                }
            }
            // SAFETY: the batch was read to its end and copied, and nothing refers to its tuples any more. Without this
            // every batch would stay in memory until the pass ends, and a pass reads the whole relation.
            unsafe { pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable) };
        }
    })?;
    Ok(collectors
        .into_iter()
        .map(|collector| collector.finish(limit))
        .collect())
}

/// A ranking as a list to be fused.
pub fn list(ranking: Ranking, weight: f64, entity: Option<String>) -> RankedList {
    RankedList {
        branch: Branch::Lexical,
        weight,
        entity,
        hits: ranking
            .candidates
            .into_iter()
            .map(|scored| Hit {
                key: scored.key,
                value: scored.score,
            })
            .collect(),
    }
}

/// The lexemes of a query with the number of times that each occurs.
fn query_terms(corpus: &Corpus, query: &str) -> Result<Vec<(Vec<u8>, u32)>> {
    #[derive(serde::Deserialize)]
    struct Term {
        lexeme: String,
        occurrences: u32,
    }
    let terms: Vec<Term> = sql::read_rows(
        "SELECT lexeme, pg_catalog.cardinality(positions) AS occurrences FROM pg_catalog.unnest(pg_catalog.to_tsvector($1::pg_catalog.regconfig, pg_catalog.left($2, $3)))",
        &[
            corpus.text_config.as_str().into(),
            query.into(),
            LONGEST_TEXT.into(),
        ],
    )?;
    Ok(terms
        .into_iter()
        .map(|term| (term.lexeme.into_bytes(), term.occurrences))
        .collect())
}

/// The lexemes of texts, stemmed and without stop words, as the corpus' configuration reads them; in order.
pub fn lexemes(text_config: &str, texts: &[String]) -> Result<Vec<Vec<String>>> {
    let args: [DatumWithOid<'_>; 3] = [
        text_config.into(),
        texts.to_vec().into(),
        LONGEST_TEXT.into(),
    ];
    Ok(sql::read_json(
        "SELECT coalesce(pg_catalog.json_agg(pg_catalog.tsvector_to_array(pg_catalog.to_tsvector($1::pg_catalog.regconfig, pg_catalog.left(t.text, $3))) \
             ORDER BY t.n), '[]')::text FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS t(text, n)",
        &args,
    )?
    .unwrap_or_default())
}
