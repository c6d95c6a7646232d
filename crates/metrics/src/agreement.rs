//! Agreement of raters and judges over categories: confusion matrix, κ of Cohen and of Fleiss, F1, majority vote.

use reground_interrupt::checked;
use serde::Serialize;

use crate::Ratio;
use crate::interval::Interval;
use crate::statistics::normal;

/// Share of disagreements between PARTIAL and ACCURATE that judges of citations are expected to have: from, to ("RAG Citation
/// Integrity", section on judges).
pub const EXPECTED_PARTIAL_ACCURATE: (f64, f64) = (0.12, 0.18);

/// Counts of items by the category of a reference (row) and of a judge (column). Both can be raters of equal standing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfusionMatrix<C> {
    categories: Vec<C>,
    counts: Vec<Vec<u64>>,
}

/// Quality of a judge in one category.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CategoryScores<C> {
    /// The category.
    pub category: C,
    /// Items that the reference puts into the category.
    pub support: u64,
    /// Items that the judge puts into the category.
    pub judged: u64,
    /// Share of the judged items that belong to the category; 0 without judged items.
    pub precision: f64,
    /// Share of the items of the category that the judge finds; 0 without support.
    pub recall: f64,
    /// 2 · both / (support + judged); 0 if both are 0.
    pub f1: f64,
}

impl<C: Clone + PartialEq> ConfusionMatrix<C> {
    /// Counts pairs of (reference, judged). `None` if a label is not one of the categories.
    pub fn of(categories: &[C], pairs: impl IntoIterator<Item = (C, C)>) -> Option<Self> {
        let mut counts = vec![vec![0; categories.len()]; categories.len()];
        let place = |label: &C| categories.iter().position(|category| category == label);
        for (reference, judged) in checked(pairs) {
            counts[place(&reference)?][place(&judged)?] += 1;
        }
        Some(Self {
            categories: categories.to_vec(),
            counts,
        })
    }

    /// The categories, in the order of the rows and of the columns.
    pub fn categories(&self) -> &[C] {
        &self.categories
    }

    /// The counts: a row for each category of the reference, a column for each category of the judge.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.counts
    }

    /// Number of pairs.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// The share of pairs with equal labels.
    pub fn accuracy(&self) -> Ratio {
        let equal: u64 = (0..self.counts.len()).map(|i| self.counts[i][i]).sum();
        Ratio {
            numerator: equal as f64,
            denominator: self.total(),
        }
    }

    /// The share of disagreements among the pairs in which both labels are one of these two categories.
    pub fn disagreement(&self, one: &C, other: &C) -> Ratio {
        let place = |label: &C| self.categories.iter().position(|known| known == label);
        let (Some(one), Some(other)) = (place(one), place(other)) else {
            return Ratio::default();
        };
        if one == other {
            return Ratio {
                numerator: 0.0,
                denominator: self.counts[one][one],
            };
        }
        let differ = self.counts[one][other] + self.counts[other][one];
        Ratio {
            numerator: differ as f64,
            denominator: differ + self.counts[one][one] + self.counts[other][other],
        }
    }

    /// Cohen's κ = (pₒ − pₑ) / (1 − pₑ) with the observed agreement pₒ = Σ pᵢᵢ and the agreement by chance
    /// pₑ = Σ pᵢ. p.ᵢ (Cohen, "A coefficient of agreement for nominal scales", 1960). In [−1, 1].
    ///
    /// `None` without pairs, and if both raters use only one and the same category (pₑ = 1).
    pub fn cohens_kappa(&self) -> Option<f64> {
        Shares::of(&self.counts)?.kappa()
    }

    /// κ with its asymptotic interval at a `confidence` such as 0.95. The bounds are cut at −1 and 1.
    ///
    /// The variance is that of Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa", 1969,
    /// formula 13: n (1 − pₑ)² var = Σᵢ pᵢᵢ (1 − (p.ᵢ + pᵢ.)(1 − κ))² + (1 − κ)² Σᵢ≠ⱼ pᵢⱼ (p.ᵢ + pⱼ.)² − (κ − pₑ (1 − κ))².
    /// It is 0 for complete agreement, so the interval then says nothing.
    ///
    /// `None` if κ is, or unless 0 < `confidence` < 1.
    pub fn kappa_interval(&self, confidence: f64) -> Option<Interval> {
        if !(0.0 < confidence && confidence < 1.0) {
            return None;
        }
        let shares = Shares::of(&self.counts)?;
        let kappa = shares.kappa()?;
        let error = (shares.kappa_variance(kappa) / self.total() as f64).sqrt();
        let reach = normal::central(confidence) * error;
        Some(Interval {
            mean: kappa,
            low: (kappa - reach).max(-1.0),
            high: (kappa + reach).min(1.0),
        })
    }

    /// Precision, recall and F1 of each category, in the order of the categories.
    pub fn by_category(&self) -> Vec<CategoryScores<C>> {
        let share = |part: u64, whole: u64| match whole {
            0 => 0.0,
            whole => part as f64 / whole as f64,
        };
        let scores = self.categories.iter().enumerate().map(|(i, category)| {
            let support = self.counts[i].iter().sum();
            let judged = self.counts.iter().map(|row| row[i]).sum();
            let both = self.counts[i][i];
            CategoryScores {
                category: category.clone(),
                support,
                judged,
                precision: share(both, judged),
                recall: share(both, support),
                f1: share(2 * both, support + judged),
            }
        });
        scores.collect()
    }

    /// The mean of the F1 of the categories that occur in the reference or in the judgements. `None` without pairs.
    pub fn macro_f1(&self) -> Option<f64> {
        let occurring = self.by_category().into_iter();
        let occurring = occurring.filter(|scores| scores.support + scores.judged > 0);
        Ratio::earned(occurring.map(|scores| scores.f1)).value()
    }

    /// The mean of the F1 of the categories, weighted by support. `None` without pairs.
    ///
    /// This is the F1 of the table that K4 is compared with: recall equals accuracy there, as only weighted by support.
    pub fn weighted_f1(&self) -> Option<f64> {
        let all = self.by_category();
        let sum: f64 = all.iter().map(|one| one.support as f64 * one.f1).sum();
        let total = self.total();
        (total > 0).then(|| sum / total as f64)
    }
}

/// A confusion matrix as shares of all pairs.
struct Shares {
    cells: Vec<Vec<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    observed: f64,
    by_chance: f64,
    /// Whether all pairs are in one cell of the diagonal. Decided on counts, because shares are rounded.
    is_constant: bool,
}

impl Shares {
    fn of(counts: &[Vec<u64>]) -> Option<Self> {
        let total: u64 = counts.iter().flatten().sum();
        if total == 0 {
            return None;
        }
        let cells: Vec<Vec<f64>> = counts
            .iter()
            .map(|row| row.iter().map(|n| *n as f64 / total as f64).collect())
            .collect();
        let rows: Vec<f64> = cells.iter().map(|row| row.iter().sum()).collect();
        let columns: Vec<f64> = (0..cells.len())
            .map(|j| cells.iter().map(|row| row[j]).sum())
            .collect();
        Some(Self {
            observed: (0..cells.len()).map(|i| cells[i][i]).sum(),
            by_chance: rows.iter().zip(&columns).map(|(r, c)| r * c).sum(),
            is_constant: (0..counts.len()).any(|i| counts[i][i] == total),
            cells,
            rows,
            columns,
        })
    }

    fn kappa(&self) -> Option<f64> {
        (!self.is_constant).then(|| (self.observed - self.by_chance) / (1.0 - self.by_chance))
    }

    /// Variance of κ times the number of pairs.
    fn kappa_variance(&self, kappa: f64) -> f64 {
        let off = 1.0 - kappa;
        let mut sum = 0.0;
        for (i, row) in self.cells.iter().enumerate() {
            for (j, share) in row.iter().enumerate() {
                let margins = (self.columns[i] + self.rows[j]) * off;
                let term = if i == j { 1.0 - margins } else { margins };
                sum += share * term * term;
            }
        }
        let bias = kappa - self.by_chance * off;
        let variance = (sum - bias * bias) / (1.0 - self.by_chance).powi(2);
        variance.max(0.0)
    }
}

/// Fleiss' κ of several raters: (P̄ − P̄ₑ) / (1 − P̄ₑ) with P̄ = mean of Σⱼ nᵢⱼ (nᵢⱼ − 1) / (n (n − 1)) over the items and
/// P̄ₑ = Σⱼ pⱼ² (Fleiss, "Measuring nominal scale agreement among many raters", 1971). Each item has a list with the number of
/// raters of each category.
///
/// `None` without items, unless all items have the same number of categories and of raters, at least 2 raters, and if all use only
/// one category.
pub fn fleiss_kappa(items: &[Vec<u64>]) -> Option<f64> {
    let first = items.first()?;
    let raters: u64 = first.iter().sum();
    let is_even = |item: &Vec<u64>| item.len() == first.len() && item.iter().sum::<u64>() == raters;
    if raters < 2 || !checked(items).all(is_even) {
        return None;
    }
    let (n, count) = (raters as f64, items.len() as f64);
    let agreeing = |item: &Vec<u64>| {
        let pairs = item
            .iter()
            .map(|votes| *votes as f64)
            .map(|v| v * (v - 1.0));
        pairs.sum::<f64>() / (n * (n - 1.0))
    };
    let observed = checked(items).map(agreeing).sum::<f64>() / count;
    let totals = (0..first.len()).map(|j| items.iter().map(|item| item[j]).sum::<u64>());
    let totals: Vec<u64> = totals.collect();
    if totals.contains(&(raters * items.len() as u64)) {
        return None;
    }
    let shares = totals.iter().map(|total| *total as f64 / (n * count));
    let by_chance: f64 = shares.map(|share| share * share).sum();
    Some((observed - by_chance) / (1.0 - by_chance))
}

/// A category with more than half of the votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Majority<C> {
    /// The category.
    pub category: C,
    /// Its votes.
    pub votes: usize,
    /// All valid votes.
    pub of: usize,
}

/// The category that more than half of the valid votes have. `None`, undecided, with fewer than `min_votes` and if no category has
/// more than half, as in a tie. A failed call is no vote: leave it out.
pub fn majority<C: Clone + PartialEq>(votes: &[C], min_votes: usize) -> Option<Majority<C>> {
    if votes.len() < min_votes {
        return None;
    }
    // The only candidate (Boyer and Moore, "MJRTY: a fast majority vote algorithm", 1991).
    let mut candidate: Option<&C> = None;
    let mut lead = 0_usize;
    for vote in checked(votes) {
        match candidate {
            Some(held) if lead > 0 && held == vote => lead += 1,
            _ if lead > 0 => lead -= 1,
            _ => (candidate, lead) = (Some(vote), 1),
        }
    }
    let category = candidate?;
    let held = checked(votes).filter(|vote| *vote == category).count();
    (2 * held > votes.len()).then(|| Majority {
        category: category.clone(),
        votes: held,
        of: votes.len(),
    })
}
