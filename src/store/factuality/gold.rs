//! The tables `gold_questions` and `gold_facts`.

use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// A question with its must-have facts.
#[derive(Debug, Deserialize)]
pub struct GoldQuestion {
    /// `None` means the facts.
    pub reference: Option<String>,
    pub facts: Vec<String>,
}

impl GoldQuestion {
    /// The text that statements are judged against.
    pub fn premise(&self) -> String {
        self.reference
            .clone()
            .unwrap_or_else(|| self.facts.join("\n"))
    }
}

/// Stores a question; replaces that of the same name with its facts.
pub fn put(tenant: &str, question_ref: &str, question: GoldQuestion) -> Result<()> {
    as_owner(|| {
        // The row of the question is locked before its facts are deleted, so that two calls do not mix their facts.
        sql::run(
            "INSERT INTO reground.gold_questions AS g (tenant, question_ref, reference) VALUES ($1, $2, $3) \
             ON CONFLICT (tenant, question_ref) DO UPDATE SET reference = excluded.reference, put_at = excluded.put_at",
            &[
                tenant.into(),
                question_ref.into(),
                question.reference.as_deref().into(),
            ],
        )?;
        sql::run(
            "DELETE FROM reground.gold_facts WHERE tenant = $1 AND question_ref = $2",
            &[tenant.into(), question_ref.into()],
        )?;
        sql::run(
            "INSERT INTO reground.gold_facts (tenant, question_ref, fact_no, fact) \
             SELECT $1, $2, f.fact_no, f.fact FROM unnest($3::text[]) WITH ORDINALITY AS f(fact, fact_no)",
            &[tenant.into(), question_ref.into(), question.facts.into()],
        )
    })?;
    Ok(())
}

/// Deletes a question with its facts; returns whether it existed.
pub fn drop(tenant: &str, question_ref: &str) -> Result<bool> {
    let dropped = as_owner(|| {
        sql::run(
            "DELETE FROM reground.gold_questions WHERE tenant = $1 AND question_ref = $2",
            &[tenant.into(), question_ref.into()],
        )
    })?;
    Ok(dropped > 0)
}

/// The question of this name.
pub fn find(tenant: &str, question_ref: &str) -> Result<Option<GoldQuestion>> {
    as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('reference', g.reference, 'facts', ( \
                 SELECT coalesce(json_agg(f.fact ORDER BY f.fact_no), '[]') FROM reground.gold_facts AS f \
                 WHERE (f.tenant, f.question_ref) = (g.tenant, g.question_ref)))::text \
             FROM reground.gold_questions AS g WHERE g.tenant = $1 AND g.question_ref = $2",
            &[tenant.into(), question_ref.into()],
        )
    })
}
