//! Precision, recall and F1 of classes, and calibration.

/// The score of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Precision.
    pub precision: f64,
    /// Recall.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
    /// Examples of the class.
    pub count: usize,
}

/// The score of one class over pairs of prediction and truth; a share of nothing is 0.
pub fn score<T: PartialEq, L: PartialEq>(pairs: &[(T, L)], judged: &T, truth: &L) -> Score {
    let count = |of: &dyn Fn(&(T, L)) -> bool| pairs.iter().filter(|pair| of(pair)).count();
    let called = count(&|pair| pair.0 == *judged);
    let so = count(&|pair| pair.1 == *truth);
    let both = count(&|pair| pair.0 == *judged && pair.1 == *truth);
    Score {
        precision: share(both, called),
        recall: share(both, so),
        f1: share(2 * both, called + so),
        count: so,
    }
}

/// A bin of confidences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower bound.
    pub from: f64,
    /// Upper bound.
    pub to: f64,
    /// Predictions in it.
    pub count: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// Share of right predictions.
    pub right: f64,
}

/// The non-empty bins of pairs of confidence and correctness, `count` bins of equal width over [0, 1].
pub fn reliability(pairs: &[(f64, bool)], count: usize) -> Vec<Bin> {
    let of = |confidence: f64| ((confidence * count as f64) as usize).min(count - 1);
    (0..count)
        .filter_map(|bin| {
            let contained: Vec<_> = pairs.iter().filter(|(c, _)| of(*c) == bin).collect();
            let right = contained.iter().filter(|(_, right)| *right).count();
            (!contained.is_empty()).then(|| Bin {
                from: bin as f64 / count as f64,
                to: (bin + 1) as f64 / count as f64,
                count: contained.len(),
                confidence: contained.iter().map(|(c, _)| c).sum::<f64>() / contained.len() as f64,
                right: share(right, contained.len()),
            })
        })
        .collect()
}

/// `part` of `all`; 0 of nothing.
pub fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{reliability, score};

    #[test]
    fn scores_match_the_textbook_definitions() {
        // Predicted a: a a b; predicted b: b. Precision of a 2/3, recall 1, F1 2 · 2 / (3 + 2).
        let pairs = [('a', 'a'), ('a', 'a'), ('a', 'b'), ('b', 'b')];
        let a = score(&pairs, &'a', &'a');
        assert_eq!(
            (a.precision, a.recall, a.f1, a.count),
            (2.0 / 3.0, 1.0, 0.8, 2)
        );
        assert_eq!(score(&pairs, &'c', &'c').f1, 0.0);
    }

    #[test]
    fn bins_contain_every_pair_once() {
        let pairs = [(0.0, false), (0.5, true), (0.59, false), (1.0, true)];
        let bins = reliability(&pairs, 5);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 4);
        let middle = bins.iter().find(|bin| bin.from == 0.4).unwrap();
        assert_eq!((middle.count, middle.right), (2, 0.5));
    }
}
