//! What a score is worth as a decision.

use reground_metrics::classification::{best_threshold, macro_f1};
use sha2::{Digest, Sha256};

/// The default of the setting `support_threshold`.
const DEFAULT: f64 = 0.43;

/// Folds of the cross-validation.
const FOLDS: u8 = 5;

/// Macro-F1 at the default threshold.
pub fn at_default(scored: &[(f64, bool)]) -> Option<f64> {
    macro_f1(
        scored
            .iter()
            .map(|(score, truth)| (*score >= DEFAULT, *truth)),
    )
}

/// Macro-F1 where each fold is decided by the threshold that is best on the other folds. Items of one question are in
/// one fold.
pub fn in_folds(scored: &[(f64, bool)], questions: &[&str]) -> Option<f64> {
    let folds: Vec<u8> = questions.iter().map(|question| fold(question)).collect();
    let decided = (0..FOLDS).flat_map(|held_out| {
        let of = |within: bool| -> Vec<(f64, bool)> {
            let rows = scored.iter().zip(&folds);
            let rows = rows.filter(|(_, fold)| (**fold == held_out) == within);
            rows.map(|(row, _)| *row).collect()
        };
        let threshold = best_threshold(&of(false)).unwrap_or(DEFAULT);
        let decide = move |(score, truth): (f64, bool)| (score >= threshold, truth);
        of(true).into_iter().map(decide).collect::<Vec<_>>()
    });
    macro_f1(decided)
}

/// The fold of a question, by its hash.
fn fold(question: &str) -> u8 {
    let hash = Sha256::digest(question.as_bytes());
    hash.last().map_or(0, |byte| byte % FOLDS)
}

#[cfg(test)]
mod tests {
    use super::{at_default, in_folds};

    #[test]
    fn folds_keep_questions_together_and_forget_nothing() {
        let scored: Vec<(f64, bool)> = (0..100).map(|n| (f64::from(n) / 400.0, n >= 50)).collect();
        let questions: Vec<String> = (0..100).map(|n| format!("question {n}")).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        // No score reaches the default; a threshold that is looked for errs by a few at the border at most.
        assert!(at_default(&scored).is_some_and(|f1| f1 < 0.5));
        assert!(in_folds(&scored, &questions).is_some_and(|f1| f1 > 0.95));
    }
}
