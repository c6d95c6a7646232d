//! What `check_answer` says of the citations that are looked at.

use anyhow::Result;
use postgres::GenericClient;
use serde_json::json;

use super::case::TestCase;

/// The default of the setting `support_threshold`.
pub const DEFAULT_THRESHOLD: f64 = 0.43;

/// What is said of a citation.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Its status.
    pub status: String,
    /// Whether it is said to hold; `None` where nothing is said of it.
    pub holds: Option<bool>,
    /// The failure mode that is named.
    pub mode: Option<String>,
}

impl Verdict {
    /// What is known of a citation that was not read as one.
    pub fn unseen() -> Self {
        Self {
            status: "not seen".into(),
            ..Self::default()
        }
    }
}

/// The verdicts on all citations that are looked at. `threshold` is the setting `support_threshold`.
///
/// # Errors
/// A server that refuses.
pub fn judge(
    client: &mut impl GenericClient,
    cases: &[TestCase],
    threshold: f64,
) -> Result<Vec<Verdict>> {
    let settings = json!({"support_threshold": threshold});
    let statement = client.prepare(
        "SELECT byte_start, status, holds, mode \
         FROM reground.check_answer($1, $2, settings => $3, text_config => 'english', corpus => $4)",
    )?;
    let judged = cases.iter().map(|case| {
        let rows = client.query(
            &statement,
            &[&case.answer, &case.passages, &settings, &case.corpus],
        )?;
        let verdict = |byte: &usize| {
            // A form in round brackets is read without them.
            let row = rows.iter().find(|row| {
                let at = row.get::<_, Option<i32>>(0).map(|at| at as usize);
                at.is_some_and(|at| at == *byte || at == byte + 1)
            });
            row.map_or_else(Verdict::unseen, |row| Verdict {
                status: row.get(1),
                holds: row.get(2),
                mode: row.get(3),
            })
        };
        Ok(case.citations.iter().map(verdict).collect())
    });
    Ok(judged.collect::<Result<Vec<Vec<Verdict>>>>()?.concat())
}
