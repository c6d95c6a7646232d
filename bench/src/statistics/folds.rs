//! Five-fold cross-validation by groups.

use sha2::{Digest, Sha256};

/// Number of folds.
pub const FOLDS: u8 = 5;

/// A fold and the other four.
pub struct Fold<T> {
    /// Rows of the fold, to evaluate.
    pub held_out: Vec<T>,
    /// Rows of the other folds, to fit.
    pub others: Vec<T>,
}

/// The folds of `rows`; the rows of one group are in one fold.
pub fn folds<T: Copy>(rows: &[T], groups: &[&str]) -> impl Iterator<Item = Fold<T>> {
    let folds: Vec<u8> = groups.iter().map(|group| fold(group)).collect();
    (0..FOLDS).map(move |number| {
        let of = |within: bool| -> Vec<T> {
            let rows = rows.iter().zip(&folds);
            let rows = rows.filter(|(_, fold)| (**fold == number) == within);
            rows.map(|(row, _)| *row).collect()
        };
        Fold {
            held_out: of(true),
            others: of(false),
        }
    })
}

/// The fold of a group, by its hash.
pub fn fold(group: &str) -> u8 {
    let hash = Sha256::digest(group.as_bytes());
    hash.last().map_or(0, |byte| byte % FOLDS)
}
