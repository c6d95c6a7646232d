//! The receipt of an erasure.

use serde::Serialize;

/// The changes of a relation.
#[derive(Debug, Serialize)]
pub struct ReceiptRow {
    /// Qualified and quoted.
    pub relation: String,
    /// Number of deleted rows.
    pub erased: i64,
    /// Number of rows whose text was removed.
    pub redacted: i64,
}

/// The changes of an erasure: one row per changed relation, in the order of the changes.
#[derive(Debug, Default)]
pub struct Receipt(Vec<ReceiptRow>);

impl Receipt {
    /// Adds deleted rows.
    pub fn erased(&mut self, relation: &str, rows: usize) {
        self.of(relation, rows, |row| &mut row.erased);
    }

    /// Adds rows whose text was removed.
    pub fn redacted(&mut self, relation: &str, rows: usize) {
        self.of(relation, rows, |row| &mut row.redacted);
    }

    /// The rows of the receipt.
    pub fn rows(&self) -> &[ReceiptRow] {
        &self.0
    }

    fn of(&mut self, relation: &str, rows: usize, count: impl Fn(&mut ReceiptRow) -> &mut i64) {
        if rows == 0 {
            return;
        }
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let place = self.0.iter().position(|row| row.relation == relation);
        let place = place.unwrap_or_else(|| {
            self.0.push(ReceiptRow {
                relation: relation.to_owned(),
                erased: 0,
                redacted: 0,
            });
            self.0.len() - 1
        });
        if let Some(row) = self.0.get_mut(place) {
            *count(row) += rows;
        }
    }
}
