//! Checks of the text search configurations that rows name.

use super::finding::Finding;
use super::indexes::can_have_indexes;
use crate::error::Result;
use crate::retrieve::text_config;
use crate::sql;
use crate::store::corpora::{Corpus, Side};

const ITEM: &str = "text_config_column";
/// Maximum number of unknown names in a finding.
const MAX_NAMES: usize = 5;

/// Checks the names in the column, and that it has an index. There are no findings if rows name no configuration.
pub fn languages(corpus: &Corpus) -> Result<Vec<Finding>> {
    let Some(mapped) = corpus.mapping.get("text_config_column") else {
        return Ok(Vec::new());
    };
    let configs = text_config::of_corpus(corpus)?.join(", ");
    let mut findings = vec![Finding::ok(ITEM, format!("configurations: {configs}"))];
    findings.extend(unknown(corpus)?);
    let relation = match mapped.side {
        Side::Passages => &corpus.relation,
        Side::Documents => &corpus.documents,
    };
    let relation = relation.as_deref().unwrap_or_default();
    if !text_config::has_index(relation, &mapped.column)? {
        let column = sql::ident(&mapped.column);
        findings.push(Finding::warning(
            ITEM,
            "the column has no index: every search reads all rows to find the configurations",
            can_have_indexes(relation)?.then(|| format!("CREATE INDEX ON {relation} ({column});")),
        ));
    }
    Ok(findings)
}

/// Finds names that are neither a configuration nor a known language.
fn unknown(corpus: &Corpus) -> Result<Option<Finding>> {
    let unknown = text_config::unknown(corpus)?;
    if unknown.is_empty() {
        return Ok(None);
    }
    let names = unknown.iter().take(MAX_NAMES);
    let names: Vec<String> = names
        .map(|(name, rows)| format!("\"{name}\" ({rows})"))
        .collect();
    let more = match unknown.len() > names.len() {
        true => ", …",
        false => "",
    };
    Ok(Some(Finding::warning(
        ITEM,
        format!(
            "passages that name an unknown configuration or language use {}: {}{more}",
            corpus.text_config,
            names.join(", ")
        ),
        Some("\\dF lists the configurations. Create one of that name, or write the code of a language, as in de.".into()),
    )))
}
