//! The tables `citation_labels` and `citation_reports`.

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// The tenant of a citation, if the citation exists.
pub fn tenant_of(citation_id: i64) -> Result<Option<String>> {
    as_owner(|| {
        sql::read_one(
            "SELECT tenant FROM reground.message_citations WHERE citation_id = $1",
            &[citation_id.into()],
        )
    })
}

/// The author of a label or a report.
pub struct ReviewAuthor {
    /// The given name, by default the role.
    pub by: String,
    /// The role that made the call.
    pub role: String,
}

/// Stores a label of a reviewer; replaces an earlier one. Returns false if the citation was erased meanwhile.
pub fn label(
    citation_id: i64,
    tenant: &str,
    label: &str,
    note: Option<&str>,
    who: &ReviewAuthor,
) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "INSERT INTO reground.citation_labels (citation_id, labelled_by, labelled_role, tenant, label, note) \
             SELECT c.citation_id, $2, $3, $4, $5, $6 FROM (SELECT citation_id FROM reground.message_citations WHERE citation_id = $1 FOR KEY SHARE) AS c \
             ON CONFLICT (citation_id, labelled_by) DO UPDATE SET labelled_role = excluded.labelled_role, label = excluded.label, note = excluded.note, labelled_at = excluded.labelled_at",
            &[
                citation_id.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
                tenant.into(),
                label.into(),
                note.into(),
            ],
        )
    })?;
    Ok(stored > 0)
}

/// Stores a report of a user. One on a corrected copy counts for the original answer. Returns false if the citation was erased meanwhile.
pub fn report(citation_id: i64, tenant: &str, reason: &str, who: &ReviewAuthor) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "INSERT INTO reground.citation_reports (citation_id, message_id, tenant, reported_by, reported_role, reason) \
             SELECT c.citation_id, coalesce(m.repair_of, m.message_id), $2, $3, $4, $5 FROM (SELECT citation_id, message_id FROM reground.message_citations WHERE citation_id = $1 FOR KEY SHARE) AS c \
                 JOIN reground.messages AS m USING (message_id)",
            &[
                citation_id.into(),
                tenant.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
                reason.into(),
            ],
        )
    })?;
    Ok(stored > 0)
}

/// Stores a report of a user on an answer. Returns false if the answer was erased meanwhile.
pub fn report_answer(
    message_id: i64,
    tenant: &str,
    reason: &str,
    who: &ReviewAuthor,
) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "INSERT INTO reground.citation_reports (message_id, tenant, reported_by, reported_role, reason) \
             SELECT coalesce(m.repair_of, m.message_id), $2, $3, $4, $5 FROM (SELECT message_id, repair_of FROM reground.messages WHERE message_id = $1 AND tenant = $2 FOR KEY SHARE) AS m",
            &[
                message_id.into(),
                tenant.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
                reason.into(),
            ],
        )
    })?;
    Ok(stored > 0)
}

/// Stores the outcome of the review of a report. Returns false if the report does not exist.
pub fn review(
    report_id: i64,
    justified: bool,
    note: Option<&str>,
    who: &ReviewAuthor,
) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "UPDATE reground.citation_reports SET justified = $2, note = $3, reviewed_by = $4, reviewed_role = $5, reviewed_at = clock_timestamp() WHERE report_id = $1",
            &[
                report_id.into(),
                justified.into(),
                note.into(),
                who.by.as_str().into(),
                who.role.as_str().into(),
            ],
        )
    })?;
    Ok(stored > 0)
}
