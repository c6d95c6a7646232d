//! Indexes for ranked text search in PostgreSQL.

use anyhow::Result;
use postgres::Client;

use crate::database::server;

/// An index and its query.
#[derive(Clone, Copy, Debug)]
pub struct Competitor {
    /// Its name in the report.
    pub name: &'static str,
    /// Creates the index NAME on TABLE.
    index: &'static str,
    /// Returns LIMIT_ROWS rows of `lexical.passages`.
    query: &'static str,
    /// Statement to run first.
    before: &'static str,
    /// Its index on `lexical.divided_text`, and the search within a part of these rows; empty if it is not measured.
    divided: [&'static str; 2],
}

const OURS: Competitor = Competitor {
    name: "reground_bm25",
    index: "CREATE INDEX NAME ON TABLE USING reground_bm25 (body) WITH (text_config = 'english')",
    query: "SELECT id FROM lexical.passages ORDER BY body <@> reground.bm25_query($1, 'lexical.passages') LIMIT LIMIT_ROWS",
    before: "",
    divided: ["", ""],
};

/// PostgreSQL's own text search: any of the words, ranked by cover density.
const TSVECTOR: Competitor = Competitor {
    name: "tsvector, GIN, ts_rank_cd",
    index: "CREATE INDEX NAME ON TABLE USING gin (to_tsvector('english', body))",
    query: "SELECT p.id FROM lexical.passages AS p, (SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery AS words FROM unnest(to_tsvector('english', $1))) AS q \
            WHERE to_tsvector('english', p.body) @@ q.words ORDER BY ts_rank_cd(to_tsvector('english', p.body), q.words) DESC LIMIT LIMIT_ROWS",
    before: "",
    divided: ["", ""],
};

/// pg_textsearch, if the server has it.
const PG_TEXTSEARCH: Competitor = Competitor {
    name: "pg_textsearch",
    index: "CREATE INDEX NAME ON TABLE USING bm25 (body) WITH (text_config = 'english')",
    query: "SELECT id FROM lexical.passages ORDER BY body <@> to_bm25query($1, 'lexical.passages_pg_textsearch') LIMIT LIMIT_ROWS",
    before: "CREATE EXTENSION IF NOT EXISTS pg_textsearch",
    divided: [
        "CREATE INDEX divided_pg_textsearch ON lexical.divided_text USING bm25 (body) WITH (text_config = 'english')",
        "SELECT id FROM lexical.divided_text WHERE PARTS = PART ORDER BY body <@> to_bm25query($1, 'lexical.divided_pg_textsearch') LIMIT LIMIT_ROWS",
    ],
};

/// The competitors that the server has, limited to the names `only` unless it is empty; ours first.
///
/// # Errors
/// Errors of the server.
pub fn available(client: &mut Client, only: &[String]) -> Result<Vec<Competitor>> {
    let named = |one: &Competitor| {
        only.is_empty() || only.iter().any(|name| one.name.starts_with(name.as_str()))
    };
    let mut competitors = vec![OURS];
    competitors.extend(Some(TSVECTOR).filter(named));
    if named(&PG_TEXTSEARCH) && server::has_pg_textsearch(client)? {
        client.batch_execute(PG_TEXTSEARCH.before)?;
        competitors.push(PG_TEXTSEARCH);
    }
    Ok(competitors)
}

impl Competitor {
    /// Name of its index on the passages.
    fn index_name(&self) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        format!(
            "passages_{}",
            self.name.chars().map(word).collect::<String>()
        )
    }

    fn statement(&self, name: &str, table: &str) -> String {
        self.index.replace("NAME", name).replace("TABLE", table)
    }

    /// Builds its index on all passages.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn build(&self, client: &mut Client) -> Result<()> {
        let statement = self.statement(&self.index_name(), "lexical.passages");
        client.batch_execute(&statement)?;
        Ok(())
    }

    /// Size of that index in bytes.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn size(&self, client: &mut Client) -> Result<i64> {
        let name = format!("lexical.{}", self.index_name());
        let row = client.query_one("SELECT pg_relation_size($1::text::regclass)", &[&name])?;
        Ok(row.get(0))
    }

    /// Builds its index on `lexical.divided_text`. Returns the search within a part of these rows; `None` if it is not measured.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn search_divided(&self, client: &mut Client) -> Result<Option<String>> {
        let [index, search] = self.divided;
        client.batch_execute(index)?;
        Ok((!search.is_empty()).then(|| search.to_owned()))
    }

    /// Its query for `limit` rows; `$1` is the text.
    pub fn query(&self, limit: usize) -> String {
        self.query.replace("LIMIT_ROWS", &limit.to_string())
    }

    /// Creates the table `lexical.inserted` with only this index.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn create_insert_table(&self, client: &mut Client) -> Result<()> {
        client.batch_execute(
            "DROP TABLE IF EXISTS lexical.inserted; \
             CREATE TABLE lexical.inserted (id bigint GENERATED ALWAYS AS IDENTITY, body text NOT NULL)",
        )?;
        client.batch_execute(&self.statement("inserted_body", "lexical.inserted"))?;
        Ok(())
    }
}
