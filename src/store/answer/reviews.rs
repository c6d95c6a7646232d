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

/// Stores a report of a user. Returns false if the citation was erased meanwhile.
pub fn report(citation_id: i64, tenant: &str, reason: &str, who: &ReviewAuthor) -> Result<bool> {
    let stored = as_owner(|| {
        sql::run(
            "INSERT INTO reground.citation_reports (citation_id, tenant, reported_by, reported_role, reason) \
             SELECT c.citation_id, $2, $3, $4, $5 FROM (SELECT citation_id FROM reground.message_citations WHERE citation_id = $1 FOR KEY SHARE) AS c",
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
