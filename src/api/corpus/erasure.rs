//! Erasure of a conversation, a document or a tenant. Each function returns a receipt.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use reground_grounding::begin::Gathered;

use crate::api::corpus::documents::remove as remove_rows;
use crate::api::corpus::sync;
use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result, notice};
use crate::rows;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::documents;
use crate::store::edges::{self, Which};
use crate::store::erasure::{self, Archived, Document, Receipt};
use crate::tenant;
use crate::tenant::membership;

#[pg_extern(sql = false)]
fn forget_conversation(
    conversation_ref: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("forget_conversation")?;
    let tenant = tenant::required()?;
    let name = given(conversation_ref, "conversation_ref")?;
    let id = erasure::hold(&tenant, name)?;
    let archived = Archived::OfConversation {
        tenant: &tenant,
        conversation_ref: name,
    };
    if id.is_none() && !erasure::is_archived(&tenant, name)? {
        return Err(Error::Unknown("conversation", name.to_owned()).into());
    }
    let mut receipt = Receipt::default();
    erasure::conversations(id.as_slice(), archived, &mut receipt)?;
    rows::emit(fcinfo, receipt.rows())?;
    Ok(())
}

#[pg_extern(sql = false)]
fn forget_user(
    user_ref: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("forget_user")?;
    let tenant = tenant::required()?;
    let user_ref = not_empty(user_ref, "user_ref")?;
    let mut receipt = Receipt::default();
    let conversations = erasure::hold_of_user(&tenant, user_ref)?;
    let archived = Archived::OfUser {
        tenant: &tenant,
        user_ref,
    };
    erasure::conversations(&conversations, archived, &mut receipt)?;
    erasure::reports_of_user(&tenant, user_ref, &mut receipt)?;
    if receipt.rows().is_empty() {
        return Err(Error::Unknown("user", user_ref.to_owned()).into());
    }
    rows::emit(fcinfo, receipt.rows())?;
    Ok(())
}

#[pg_extern(sql = false)]
fn forget_document(
    corpus: Option<&str>,
    doc_id: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("forget_document")?;
    let tenant = tenant::if_any();
    let (name, doc_id) = (given(corpus, "corpus")?, given(doc_id, "doc_id")?);
    let corpus = match corpora::held(&tenant, name, Hold::Write) {
        Ok(corpus) => Some(corpus),
        // Conversations can still have texts of a dropped corpus.
        Err(Error::UnknownCorpus(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let reach = ErasableParts::of(name, corpus.as_ref())?;
    let mut receipt = Receipt::default();
    if let (Some(corpus), true) = (&corpus, reach.document) {
        remove(corpus, doc_id, &mut receipt)?;
    } else if corpus.is_some() {
        notice(
            format!("the document stays in corpus \"{name}\", which is shared"),
            "The owner of its table and reground_admin forget a document for all tenants.",
        );
    }
    let document = Document {
        corpus: name,
        doc_id,
        tenant: (!reach.all_tenants).then_some(tenant.as_str()),
    };
    document.redact(
        &|candidates| {
            let mut gathered: Gathered = serde_json::from_value(candidates)?;
            let withdrawn = gathered.withdraw(name, doc_id);
            Ok(withdrawn
                .then(|| serde_json::to_value(gathered))
                .transpose()?)
        },
        &mut receipt,
    )?;
    // An empty receipt is no error for passages from outside the corpora, and after an earlier call.
    let nothing = corpus.is_none() && !name.is_empty() && receipt.rows().is_empty();
    if nothing && !document.is_known()? {
        return Err(Error::UnknownCorpus(name.to_owned()).into());
    }
    rows::emit(fcinfo, receipt.rows())?;
    Ok(())
}

/// What a role can erase of a document.
struct ErasableParts {
    /// Whether the role can remove the document itself.
    document: bool,
    /// Whether the role can redact the records of all tenants.
    all_tenants: bool,
}

impl ErasableParts {
    /// A tenant erases its own documents, which no other tenant could read: those of its own corpora, and of corpora with a tenant in each row. The owner of a shared corpus and
    /// reground_admin erase its documents for all tenants. A document of a dropped corpus cannot be removed. Passages from outside
    /// the corpora belong to the tenant of their turn.
    fn of(name: &str, corpus: Option<&Corpus>) -> Result<Self> {
        let is_private = |corpus: &Corpus| corpus.tenant.is_some() || corpus.has_tenants();
        let private = name.is_empty() || corpus.is_some_and(is_private);
        let owned = match corpus {
            Some(corpus) => corpus.is_owned()?,
            None => false,
        };
        let all_tenants = !private && (owned || membership::is_admin()?);
        Ok(Self {
            document: corpus.is_some() && (private || all_tenants),
            all_tenants,
        })
    }
}

/// Removes a document from its corpus: its edges, its addresses, and in a managed corpus its rows. A document that row-level
/// security hides from the caller does not change.
fn remove(corpus: &Corpus, doc_id: &str, receipt: &mut Receipt) -> Result<()> {
    if !corpus.is_gone() && !corpus.is_deletable()? {
        return Err(Error::MayNotDelete(corpus.name.clone()));
    }
    if documents::is_of_others(corpus, doc_id)? {
        return Ok(());
    }
    if corpus.managed {
        if !corpus.is_gone() {
            sync::forbid_erasure(corpus.corpus_id, doc_id)?;
            for (relation, rows) in remove_rows(corpus, doc_id)? {
                receipt.erased(relation, rows);
            }
        }
        if erasure::exists(corpus.corpus_id, doc_id)? {
            notice(
                format!("the document stays in corpus \"{}\"", corpus.name),
                "Row-level security hides it from this role.",
            );
            return Ok(());
        }
        let redacted = erasure::addresses(corpus.corpus_id, doc_id)?;
        receipt.redacted("reground.documents", redacted);
    } else {
        notice(
            format!(
                "the document stays in the application's own table {}",
                corpus.relation.as_deref().unwrap_or_default()
            ),
            "Delete its rows there as well.",
        );
    }
    let tenant = match corpus.has_tenants() {
        true => corpus.row_tenant()?,
        false => None,
    };
    let which = Which {
        doc_id: Some(doc_id),
        tenant: tenant.as_deref(),
        ..Which::default()
    };
    let edges = edges::delete(corpus.corpus_id, which)?;
    receipt.erased("reground.edges", usize::try_from(edges).unwrap_or_default());
    Ok(())
}

#[pg_extern(sql = false)]
fn forget_tenant(
    tenant: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("forget_tenant")?;
    let tenant = not_empty(tenant, "tenant")?;
    erasure::hold_corpora(tenant)?;
    let tables = erasure::tables_of(tenant)?;
    let mut receipt = Receipt::default();
    // Its archived turns are those of a tenant, below.
    erasure::conversations(&erasure::hold_all(tenant)?, Archived::Kept, &mut receipt)?;
    for corpus_id in erasure::corpora_with_tenants(true)? {
        sync::forbid_erasure_of_tenant(corpus_id, tenant)?;
        erasure::shared_rows(corpus_id, tenant, &mut receipt)?;
    }
    erasure::tenant(tenant, &mut receipt)?;
    if receipt.rows().is_empty() {
        return Err(Error::Unknown("tenant", tenant.to_owned()).into());
    }
    if !tables.is_empty() {
        notice(
            format!(
                "the tables of the tenant's own corpora stay: {}",
                tables.join(", ")
            ),
            "DROP TABLE removes those that are no longer needed.",
        );
    }
    let registered = registered_tables()?;
    if !registered.is_empty() {
        notice(
            format!(
                "the application's own tables do not change: {}",
                registered.join(", ")
            ),
            "Delete the rows of the tenant there.",
        );
    }
    rows::emit(fcinfo, receipt.rows())?;
    Ok(())
}

/// The registered tables of shared corpora with a column of tenants.
fn registered_tables() -> Result<Vec<String>> {
    let mut tables = Vec::new();
    for corpus_id in erasure::corpora_with_tenants(false)? {
        let corpus = corpora::by_id(corpus_id)?;
        tables.extend(
            corpus
                .into_iter()
                .flat_map(|corpus| [corpus.relation, corpus.documents])
                .flatten(),
        );
    }
    tables.sort();
    tables.dedup();
    Ok(tables)
}
