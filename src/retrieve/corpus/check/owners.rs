//! Checks of the columns with the tenant and the principals of a row.

use super::finding::Finding;
use super::indexes::can_have_indexes;
use crate::error::Result;
use crate::guc;
use crate::retrieve::catalog;
use crate::retrieve::text_config::has_index;
use crate::sql;
use crate::store::corpora::{
    Corpus, PRINCIPALS_TYPES, TENANT_TYPES, holds_principals, holds_tenants, map_command,
};

/// Checks the types of the columns, the index on the column of tenants, and that the setting with the principals is named.
pub fn owners(corpus: &Corpus) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    findings.extend(wrong_type(corpus, "tenant_column", TENANT_TYPES, |kind| {
        holds_tenants(kind)
    }));
    findings.extend(wrong_type(
        corpus,
        "principals_column",
        PRINCIPALS_TYPES,
        holds_principals,
    ));
    for meaning in ["tenant_column", "principals_column"] {
        findings.extend(loose_collation(corpus, meaning)?);
    }
    if findings.is_empty() {
        findings.extend(tenant_index(corpus)?);
        findings.extend(principals_setting(corpus));
    }
    Ok(findings)
}

fn wrong_type(
    corpus: &Corpus,
    meaning: &str,
    types: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<Finding> {
    let column = &corpus.mapping.get(meaning)?.column;
    let kind = corpus.column_type(meaning).unwrap_or("unknown");
    (!fits(kind)).then(|| {
        Finding::error(
            meaning,
            format!("column \"{column}\" is of type {kind}, not {types}: no row is visible"),
            (!corpus.managed).then(|| map_command(corpus, meaning, Some("…"))),
        )
    })
}

/// Reports a collation by which two tenants or principals can be equal. Registration refuses it, but the column can change.
fn loose_collation(corpus: &Corpus, meaning: &str) -> Result<Option<Finding>> {
    let Some(mapped) = corpus.mapping.get(meaning) else {
        return Ok(None);
    };
    let relation = corpus.side(mapped.side).unwrap_or_default();
    let collation = catalog::loose_collation(relation, &mapped.column)?;
    Ok(collation.map(|collation| {
        let name = sql::ident(&mapped.column);
        let kind = corpus.column_type(meaning).unwrap_or("text");
        Finding::error(
            meaning,
            format!("{name} has the nondeterministic collation {collation}: different names can be equal"),
            Some(format!("ALTER TABLE {relation} ALTER COLUMN {name} TYPE {kind} COLLATE \"C\";")),
        )
    }))
}

fn tenant_index(corpus: &Corpus) -> Result<Option<Finding>> {
    let Some(mapped) = corpus.mapping.get("tenant_column") else {
        return Ok(None);
    };
    let relation = corpus.side(mapped.side).unwrap_or_default();
    let column = sql::ident(&mapped.column);
    Ok(Some(match has_index(relation, &mapped.column)? {
        true => Finding::ok(
            "tenant_column",
            format!("{column} is compared with the current tenant"),
        ),
        false => Finding::warning(
            "tenant_column",
            format!(
                "{column} has no index: the rows of a small tenant are found by reading those of all"
            ),
            can_have_indexes(relation)?.then(|| format!("CREATE INDEX ON {relation} ({column});")),
        ),
    }))
}

fn principals_setting(corpus: &Corpus) -> Option<Finding> {
    let column = &corpus.mapping.get("principals_column")?.column;
    Some(match guc::principals_from() {
        Some(setting) => Finding::ok(
            "principals_column",
            format!("{} is compared with the setting {setting}", sql::ident(column)),
        ),
        None => Finding::error(
            "principals_column",
            "reground.principals_from names no setting: no row is visible",
            Some("ALTER SYSTEM SET reground.principals_from = 'app.principals'; SELECT pg_reload_conf();".into()),
        ),
    })
}
