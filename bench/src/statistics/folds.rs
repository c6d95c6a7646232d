//! Cross-validation: five folds, what belongs together in one.

use sha2::{Digest, Sha256};

/// Folds of the cross-validation.
pub const FOLDS: u8 = 5;

/// A fold and the rest.
pub struct Fold<T> {
    /// What is judged.
    pub held_out: Vec<T>,
    /// What is fitted.
    pub others: Vec<T>,
}

/// The folds of rows, those of one group in one.
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
