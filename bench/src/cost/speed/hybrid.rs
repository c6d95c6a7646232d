//! Hybrid search: `search`, and plain SQL as applications write it: one statement that fuses a text search and a vector search by
//! reciprocal rank (Cormack, Clarke and Büttcher, 2009) and returns ten passages. Neither stores anything.

use std::time::{Duration, Instant};

use anyhow::Result;
use postgres::types::ToSql;
use postgres::{Client, Statement};

use super::workload::Question;
use crate::database::load::SCHEMA;
use crate::database::server::{self, Address};

/// Name of the search of the extension.
pub const SEARCH: &str = "**search**, fused by scores";

/// Rows of each of the two searches, as many as a turn takes by default.
const CANDIDATES: usize = 40;

/// Passages that the statement returns.
const PASSAGES: usize = 10;

/// A copy of the passages, so that the other text indexes do not slow the corpus.
const COPY: &str = "speed_hybrid";

/// A hybrid search.
#[derive(Clone, Debug)]
pub struct HybridSearch {
    /// Name in the report.
    pub name: &'static str,
    /// Statement; `$1` is the query, `$2` its embedding.
    statement: String,
}

impl HybridSearch {
    /// `search` of a corpus.
    pub fn of_corpus(name: &'static str, corpus: &str) -> Self {
        Self {
            name,
            statement: format!(
                "SELECT chunk_id, content, score FROM reground.search('{corpus}', $1, $2, max_results => {PASSAGES})"
            ),
        }
    }

    /// A text search and pgvector's HNSW index on the same table. `text_search` returns `chunk_id`, best passage first.
    fn in_plain_sql(name: &'static str, table: &str, text_search: &str) -> Self {
        let statement = format!(
            "WITH lexical AS (SELECT chunk_id, row_number() OVER () AS rank FROM ({text_search} LIMIT {CANDIDATES}) AS found), \
                  vector AS (SELECT chunk_id, row_number() OVER () AS rank \
                             FROM (SELECT chunk_id FROM {table} ORDER BY embedding <=> $2 LIMIT {CANDIDATES}) AS found) \
             SELECT p.chunk_id, p.content, coalesce(1.0 / (60 + l.rank), 0.0) + coalesce(1.0 / (60 + v.rank), 0.0) AS score \
             FROM lexical AS l FULL JOIN vector AS v USING (chunk_id) JOIN {table} AS p USING (chunk_id) \
             ORDER BY score DESC LIMIT {PASSAGES}"
        );
        Self { name, statement }
    }

    /// The index of this extension and pgvector, both on `table`.
    pub fn of_reground(table: &str) -> Self {
        Self::in_plain_sql(
            "BM25 (`reground_bm25`) + pgvector, the same two indexes",
            table,
            &format!(
                "SELECT chunk_id FROM {table} ORDER BY content <@> reground.bm25_query($1::text, '{table}')"
            ),
        )
    }

    /// pg_textsearch and pgvector, both on `table`. Builds the index `TABLE_bm25`. `None` if the server does not have pg_textsearch.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn of_pg_textsearch(client: &mut Client, table: &str) -> Result<Option<Self>> {
        if !server::has_pg_textsearch(client)? {
            return Ok(None);
        }
        let index = format!("{table}_bm25");
        let name = index.rsplit('.').next().unwrap_or_default();
        client.batch_execute(&format!(
            "CREATE EXTENSION IF NOT EXISTS pg_textsearch;
             CREATE INDEX {name} ON {table} USING bm25 (content) WITH (text_config = 'english')"
        ))?;
        Ok(Some(Self::in_plain_sql(
            "pg_textsearch + pgvector",
            table,
            &format!(
                "SELECT chunk_id FROM {table} ORDER BY content <@> to_bm25query($1::text, '{index}')"
            ),
        )))
    }
}

/// Creates the copy of the passages with its indexes, and returns the hybrid searches that the server can run, `search` first.
///
/// # Errors
/// Errors of the server.
pub fn prepare_tables(client: &mut Client, corpus: &str) -> Result<Vec<HybridSearch>> {
    let (passages, copy) = (format!("{SCHEMA}.{corpus}"), format!("{SCHEMA}.{COPY}"));
    eprintln!("{copy}: a copy of the passages, with the indexes of plain SQL …");
    client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {copy};
         CREATE TABLE {copy} AS SELECT chunk_id, content, lexemes, embedding FROM {passages};
         ALTER TABLE {copy} ADD PRIMARY KEY (chunk_id);
         CREATE INDEX ON {copy} USING gin (lexemes);
         CREATE INDEX ON {copy} USING hnsw (embedding vector_cosine_ops)"
    ))?;
    let mut searches = vec![
        HybridSearch::of_corpus(SEARCH, corpus),
        HybridSearch::of_reground(&passages),
        HybridSearch::in_plain_sql(
            "`tsvector`, GIN, `ts_rank_cd` + pgvector",
            &copy,
            &format!(
                "SELECT t.chunk_id FROM {copy} AS t, (SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS words \
                     FROM unnest(to_tsvector('english', $1::text))) AS q \
                 WHERE t.lexemes @@ q.words ORDER BY ts_rank_cd(t.lexemes, q.words) DESC"
            ),
        ),
    ];
    searches.extend(HybridSearch::of_pg_textsearch(client, &copy)?);
    client.batch_execute(&format!("VACUUM ANALYZE {copy}"))?;
    Ok(searches)
}

/// A session that runs the hybrid searches.
pub struct HybridSession {
    client: Client,
    statements: Vec<Statement>,
}

impl HybridSession {
    /// Connects and prepares the statements. JIT is off, because compiling takes longer than such a statement.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn connect(address: &Address, searches: &[HybridSearch]) -> Result<Self> {
        let mut client = server::connect(address)?;
        client.batch_execute(&format!(
            "SET jit = off; SET hnsw.ef_search = {}",
            super::extension::EF_SEARCH
        ))?;
        let statements = searches
            .iter()
            .map(|search| Ok(client.prepare(&search.statement)?))
            .collect::<Result<_>>()?;
        Ok(Self { client, statements })
    }

    /// The time of each search for a question, in the order of the searches. All run once before, so that none reads pages for the
    /// others. Each begins equally often and follows each other one equally often.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn run(&mut self, question: &Question, turn: usize) -> Result<Vec<Duration>> {
        let count = self.statements.len();
        let arguments: [&(dyn ToSql + Sync); 2] = [&question.query, &question.embedding];
        for statement in &self.statements {
            self.client.query(statement, &arguments)?;
        }
        let mut times = vec![Duration::ZERO; count];
        let (first, backwards) = (turn % count, turn / count % 2 == 1);
        let step = if backwards { count - 1 } else { 1 };
        for place in (0..count).map(|number| (first + number * step) % count) {
            let begun = Instant::now();
            self.client.query(&self.statements[place], &arguments)?;
            times[place] = begun.elapsed();
        }
        Ok(times)
    }
}
