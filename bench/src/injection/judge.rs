//! The verdicts of `check_answer` on the evaluated citations.

use anyhow::Result;
use postgres::GenericClient;
use serde_json::json;

use super::case::TestCase;

/// The default of the setting `support_threshold`.
pub const DEFAULT_THRESHOLD: f64 = 0.4;

/// The verdict on a citation.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Its status.
    pub status: String,
    /// Whether it holds; `None` if that was not decided.
    pub holds: Option<bool>,
    /// Failure mode.
    pub hallucination_mode: Option<String>,
}

impl Verdict {
    /// The verdict on a citation that was not extracted.
    pub fn unseen() -> Self {
        Self {
            status: "not seen".into(),
            ..Self::default()
        }
    }
}

/// The verdicts on all evaluated citations. `threshold` is the setting `support_threshold`.
///
/// # Errors
/// Errors of the server.
pub fn judge(
    client: &mut impl GenericClient,
    cases: &[TestCase],
    threshold: f64,
) -> Result<Vec<Verdict>> {
    let settings = json!({"support_threshold": threshold});
    let statement = client.prepare(
        "SELECT byte_start, status, holds, hallucination_mode \
         FROM reground.check_answer($1, $2, settings => $3, text_config => 'english', corpus => $4)",
    )?;
    let judged = cases.iter().map(|case| {
        let rows = client.query(
            &statement,
            &[&case.answer, &case.passages, &settings, &case.corpus],
        )?;
        let verdict = |byte: &usize| {
            // The extracted text of a form in round brackets starts after the bracket.
            let row = rows.iter().find(|row| {
                let at = row.get::<_, Option<i32>>(0).map(|at| at as usize);
                at.is_some_and(|at| at == *byte || at == byte + 1)
            });
            row.map_or_else(Verdict::unseen, |row| Verdict {
                status: row.get(1),
                holds: row.get(2),
                hallucination_mode: row.get(3),
            })
        };
        Ok(case.citations.iter().map(verdict).collect())
    });
    Ok(judged.collect::<Result<Vec<Vec<Verdict>>>>()?.concat())
}
