//! Pins, and the settings of conversations.

use pgrx::JsonB;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::settings::Settings;
use serde_json::Value;

use crate::api::corpus::corpora::merged;
use crate::api::turn::hooks;
use crate::api::{given, not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::guc;
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::store::corpora::{self, Corpus};
use crate::store::{conversations, sources};
use crate::tenant;

/// The source of a pin. `chunk_id` is empty for a document.
struct Target {
    corpus: String,
    doc_id: String,
    chunk_id: String,
}

#[pg_extern(sql = false)]
fn pin(
    conversation_ref: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    corpus: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("pin")?;
    let tenant = tenant::required()?;
    let conversation =
        conversations::open(&tenant, not_empty(conversation_ref, "conversation_ref")?)?;
    let target = resolve(
        &tenant,
        corpus.or(conversation.corpus.as_deref()),
        doc_id,
        chunk_id,
    )?;
    let order = conversations::next_pin(&conversation)?;
    sources::pin(
        &tenant,
        conversation.conversation_id,
        &target.corpus,
        &target.doc_id,
        &target.chunk_id,
        order,
    )?;
    Ok(())
}

#[pg_extern(sql = false)]
fn unpin(
    conversation_ref: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    corpus: Option<&str>,
) -> std::result::Result<bool, ErrorReport> {
    writable("unpin")?;
    let tenant = tenant::required()?;
    let name = not_empty(conversation_ref, "conversation_ref")?;
    let conversation = conversations::find(&tenant, name)?
        .ok_or_else(|| Error::Unknown("conversation", name.to_owned()))?;
    if doc_id.is_none() && chunk_id.is_none() {
        return Err(Error::Null("doc_id or chunk_id").into());
    }
    // Pins are in our own table, so that a deleted document can be unpinned.
    let pinned: Vec<_> = sources::load(conversation.conversation_id)?
        .into_iter()
        .map(|live| live.source)
        .filter(|source| {
            source.pinned
                && corpus.is_none_or(|corpus| corpus == source.corpus)
                && doc_id.is_none_or(|doc_id| doc_id == source.doc_id)
                && chunk_id.unwrap_or_default() == source.chunk_id
        })
        .collect();
    match pinned.as_slice() {
        [] => Ok(false),
        [source] => {
            conversations::touch(&conversation)?;
            Ok(sources::unpin(
                conversation.conversation_id,
                &source.corpus,
                &source.doc_id,
                &source.chunk_id,
            )?)
        }
        _ => Err(Error::AmbiguousCorpus("several pins could be meant".into()).into()),
    }
}

#[pg_extern(sql = false)]
fn alter_conversation(
    conversation_ref: Option<&str>,
    settings: Option<Json>,
) -> std::result::Result<JsonB, ErrorReport> {
    writable("alter_conversation")?;
    let tenant = tenant::required()?;
    let conversation =
        conversations::open(&tenant, not_empty(conversation_ref, "conversation_ref")?)?;
    given(settings.as_ref(), "settings")?;
    let changes = Json::object(settings, "settings")?;
    let merged = merged(conversation.settings.clone(), changes.clone());
    let (settings, roles) = hooks::registered(merged, &changes, conversation.roles)?;
    Settings::check(&settings).map_err(Error::from)?;
    if Settings::changes_target(&changes) {
        check_target(&tenant, conversation.corpus.as_deref(), &settings)?;
    }
    conversations::set_settings(&conversation, &settings, roles)?;
    Ok(JsonB(settings))
}

/// Checks that the turns of a conversation can reach its accuracy_target, with the settings of its latest corpus. Errors: 22023.
fn check_target(tenant: &str, corpus: Option<&str>, settings: &Value) -> Result<()> {
    let corpus = match corpus {
        Some(name) => corpora::find(tenant, name)?,
        None => None,
    };
    let of_corpus = corpus.map(|corpus| corpus.settings).unwrap_or_default();
    let server = guc::turn_settings();
    let layers = [
        ("server", &server),
        ("corpus", &of_corpus),
        ("conversation", settings),
    ];
    Ok(Settings::check_target(&layers)?)
}

/// Finds the source of a pin among the sources that the caller can read.
fn resolve(
    tenant: &str,
    corpus: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
) -> Result<Target> {
    let mut targets = Vec::new();
    match corpus {
        Some(name) => targets.extend(find(corpora::load(tenant, name)?, doc_id, chunk_id)?),
        // Without a name, corpora that cannot be read are skipped, and those that run code of other roles, which the caller did not
        // choose to trust.
        None => {
            for name in corpora::names(tenant)? {
                if let Some(corpus) = corpora::usable(tenant, &name)?
                    && corpus.other_owners()?.is_empty()
                {
                    targets.extend(find(corpus, doc_id, chunk_id)?);
                }
            }
        }
    }
    match targets.len() {
        0 => Err(Error::Unknown(
            if chunk_id.is_some() {
                "passage"
            } else {
                "document"
            },
            chunk_id.or(doc_id).unwrap_or_default().to_owned(),
        )),
        1 => Ok(targets.swap_remove(0)),
        _ => Err(Error::AmbiguousCorpus(format!(
            "\"{}\" is in several corpora",
            chunk_id.or(doc_id).unwrap_or_default()
        ))),
    }
}

/// Finds the source of a pin in one corpus.
fn find(corpus: Corpus, doc_id: Option<&str>, chunk_id: Option<&str>) -> Result<Option<Target>> {
    let everything = Filter::default();
    let found = match (doc_id, chunk_id) {
        (None, None) => return Err(Error::Null("doc_id or chunk_id")),
        (_, Some(chunk)) => passages::by_key(&corpus, &everything, &[chunk.to_owned()])?,
        (Some(document), None) => {
            passages::by_document(&corpus, &everything, &[document.to_owned()])?
        }
    };
    Ok(found
        .into_values()
        .find(|passage| doc_id.is_none_or(|document| document == passage.doc_id))
        .map(|passage| Target {
            corpus: corpus.name,
            doc_id: passage.doc_id,
            chunk_id: chunk_id.map(|_| passage.chunk_id).unwrap_or_default(),
        }))
}
