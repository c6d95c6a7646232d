//! What is missing from a corpus, and the command that mends it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::retrieve::{lexical, mapping, text_config, vector, vector_schema};
use crate::sql;
use crate::store::corpora::{Corpus, INTEGERS, Side};
use crate::tenant;

/// A finding of `check_corpus`.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub item: String,
    /// `ok`, `warning` or `error`.
    pub status: &'static str,
    /// What was found.
    pub detail: String,
    /// The command that mends it.
    pub hint: Option<String>,
}

impl Finding {
    fn new(item: &str, status: &'static str, detail: String, hint: Option<String>) -> Self {
        Self {
            item: item.to_owned(),
            status,
            detail,
            hint,
        }
    }
}

/// Every finding: relations, columns, rows, embeddings, indexes.
pub fn findings(corpus: &Corpus) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let Some(relation) = corpus.relation.clone() else {
        let hint = format!(
            "SELECT reground.drop_corpus({});",
            sql::literal(&corpus.name)
        );
        findings.push(Finding::new(
            "relation",
            "error",
            "the relation no longer exists".into(),
            Some(hint),
        ));
        return Ok(findings);
    };
    findings.push(Finding::new("relation", "ok", relation.clone(), None));
    if corpus.has_documents && corpus.documents.is_none() {
        let hint = format!(
            "SELECT reground.drop_corpus({});",
            sql::literal(&corpus.name)
        );
        findings.push(Finding::new(
            "documents",
            "error",
            "the relation of the documents no longer exists".into(),
            Some(hint),
        ));
        return Ok(findings);
    }
    let gone = columns(corpus, &mut findings);
    if gone {
        return Ok(findings);
    }
    if sql::read_one::<bool>(
        "SELECT pg_catalog.has_table_privilege($1, 'SELECT')",
        &[relation.as_str().into()],
    )? != Some(true)
    {
        findings.push(Finding::new(
            "privilege",
            "error",
            "this role may not read the relation".into(),
            sql::read_one(
                "SELECT 'GRANT SELECT ON ' || $1 || ' TO ' || pg_catalog.quote_ident(current_user) || ';'",
                &[relation.as_str().into()],
            )?,
        ));
        return Ok(findings);
    }
    untrusted_code(corpus, &mut findings)?;
    whole_numbers(corpus, &mut findings);
    chunk_id(corpus, &relation, &mut findings)?;
    documents_doc_id(corpus, &mut findings)?;
    embeddings(corpus, &relation, &mut findings)?;
    languages(corpus, &mut findings)?;
    findings.push(lexical_index(corpus, &relation)?);
    Ok(findings)
}

/// Mapped columns that the relations do not have.
fn columns(corpus: &Corpus, findings: &mut Vec<Finding>) -> bool {
    let mut gone = false;
    for (meaning, column) in &corpus.mapping {
        let columns = match column.side {
            Side::Passages => &corpus.passage_columns,
            Side::Documents => &corpus.document_columns,
        };
        if !columns.contains_key(&column.column) {
            gone = true;
            let (guess, hint) = match corpus.managed {
                true => (String::new(), managed_repair(corpus, meaning)),
                false => remapping(corpus, meaning, column.side, columns),
            };
            findings.push(Finding::new(
                meaning,
                "error",
                format!("column \"{}\" does not exist{guess}", column.column),
                Some(hint),
            ));
        }
    }
    gone
}

/// The command that restores a column of the tables that create_corpus made.
fn managed_repair(corpus: &Corpus, meaning: &str) -> String {
    let name = sql::literal(&corpus.name);
    match meaning {
        "lexemes" => format!(
            "SELECT reground.alter_corpus({name}, text_config => 'pg_catalog.english'); -- or another configuration"
        ),
        _ => {
            format!("Restore the column, or drop the corpus: SELECT reground.drop_corpus({name});")
        }
    }
}

/// The column that may have taken the place of a lost one, as part of a sentence, and the command that maps it.
fn remapping(
    corpus: &Corpus,
    meaning: &str,
    side: Side,
    columns: &BTreeMap<String, String>,
) -> (String, String) {
    let instead = instead(corpus, meaning, side, columns);
    let guess = match instead {
        Some(name) => format!("; \"{name}\" may have taken its place"),
        None => String::new(),
    };
    let name = serde_json::Value::from(instead.unwrap_or("…"));
    let mapping = format!("{{\"{meaning}\": {name}}}");
    let hint = format!(
        "SELECT reground.alter_corpus({}, mapping => {});",
        sql::literal(&corpus.name),
        sql::literal(&mapping)
    );
    (guess, hint)
}

/// The column that a renamed one may be now: the only one that nothing is mapped to and whose type the meaning can have.
fn instead<'a>(
    corpus: &Corpus,
    meaning: &str,
    side: Side,
    columns: &'a BTreeMap<String, String>,
) -> Option<&'a str> {
    let mut free = columns.iter().filter(|(name, kind)| {
        let mut mapped = corpus.mapping.values();
        fits(meaning, kind) && !mapped.any(|of| of.side == side && of.column == **name)
    });
    let (name, _) = free.next()?;
    free.next().is_none().then_some(name.as_str())
}

/// Whether a column of that type can have a meaning. Keys may be of any.
fn fits(meaning: &str, kind: &str) -> bool {
    let kind = kind.rsplit('.').next().unwrap_or(kind);
    let is_text = matches!(kind, "text" | "character varying" | "character" | "name");
    match meaning {
        "chunk_id" | "doc_id" | "documents_doc_id" => true,
        "embedding" => matches!(kind, "vector" | "halfvec"),
        "published" | "modified_at" => kind.starts_with("timestamp") || kind == "date",
        "metadata" => matches!(kind, "json" | "jsonb"),
        "text_config_column" => is_text || kind == "regconfig",
        other if INTEGERS.contains(&other) => {
            matches!(kind, "smallint" | "integer" | "bigint" | "numeric")
        }
        _ => is_text,
    }
}

/// Functions of a view or of a type run with the rights of whoever searches.
fn untrusted_code(corpus: &Corpus, findings: &mut Vec<Finding>) -> Result<()> {
    let caller = tenant::role();
    for owner in corpus.untrusted_owners()? {
        if owner != caller {
            findings.push(Finding::new(
                "owner",
                "warning",
                format!(
                    "functions of role \"{owner}\" run with the rights of the role that searches"
                ),
                Some(
                    "Search the corpus only if you trust this role. A superuser is refused.".into(),
                ),
            ));
        }
    }
    Ok(())
}

/// Places within a document are whole numbers: a column of another type is passed over.
fn whole_numbers(corpus: &Corpus, findings: &mut Vec<Finding>) {
    for meaning in INTEGERS {
        if let (Some(column), Some(kind)) = (corpus.column(meaning), corpus.column_type(meaning))
            && !corpus.is_integer(meaning)
        {
            findings.push(Finding::new(
                meaning,
                "warning",
                format!("{column} is of type {kind}, not a whole number: it is passed over"),
                Some(format!(
                    "SELECT reground.alter_corpus({}, mapping => '{{\"{meaning}\": null}}');",
                    sql::literal(&corpus.name)
                )),
            ));
        }
    }
}

/// The key must tell passages apart, and be found by an index.
fn chunk_id(corpus: &Corpus, relation: &str, findings: &mut Vec<Finding>) -> Result<()> {
    match corpus.mapping.get("chunk_id") {
        Some(column) => unique("chunk_id", relation, &column.column, findings),
        None => Ok(()),
    }
}

/// So must the key of the documents, or a passage is found once for each of them.
fn documents_doc_id(corpus: &Corpus, findings: &mut Vec<Finding>) -> Result<()> {
    match (&corpus.documents, corpus.mapping.get("documents_doc_id")) {
        (Some(documents), Some(column)) if !corpus.managed => {
            unique("documents_doc_id", documents, &column.column, findings)
        }
        _ => Ok(()),
    }
}

/// What indexes a column leads.
#[derive(Deserialize)]
struct Led {
    /// Kind of the relation, as pg_class has it.
    kind: String,
    /// Whether one of them is unique, on the column alone.
    unique: bool,
    /// One that finds a value, unique or not.
    index: Option<String>,
}

/// Whether a column has a unique index of its own. A partitioned table can only have one where the column tells the partitions apart,
/// so there an index has to do; a view has none.
fn unique(item: &str, relation: &str, column: &str, findings: &mut Vec<Finding>) -> Result<()> {
    let led: Option<Led> = sql::read_json(
        "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT c.relkind AS kind, coalesce(pg_catalog.bool_or(i.indisunique AND i.indnkeyatts = 1), false) AS unique, \
             pg_catalog.min(i.indexrelid::pg_catalog.regclass::text) AS index \
         FROM pg_catalog.pg_class AS c LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attname = $2 \
             LEFT JOIN (pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am AS m ON m.oid = x.relam AND m.amname IN ('btree', 'hash')) \
                 ON i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL \
         WHERE c.oid = $1::regclass GROUP BY c.relkind) AS r",
        &[relation.into(), column.into()],
    )?;
    let Some(led) = led else {
        return Ok(());
    };
    let name = sql::ident(column);
    let found = |status, detail: String, hint| Finding::new(item, status, detail, hint);
    findings.push(match (led.kind.as_str(), led.index) {
        _ if led.unique => found("ok", format!("{column} is unique"), None),
        ("v", _) => found(
            "ok",
            format!("{column}; that it is unique is for the view to see to"),
            None,
        ),
        ("p", Some(index)) => found(
            "ok",
            format!("{column} is found by {index}; that it is unique over all partitions is for the application to see to"),
            None,
        ),
        ("p", None) => found(
            "warning",
            format!("{column} has no index"),
            Some(format!("CREATE INDEX ON {relation} ({name});")),
        ),
        _ => found(
            "warning",
            format!("{column} has no unique index"),
            Some(format!("CREATE UNIQUE INDEX ON {relation} ({name});")),
        ),
    });
    Ok(())
}

/// How many passages have an embedding, and whether an index serves them.
fn embeddings(corpus: &Corpus, relation: &str, findings: &mut Vec<Finding>) -> Result<()> {
    let (Some(column), Some(mapped)) =
        (corpus.column("embedding"), corpus.mapping.get("embedding"))
    else {
        findings.push(Finding::new(
            "embedding",
            "warning",
            "no embedding column: lexical search only".into(),
            Some(if corpus.managed {
                "Create the corpus with dimensions => ….".into()
            } else {
                format!(
                    "SELECT reground.alter_corpus({}, mapping => '{{\"embedding\": \"…\"}}');",
                    sql::literal(&corpus.name)
                )
            }),
        ));
        return Ok(());
    };
    if corpus.embedding_kind().is_none() {
        let kind = corpus.column_type("embedding").unwrap_or("unknown");
        findings.push(Finding::new(
            "embedding",
            "error",
            format!("column \"{}\" is of type {kind}: no vector search, and no embedding can be stored", mapped.column),
            Some(format!(
                "ALTER TABLE {relation} ALTER COLUMN {name} TYPE {schema}.vector USING {name}::{schema}.vector;",
                name = sql::ident(&mapped.column),
                schema = vector_schema()?
            )),
        ));
        return Ok(());
    }
    let (_, dimensions) = mapping::embedding_column(relation, &mapped.column)?;
    if dimensions != corpus.dimensions {
        findings.push(Finding::new(
            "embedding",
            "error",
            "the column has other dimensions than when it was registered".into(),
            Some(format!(
                "SELECT reground.alter_corpus({}, mapping => '{{\"embedding\": \"{}\"}}');",
                sql::literal(&corpus.name),
                mapped.column
            )),
        ));
    }
    #[derive(Deserialize)]
    struct Counts {
        passages: i64,
        embedded: i64,
    }
    let counts: Counts = sql::read_json(
        &format!(
            "SELECT pg_catalog.jsonb_build_object('passages', count(*), 'embedded', count({column}))::text FROM {relation} AS p"
        ),
        &[],
    )?
    .unwrap_or(Counts {
        passages: 0,
        embedded: 0,
    });
    let whole = counts.passages == counts.embedded;
    findings.push(Finding::new(
        "embedding",
        if whole { "ok" } else { "warning" },
        format!(
            "{} of {} passages have one",
            counts.embedded, counts.passages
        ),
        (!whole).then(|| {
            format!(
                "SELECT * FROM reground.pending_embeddings({});",
                sql::literal(&corpus.name)
            )
        }),
    ));
    findings.push(vector_index(corpus, relation, &mapped.column)?);
    Ok(())
}

/// The findings about indexes alone, which need not read the table.
pub fn indexes(corpus: &Corpus) -> Result<Vec<Finding>> {
    let Some(relation) = &corpus.relation else {
        return Ok(Vec::new());
    };
    let mut findings = vec![lexical_index(corpus, relation)?];
    if let Some(mapped) = corpus.mapping.get("embedding") {
        findings.push(vector_index(corpus, relation, &mapped.column)?);
    }
    Ok(findings)
}

/// Whether a relation can have indexes: a view cannot.
fn can_have_indexes(relation: &str) -> Result<bool> {
    let kind =
        "SELECT c.relkind IN ('r', 'p', 'm') FROM pg_catalog.pg_class c WHERE c.oid = $1::regclass";
    Ok(sql::read_one::<bool>(kind, &[relation.into()])? == Some(true))
}

/// Whether an index serves the vector branch.
fn vector_index(corpus: &Corpus, relation: &str, column: &str) -> Result<Finding> {
    if let Some(index) = vector::index(corpus)? {
        return Ok(Finding::new("vector index", "ok", index.name, None));
    }
    let command = match can_have_indexes(relation)? {
        true => Some(index_command(corpus, relation, column)?),
        false => None,
    };
    Ok(Finding::new(
        "vector index",
        "warning",
        "none for this metric: every search compares all embeddings (exact; slow on a large table)"
            .into(),
        command,
    ))
}

fn in_documents(corpus: &Corpus, meaning: &str) -> bool {
    let column = corpus.mapping.get(meaning);
    column.is_some_and(|column| column.side == Side::Documents)
}

/// What the rows name to be read by.
fn languages(corpus: &Corpus, findings: &mut Vec<Finding>) -> Result<()> {
    let Some(mapped) = corpus.mapping.get("text_config_column") else {
        return Ok(());
    };
    let configs = text_config::of_corpus(corpus)?;
    findings.push(Finding::new(
        "text_config_column",
        "ok",
        format!("passages are read by {}", configs.join(", ")),
        None,
    ));
    let unknown = text_config::unknown(corpus)?;
    if !unknown.is_empty() {
        let names = unknown.iter().take(5);
        let names: Vec<String> = names
            .map(|(name, rows)| format!("\"{name}\" ({rows})"))
            .collect();
        findings.push(Finding::new(
            "text_config_column",
            "warning",
            format!(
                "passages that name no text search configuration and no known language are read by {}: {}{}",
                corpus.text_config,
                names.join(", "),
                if unknown.len() > names.len() { ", …" } else { "" }
            ),
            Some("\\dF lists the configurations; make one of that name, or write the code of a language, as de.".into()),
        ));
    }
    let relation = match mapped.side {
        Side::Passages => &corpus.relation,
        Side::Documents => &corpus.documents,
    };
    let relation = relation.as_deref().unwrap_or_default();
    if !text_config::has_index(relation, &mapped.column)? {
        findings.push(Finding::new(
            "text_config_column",
            "warning",
            "no index finds which configurations the rows name: every search reads all rows for that".into(),
            match can_have_indexes(relation)? {
                true => Some(format!("CREATE INDEX ON {relation} ({});", sql::ident(&mapped.column))),
                false => None,
            },
        ));
    }
    Ok(())
}

/// Whether an index serves the lexical branch.
fn lexical_index(corpus: &Corpus, relation: &str) -> Result<Finding> {
    if let Some(index) = lexical::index(corpus)? {
        let mut detail = index.name;
        if index.row_security {
            detail.push_str(
                ": not used under row-level security, where each search reads the visible passages",
            );
        }
        return Ok(Finding::new("lexical index", "ok", detail, None));
    }
    let command = match can_have_indexes(relation)? {
        true => lexical::create_index(corpus)?.map(|command| format!("{command};")),
        false => None,
    };
    if command.is_none() && in_documents(corpus, "text_config_column") {
        return Ok(Finding::new(
            "lexical index",
            "warning",
            "none, and none can be: what a passage is read by stands in the documents' relation, which an index of the passages does not see; every search reads all passages (exact; slow on a large table)".into(),
            Some("Give the passages a column with the configuration of their document, and name that by alter_corpus(…, mapping => '{\"text_config_column\": \"…\"}').".into()),
        ));
    }
    Ok(Finding::new(
        "lexical index",
        "warning",
        "none: every search reads all passages (exact; slow on a large table)".into(),
        command,
    ))
}

/// The CREATE INDEX that pgvector can take for this column: a vector of more than 2,000 dimensions only as halfvec.
fn index_command(corpus: &Corpus, relation: &str, column: &str) -> Result<String> {
    let schema = vector_schema()?;
    let class = vector::operator_class(corpus);
    let column = sql::ident(column);
    let kind = corpus.embedding_kind().unwrap_or("vector");
    Ok(match corpus.dimensions {
        Some(count) if kind == "vector" && count > 2000 => format!(
            "CREATE INDEX ON {relation} USING hnsw (({column}::{schema}.halfvec({count})) {schema}.halfvec_{class});"
        ),
        _ => format!("CREATE INDEX ON {relation} USING hnsw ({column} {schema}.{kind}_{class});"),
    })
}
