//! Decision quality of a score.

use reground_metrics::classification::{auroc, best_threshold, macro_f1};

use crate::statistics::folds::{Fold, folds};
use crate::statistics::logistic::Logistic;

/// The default of the setting `support_threshold`.
const DEFAULT: f64 = 0.4;

/// Macro-F1 at the default threshold.
pub fn at_default(scored: &[(f64, bool)]) -> Option<f64> {
    macro_f1(
        scored
            .iter()
            .map(|(score, truth)| (*score >= DEFAULT, *truth)),
    )
}

/// Macro-F1 with the best threshold of the other folds. The items of one question are in one fold.
pub fn in_folds(scored: &[(f64, bool)], questions: &[&str]) -> Option<f64> {
    let decided = folds(scored, questions).flat_map(|Fold { held_out, others }| {
        let threshold = best_threshold(&others).unwrap_or(DEFAULT);
        let decide = move |(score, truth): (f64, bool)| (score >= threshold, truth);
        held_out.into_iter().map(decide).collect::<Vec<_>>()
    });
    macro_f1(decided)
}

/// AUROC and macro-F1 with the weights and the threshold of the other folds.
pub fn fitted_in_folds<const N: usize>(
    labelled: &[([f64; N], bool)],
    questions: &[&str],
) -> (Option<f64>, Option<f64>) {
    let (mut scored, mut decided) = (Vec::new(), Vec::new());
    for Fold { held_out, others } in folds(labelled, questions) {
        let model = Logistic::fit(&others);
        let score = |rows: Vec<([f64; N], bool)>| -> Vec<(f64, bool)> {
            let scores = rows.into_iter();
            scores
                .map(|(row, truth)| (model.odds(&row), truth))
                .collect()
        };
        let held_out = score(held_out);
        let threshold = best_threshold(&score(others)).unwrap_or_default();
        decided.extend(
            held_out
                .iter()
                .map(|(score, truth)| (*score >= threshold, *truth)),
        );
        scored.extend(held_out);
    }
    (auroc(&scored), macro_f1(decided))
}

#[cfg(test)]
mod tests {
    use super::{at_default, fitted_in_folds, in_folds};

    #[test]
    fn folds_keep_questions_together_and_cover_all_items() {
        let scored: Vec<(f64, bool)> = (0..100).map(|n| (f64::from(n) / 400.0, n >= 50)).collect();
        let questions: Vec<String> = (0..100).map(|n| format!("question {n}")).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        // No score reaches the default. A fitted threshold errs only near the border.
        assert!(at_default(&scored).is_some_and(|f1| f1 < 0.5));
        assert!(in_folds(&scored, &questions).is_some_and(|f1| f1 > 0.95));
    }

    #[test]
    fn a_fit_is_evaluated_on_unseen_questions() {
        // The first feature is the label, the second identifies the question, so a fit that saw the question could memorise it.
        let labelled: Vec<([f64; 2], bool)> = (0..200)
            .map(|n| ([f64::from(n % 2), f64::from(n)], n % 2 == 1))
            .collect();
        let questions: Vec<String> = (0..200).map(|n| format!("question {n}")).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        assert_eq!(
            fitted_in_folds(&labelled, &questions),
            (Some(1.0), Some(1.0))
        );
        let noise: Vec<([f64; 1], bool)> = (0_u32..200)
            .map(|n| ([f64::from(n.wrapping_mul(2_654_435_761) >> 16)], n % 3 == 0))
            .collect();
        let (auroc, _) = fitted_in_folds(&noise, &questions);
        assert!(
            auroc.is_some_and(|auroc| (0.3..0.7).contains(&auroc)),
            "{auroc:?}"
        );
    }
}
