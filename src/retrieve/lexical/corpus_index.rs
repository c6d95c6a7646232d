//! The index of a corpus: which one serves it, how it differs from the one that it should have, and the statement that creates one.

use std::cell::RefCell;

use reground_bm25::index::pages::meta::IndexSettings;
use reground_bm25::index::terms::Weights;
use serde::Deserialize;

use crate::error::Result;
use crate::index::IndexedColumns;
use crate::sql::{self, CatalogCache};
use crate::store::corpora::{Corpus, Side};

/// An index that serves a corpus: it is on the content column, alone or with the titles, and has the text search configuration of the
/// corpus.
#[derive(Debug)]
pub struct LexicalIndex {
    pub(super) oid: u32,
    /// Qualified and quoted name.
    pub name: String,
    /// Whether row-level security or a mapped column hides rows of the table from the caller.
    pub hides_rows: bool,
    /// Whether they hide rows from this or another role.
    pub may_hide_rows: bool,
    /// Whether neither the table nor a child of it can have another index of the access method.
    pub(super) is_alone: bool,
    /// Meanings of the titles that it contains.
    pub(super) titles: Vec<&'static str>,
    /// How it differs from the index that check_corpus would suggest.
    pub difference: Option<Difference>,
}

/// A difference between an index and the corpus, with which searches use the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// It does not contain the column of tenants.
    NoTenants,
    /// It has other weights.
    Weights,
    /// It does not contain the titles.
    NoTitles,
}

/// Meanings of the columns that hide rows from callers.
const HIDING: [&str; 2] = ["tenant_column", "principals_column"];

/// Returns the index that serves the corpus best, if there is one: with the titles and their weight, with the titles, or without them.
pub fn index(corpus: &Corpus) -> Result<Option<LexicalIndex>> {
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("content")) else {
        return Ok(None);
    };
    let named = corpus.mapping.get("text_config_column");
    if column.side != Side::Passages || named.is_some_and(|named| named.side != Side::Passages) {
        return Ok(None);
    }
    let by_column = HIDING.iter().any(|of| corpus.mapping.contains_key(*of));
    let titles = corpus.searched_titles();
    let mut best: Option<LexicalIndex> = None;
    for row in usable_indexes(relation)? {
        let Some(has_titles) = contents(corpus, &titles, &row.columns) else {
            continue;
        };
        if !row.built.uses_text_config(&corpus.text_config) {
            continue;
        }
        let weights = row.built.weights;
        let difference = match has_titles {
            false if !titles.is_empty() => Some(Difference::NoTitles),
            true if weights != weights_of(titles.len(), corpus.title_weight) => {
                Some(Difference::Weights)
            }
            _ => {
                let tenants = corpus.tenants_of_passages();
                let has = |column| row.columns.filters.iter().any(|filter| filter == column);
                tenants
                    .is_some_and(|column| !has(column))
                    .then_some(Difference::NoTenants)
            }
        };
        if best
            .as_ref()
            .is_none_or(|best| difference < best.difference)
        {
            best = Some(LexicalIndex {
                oid: row.oid,
                name: row.name,
                hides_rows: by_column || crate::index::hides_rows(row.oid.into())?,
                is_alone: row.is_alone,
                may_hide_rows: row.has_policies || by_column,
                titles: if has_titles {
                    titles.clone()
                } else {
                    Vec::new()
                },
                difference,
            });
        }
    }
    Ok(best)
}

/// A valid index on the columns of a table.
#[derive(Clone)]
struct UsableIndex {
    oid: u32,
    name: String,
    has_policies: bool,
    is_alone: bool,
    columns: IndexedColumns,
    /// The declared options may have changed since.
    built: IndexSettings,
}

thread_local! {
    /// Indexes by the table.
    static INDEXES: RefCell<CatalogCache<String, Vec<UsableIndex>>> = RefCell::default();
}

/// Returns the indexes of a table that a corpus may be able to use.
fn usable_indexes(relation: &str) -> Result<Vec<UsableIndex>> {
    #[derive(Deserialize)]
    struct Index {
        oid: u32,
        name: String,
        has_policies: bool,
        has_children: bool,
        is_usable: bool,
    }
    let find = || {
        let rows: Vec<Index> = sql::read_rows(
            "SELECT c.oid::bigint, format('%I.%I', n.nspname, c.relname) AS name, t.relrowsecurity AS has_policies, t.relhassubclass AS has_children, i.indisvalid AND i.indpred IS NULL AS is_usable \
             FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 JOIN pg_am AS m ON m.oid = c.relam JOIN pg_class AS t ON t.oid = i.indrelid \
             WHERE i.indrelid = $1::regclass AND m.amname = 'reground_bm25' ORDER BY c.oid",
            &[relation.into()],
        )?;
        let is_alone = rows.len() == 1 && rows.iter().all(|row| !row.has_children);
        let mut usable = Vec::new();
        for row in rows.into_iter().filter(|row| row.is_usable) {
            let oid = row.oid.into();
            let columns = crate::index::indexed_columns(oid);
            if let Some((columns, built)) = columns.zip(crate::index::built_settings(oid)?) {
                usable.push(UsableIndex {
                    oid: row.oid,
                    name: row.name,
                    has_policies: row.has_policies,
                    is_alone,
                    columns,
                    built,
                });
            }
        }
        Ok(usable)
    };
    sql::kept_by_statements(&INDEXES, relation.to_owned(), find)
}

/// Returns whether an index on these columns contains the titles; `None` if it does not serve the corpus.
fn contents(corpus: &Corpus, titles: &[&str], columns: &IndexedColumns) -> Option<bool> {
    let column = |meaning: &str| corpus.mapping.get(meaning).map(|column| &column.column);
    if columns.text_config.as_ref() != column("text_config_column") {
        return None;
    }
    let (content, first) = columns.texts.split_last()?;
    if Some(content) != column("content") {
        return None;
    }
    match first {
        [] => Some(false),
        first => {
            let all = titles.iter().map(|title| column(title));
            (!titles.is_empty() && first.iter().map(Some).eq(all)).then_some(true)
        }
    }
}

/// The weights of an index on titles and a text.
fn weights_of(titles: usize, title_weight: u8) -> Weights {
    let weights: Vec<u8> = std::iter::repeat_n(title_weight, titles).collect();
    Weights::new(&weights).unwrap_or_default()
}

/// Returns the qualified and quoted names of all `reground_bm25` indexes on a relation.
pub fn indexes_of(relation: &str) -> Result<Vec<String>> {
    let names = sql::read_json(
        "SELECT json_agg(format('%I.%I', n.nspname, c.relname))::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_am AS m ON m.oid = c.relam \
         WHERE i.indrelid = $1::regclass AND m.amname = 'reground_bm25'",
        &[relation.into()],
    )?;
    Ok(names.unwrap_or_default())
}

/// Returns the CREATE INDEX statement for a corpus. `None` if no index is possible, because the rows find their configuration
/// in another relation.
pub fn create(corpus: &Corpus) -> Result<Option<String>> {
    let meanings = ["content", "text_config_column"];
    let mut sides = meanings
        .iter()
        .filter_map(|meaning| corpus.mapping.get(*meaning));
    let Some(relation) = corpus.relation.as_deref() else {
        return Ok(None);
    };
    if sides.any(|column| column.side != Side::Passages) {
        return Ok(None);
    }
    let titles = corpus.searched_titles();
    let indexed = match corpus.indexed("", &titles)? {
        array if array.starts_with("ARRAY[") => format!("({array})"),
        other => other,
    };
    Ok(Some(create_on(
        relation,
        (
            &indexed,
            corpus
                .tenants_of_passages()
                .zip(corpus.column_type("tenant_column")),
        ),
        &corpus.text_config,
        titles.len(),
        corpus.title_weight,
    )))
}

/// Returns the CREATE INDEX statement for a column, or for an expression that begins with a number of titles, and for a column of
/// tenants with its type.
pub fn create_on(
    relation: &str,
    (texts, tenants): (&str, Option<(&str, &str)>),
    text_config: &str,
    titles: usize,
    title_weight: u8,
) -> String {
    let tenants = tenants.map(|(column, kind)| {
        let class = match kind {
            "text" | "character varying" => " reground.bm25_filter_ops",
            _ => "",
        };
        format!(", {}{class}", sql::ident(column))
    });
    let indexed = [texts, tenants.as_deref().unwrap_or_default()].concat();
    let weights = match titles {
        0 => String::new(),
        titles => format!(", weights = '{}'", weights_of(titles, title_weight)),
    };
    format!(
        "CREATE INDEX ON {relation} USING reground_bm25 ({indexed}) WITH (text_config = {}{weights})",
        sql::literal(text_config)
    )
}
