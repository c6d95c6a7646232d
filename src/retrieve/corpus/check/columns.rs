//! Checks of the mapped columns.

use super::finding::Finding;
use crate::store::corpora::{Corpus, INTEGERS, Side, map_command};

/// Finds mapped columns that the relations do not have.
pub fn missing(corpus: &Corpus) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (meaning, column) in &corpus.mapping {
        let columns = match column.side {
            Side::Passages => &corpus.passage_columns,
            Side::Documents => &corpus.document_columns,
        };
        if columns.contains_key(&column.column) {
            continue;
        }
        let (guess, hint) = corpus.repair_column(meaning, column.side, columns);
        let detail = format!("column \"{}\" does not exist{guess}", column.column);
        findings.push(Finding::error(meaning, detail, Some(hint)));
    }
    findings
}

/// Finds columns that should contain whole numbers and have another type. Searches ignore them.
pub fn not_integers(corpus: &Corpus) -> Vec<Finding> {
    let mut findings = Vec::new();
    for meaning in INTEGERS {
        if let (Some(column), Some(kind)) = (corpus.column(meaning), corpus.column_type(meaning))
            && !corpus.is_integer(meaning)
        {
            let detail = format!("{column} is of type {kind}, not a whole number: it is ignored");
            let hint = map_command(corpus, meaning, None);
            findings.push(Finding::warning(meaning, detail, Some(hint)));
        }
    }
    findings
}
