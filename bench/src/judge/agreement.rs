//! The figures of a judge: those of `judge_agreement`, and those of its confusion matrix with two classes.

use anyhow::Result;
use postgres::GenericClient;

/// Agreement of a judge with the labels.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// Labelled citations with a verdict.
    pub citations: i64,
    /// Cohen's κ, and its interval.
    pub kappa: [Option<f64>; 3],
    /// Share of equal labels and verdicts.
    pub accuracy: Option<f64>,
    /// Share of disagreements among those whose label and verdict are partial or accurate.
    pub partial_accurate: Option<f64>,
    /// The confusion matrix with two classes.
    pub counts: Counts,
}

/// Counts of `accurate` against all other labels and verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    both: i64,
    label_only: i64,
    verdict_only: i64,
    neither: i64,
}

impl Counts {
    /// Counts of rows of `judge_confusion`: label, verdict, citations. Citations without a verdict are left out.
    fn of(rows: &[(String, Option<String>, i64)]) -> Self {
        let mut counts = Self::default();
        for (label, verdict, citations) in rows {
            let Some(verdict) = verdict else { continue };
            let count = match (label == "accurate", verdict == "accurate") {
                (true, true) => &mut counts.both,
                (true, false) => &mut counts.label_only,
                (false, true) => &mut counts.verdict_only,
                (false, false) => &mut counts.neither,
            };
            *count += citations;
        }
        counts
    }

    /// F1 of `accurate`.
    pub fn f1(self) -> Option<f64> {
        let all = 2 * self.both + self.label_only + self.verdict_only;
        (all > 0).then(|| 2.0 * self.both as f64 / all as f64)
    }

    /// Share of right decisions between `accurate` and the rest.
    pub fn accuracy(self) -> Option<f64> {
        let right = self.both + self.neither;
        let all = right + self.label_only + self.verdict_only;
        (all > 0).then(|| right as f64 / all as f64)
    }
}

/// Reads the agreement of a judge.
///
/// # Errors
/// Errors of the server.
pub fn read(client: &mut impl GenericClient, model: &str) -> Result<Agreement> {
    let row = client.query_one(
        "SELECT citations, kappa, kappa_low, kappa_high, accuracy, partial_accurate FROM reground.judge_agreement($1)",
        &[&model],
    )?;
    let confusion = client.query(
        "SELECT label, verdict, citations FROM reground.judge_confusion($1)",
        &[&model],
    )?;
    let confusion: Vec<(String, Option<String>, i64)> = confusion
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    Ok(Agreement {
        citations: row.get(0),
        kappa: [row.get(1), row.get(2), row.get(3)],
        accuracy: row.get(4),
        partial_accurate: row.get(5),
        counts: Counts::of(&confusion),
    })
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn partial_is_not_supported() {
        let row = |label: &str, verdict: Option<&str>, citations| {
            (label.to_owned(), verdict.map(str::to_owned), citations)
        };
        let counts = Counts::of(&[
            row("accurate", Some("accurate"), 6),
            row("accurate", Some("partial"), 2),
            row("partial", Some("accurate"), 1),
            row("partial", Some("hallucinated"), 3),
            row("hallucinated", Some("accurate"), 1),
            row("hallucinated", None, 9),
        ]);
        // Precision 6/8, recall 6/8; 9 of 13 decisions are right.
        assert_eq!(counts.f1(), Some(0.75));
        assert_eq!(counts.accuracy(), Some(9.0 / 13.0));
        assert_eq!(Counts::default().f1(), None);
    }
}
