//! What people say of citations.

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// The tenant of a citation, if there is one.
pub fn tenant_of(citation_id: i64) -> Result<Option<String>> {
    as_owner(|| {
        sql::read_one(
            "SELECT tenant FROM reground.message_citations WHERE citation_id = $1",
            &[citation_id.into()],
        )
    })
}

/// Who says something: the name that is given, and the role that gives it.
pub struct Who {
    pub by: String,
    pub role: String,
}

/// Notes a reviewer's word, in place of an earlier one of his; false where the citation has been erased meanwhile.
pub fn label(
    citation_id: i64,
    tenant: &str,
    label: &str,
    note: Option<&str>,
    who: &Who,
) -> Result<bool> {
    let noted = as_owner(|| {
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
    Ok(noted > 0)
}

/// Notes a user's complaint; false where the citation has been erased meanwhile.
pub fn report(citation_id: i64, tenant: &str, reason: &str, who: &Who) -> Result<bool> {
    let noted = as_owner(|| {
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
    Ok(noted > 0)
}
