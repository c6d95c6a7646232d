//! The BM25 formula of Robertson and Zaragoza ("The Probabilistic Relevance Framework", 2009), with Lucene's inverse document
//! frequency.

use crate::error::Bm25Error;

/// The two parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    k1: f64,
    b: f64,
}

impl Parameters {
    /// `k1` controls how slowly repetitions of a term saturate (0: repetitions do not count). `b` controls the length
    /// normalisation (0: none, 1: full).
    ///
    /// # Errors
    /// [`Bm25Error::Saturation`] unless `k1` is finite and ≥ 0, [`Bm25Error::LengthNormalisation`] unless `b` is in [0, 1].
    pub fn new(k1: f64, b: f64) -> Result<Self, Bm25Error> {
        if !(k1.is_finite() && k1 >= 0.0) {
            return Err(Bm25Error::Saturation(k1));
        }
        if !(0.0..=1.0).contains(&b) {
            return Err(Bm25Error::LengthNormalisation(b));
        }
        Ok(Self { k1, b })
    }

    /// Saturation of the term frequency.
    pub fn k1(&self) -> f64 {
        self.k1
    }

    /// Strength of the length normalisation.
    pub fn b(&self) -> f64 {
        self.b
    }
}

impl Default for Parameters {
    /// `k1` 1.2 and `b` 0.75, the defaults of Lucene.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// Returns the inverse document frequency in nats, `ln(1 + (n − df + 0.5) / (df + 0.5))`, of a term that `df` of `n` passages
/// contain.
///
/// The 1 inside the logarithm keeps the value positive even for a term that every passage contains. A `df` above `n` is
/// treated as `n`.
pub fn idf(n: u64, df: u64) -> f64 {
    let absent = n.saturating_sub(df) as f64;
    let present = df.min(n) as f64;
    ((absent + 0.5) / (present + 0.5)).ln_1p()
}

/// Returns the contribution of one term to the score of a passage: `idf · tf / (tf + k1 · (1 − b + b · dl / avgdl))`.
///
/// The factor `k1 + 1` of the original numerator is omitted, as in Lucene since version 8. It is the same for every term and
/// passage, so it does not change any order; without it a term contributes at most its `idf`. `tf` and `dl` are counted in
/// positions. `avgdl` must be positive whenever `dl` is.
pub fn term_score(idf: f64, tf: u32, dl: u32, avgdl: f64, parameters: &Parameters) -> f64 {
    if tf == 0 {
        return 0.0;
    }
    let Parameters { k1, b } = *parameters;
    let tf = f64::from(tf);
    idf * tf / (tf + k1 * (1.0 - b + b * f64::from(dl) / avgdl))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn matches_a_worked_example() {
        // By hand: ln(1 + 8.5 / 2.5) = ln 4.4; 3 / (3 + 1.2 · (0.25 + 0.75 · 12 / 8)) = 3 / 4.65.
        let idf = idf(10, 2);
        assert!((idf - 1.481_604_540_924_215_6).abs() < 1e-12);
        let score = term_score(idf, 3, 12, 8.0, &Parameters::default());
        assert!((score - 0.955_873_897_370_461_6).abs() < 1e-12);
    }

    #[test]
    fn refuses_parameters_outside_their_range() {
        for k1 in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Parameters::new(k1, 0.5),
                Err(Bm25Error::Saturation(_))
            ));
        }
        for b in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(
                Parameters::new(1.2, b),
                Err(Bm25Error::LengthNormalisation(_))
            ));
        }
        assert_eq!(Parameters::new(1.2, 0.75), Ok(Parameters::default()));
    }

    proptest! {
        #[test]
        fn rises_with_frequency_and_falls_with_length(
            n in 1_u64..1_000_000, share in 0.0..=1.0_f64, tf in 1_u32..200, dl in 1_u32..5_000,
            avgdl in 0.5..2_000.0_f64, k1 in 0.01..3.0_f64, b in 0.01..=1.0_f64,
        ) {
            let idf = idf(n, (n as f64 * share) as u64);
            let parameters = Parameters::new(k1, b).unwrap();
            let score = term_score(idf, tf, dl, avgdl, &parameters);
            prop_assert!(idf > 0.0);
            prop_assert!(score > 0.0 && score < idf);
            prop_assert!(term_score(idf, tf + 1, dl, avgdl, &parameters) > score);
            prop_assert!(term_score(idf, tf, dl + 1, avgdl, &parameters) < score);
        }
    }
}
