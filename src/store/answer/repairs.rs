//! Corrected copies of answers, and their changes.

use reground_grounding::end::repair::AnswerChange;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// Columns of [`AnswerChange`].
const CHANGE: Record = Record(&[
    "change_no integer, change text, reason text, citation_no integer, sentence text, before text, after text, marker text",
    "status_before text, status_after text, support_before double precision, support_after double precision",
    "before_start integer, before_end integer, after_start integer, after_end integer",
]);

/// FROM clause of the rows of `repair_answer` for a corrected copy ($1) of a tenant ($2). To be read as the owner.
pub const ROWS: &str = "(SELECT CASE WHEN c.change_no = 1 THEN m.answer END AS answer, c.* FROM reground.messages AS m JOIN reground.answer_changes AS c USING (message_id) \
     WHERE m.message_id = $1 AND m.tenant = $2) AS r ORDER BY r.change_no";

/// The corrected copy of an answer of this tenant.
pub fn find(tenant: &str, message_id: i64, mode: &str) -> Result<Option<i64>> {
    as_owner(|| {
        sql::write_one(
            "SELECT message_id FROM reground.messages WHERE repair_of = $1 AND repair_mode = $2 AND tenant = $3",
            &[message_id.into(), mode.into(), tenant.into()],
        )
    })
}

/// Stores the changes of a corrected copy, without texts unless `keeps_words` is true.
pub fn insert(
    tenant: &str,
    message_id: i64,
    changes: &[AnswerChange],
    keeps_words: bool,
) -> Result<()> {
    let changes = match keeps_words {
        true => sql::json(changes)?,
        false => {
            let bare = changes.iter().map(AnswerChange::without_words);
            sql::json(&bare.collect::<Vec<_>>())?
        }
    };
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.answer_changes (message_id, tenant, {}) SELECT $2, $3, {} FROM json_to_recordset($1::json) AS x({CHANGE})",
                CHANGE.columns(""),
                CHANGE.columns("x.")
            ),
            &[changes.into(), message_id.into(), tenant.into()],
        )
    })?;
    Ok(())
}
