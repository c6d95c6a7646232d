//! A corpus as it was at an earlier time, for `as_of`: the passages of the versions that were current then.

use pgrx::datum::TimestampWithTimeZone;
use reground_grounding::settings::Settings;

use crate::error::{Error, Result};
use crate::retrieve::{managed, vector_schema};
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql;
use crate::store::corpora::{self, Corpus, Past, Side};
use crate::store::documents::DESCRIBED;

/// Returns a time as text, for [`at`].
///
/// # Errors
/// 22023 for a time in the future: what it returns could change until then.
pub fn time(as_of: TimestampWithTimeZone) -> Result<String> {
    let time = with_settings(&PLAIN_TEXT, || {
        sql::read_one::<String>(
            "SELECT CASE WHEN $1 <= clock_timestamp() THEN to_jsonb($1) #>> '{}'::text[] END",
            &[as_of.into()],
        )
    })?;
    time.ok_or_else(|| Error::Bad {
        argument: "as_of",
        fault: "it is in the future".into(),
        hint: "Omit it to search the current versions.".into(),
    })
}

/// Returns a corpus with its rows at a time; unchanged without one.
///
/// # Errors
/// 0A000 if create_corpus did not make the corpus, 55000 if its table of earlier passages was dropped, 42501 if row-level security does
/// not cover that table or a superuser would run code of other roles.
pub fn at(mut corpus: Corpus, as_of: Option<&str>) -> Result<Corpus> {
    let Some(as_of) = as_of else {
        return Ok(corpus);
    };
    if !corpus.managed {
        return Err(Error::NoVersions(corpus.name));
    }
    let Some(history) = corpus.history.clone() else {
        return Err(Error::NoHistory(corpus.name));
    };
    corpus.past = Some(Past {
        passages: passages(&corpus, &history, as_of)?,
        documents: documents(&corpus, as_of),
    });
    if corpus.is_refused()? {
        return Err(Error::UntrustedCode(corpus.name));
    }
    if corpus.reveals_history()? {
        return Err(Error::OpenHistory {
            corpus: corpus.name,
            history,
        });
    }
    // The configuration of a passage is that of its document at that time, so the lexemes of the present one do not fit.
    if let Some(column) = corpus.mapping.get_mut("text_config_column") {
        column.side = Side::Documents;
        corpus.mapping.remove("lexemes");
    }
    Ok(corpus)
}

/// As [`corpora::usable_under`], at a time. `None` also if the corpus has no versions.
pub fn usable(
    settings: &Settings,
    tenant: &str,
    name: &str,
    as_of: Option<&str>,
) -> Result<Option<Corpus>> {
    let Some(corpus) = corpora::usable_under(settings, tenant, name)? else {
        return Ok(None);
    };
    match at(corpus, as_of) {
        Ok(corpus) if as_of.is_none() || corpus.is_readable()? => Ok(Some(corpus)),
        Ok(_)
        | Err(
            Error::NoVersions(_)
            | Error::NoHistory(_)
            | Error::OpenHistory { .. }
            | Error::UntrustedCode(_),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the query for the passages of all versions, with the columns of the present passages. Headings are those of the time.
fn passages(corpus: &Corpus, history: &str, as_of: &str) -> Result<String> {
    let relation = corpus.relation.as_deref().unwrap_or_default();
    let columns = corpora::columns_of(history)?;
    let embedding = corpus.mapping.get("embedding");
    let config = format!(
        "{}::pg_catalog.regconfig",
        sql::literal(&corpus.text_config)
    );
    let text = "coalesce(h.content, c.content, l.content)";
    let mut current = Vec::new();
    let mut earlier = Vec::new();
    for (column, kind) in &corpus.passage_columns {
        let name = sql::ident(column);
        let value = match column.as_str() {
            "heading" => heading_of("p"),
            "lexemes" => format!(
                "CASE WHEN t.headings IS NULL THEN p.lexemes ELSE {} END",
                managed::lexemes_of(&config, &heading_of("p"), "p.content")
            ),
            _ => format!("p.{name}"),
        };
        current.push(format!("{value} AS {name}"));
        let value = match column.as_str() {
            "content" | "content_hash" | "tokens" => {
                format!("coalesce(h.{name}, c.{name}, l.{name})")
            }
            "heading" => heading_of("h"),
            "lexemes" => managed::lexemes_of(&config, &heading_of("h"), text),
            _ if embedding.is_some_and(|embedding| embedding.column == *column) => {
                embedding_of(corpus, &name, kind)?
            }
            _ if columns.get(column) == Some(kind) => format!("h.{name}"),
            _ => format!("NULL::{kind}"),
        };
        earlier.push(format!("{value} AS {name}"));
    }
    Ok(format!(
        "SELECT {} FROM {relation} AS p {} UNION ALL SELECT {} FROM {history} AS h LEFT JOIN {relation} AS c ON c.doc_id = h.doc_id AND c.chunk_id = h.chunk_id \
             LEFT JOIN {history} AS l ON l.doc_id = h.doc_id AND l.chunk_id = h.chunk_id AND l.is_last {}",
        current.join(", "),
        former_headings(corpus, "p", as_of),
        earlier.join(", "),
        former_headings(corpus, "h", as_of)
    ))
}

/// Returns the expression for the heading of a passage at the time, which [`former_headings`] joins.
fn heading_of(passage: &str) -> String {
    format!(
        "CASE WHEN t.headings IS NULL THEN {passage}.heading ELSE t.headings ->> {passage}.ordinal::text END"
    )
}

/// Returns the join of the headings of a version that a later title has replaced since the time.
fn former_headings(corpus: &Corpus, passage: &str, as_of: &str) -> String {
    format!(
        "LEFT JOIN LATERAL (SELECT x.value -> 'headings' AS headings FROM {} AS d, jsonb_array_elements(d.earlier_descriptions) WITH ORDINALITY AS x(value, place) \
             WHERE d.doc_id = {passage}.doc_id AND d.version = {passage}.version AND jsonb_typeof(x.value -> 'headings') = 'object' \
                 AND (x.value ->> 'until')::timestamptz > {}::timestamptz ORDER BY x.place LIMIT 1) AS t ON true",
        corpus.documents.as_deref().unwrap_or_default(),
        sql::literal(as_of)
    )
}

/// Returns the expression for the embedding of an earlier passage. A vector of another model can have other dimensions.
fn embedding_of(corpus: &Corpus, name: &str, kind: &str) -> Result<String> {
    let schema = vector_schema()?;
    let dimensions = corpus.dimensions.unwrap_or_default();
    let stored = |row: &str| {
        format!(
            "CASE WHEN {schema}.vector_dims({row}.embedding) = {dimensions} THEN {row}.embedding::{kind} END"
        )
    };
    Ok(format!(
        "coalesce({}, c.{name}, {})",
        stored("h"),
        stored("l")
    ))
}

/// Returns the query for the versions of documents that were current at a time, with the columns of the table of documents. Each has the
/// first of its earlier descriptions that ended later, or else its present one.
fn documents(corpus: &Corpus, as_of: &str) -> String {
    let time = format!("{}::timestamptz", sql::literal(as_of));
    let columns: Vec<String> = corpus
        .document_columns
        .keys()
        .map(|column| {
            let name = sql::ident(column);
            match DESCRIBED.iter().find(|(described, _)| described == column) {
                Some((_, "jsonb")) => {
                    format!("coalesce(e.value -> '{column}', d.{name}) AS {name}")
                }
                Some((_, kind)) => format!(
                    "CASE WHEN e.value IS NULL THEN d.{name} ELSE (e.value ->> '{column}')::{kind} END AS {name}"
                ),
                None => format!("d.{name}"),
            }
        })
        .collect();
    format!(
        "SELECT {} FROM {} AS d LEFT JOIN LATERAL (SELECT x.value FROM jsonb_array_elements(d.earlier_descriptions) WITH ORDINALITY AS x(value, place) \
             WHERE (x.value ->> 'until')::timestamptz > {time} ORDER BY x.place LIMIT 1) AS e ON true \
         WHERE d.indexed_at <= {time} AND (d.replaced_at IS NULL OR d.replaced_at > {time})",
        columns.join(", "),
        corpus.documents.as_deref().unwrap_or_default()
    )
}
