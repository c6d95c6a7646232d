//! Functions of the policies that hide rows with text of sources that the reader may no longer read.

use pgrx::memcxt::PgMemoryContexts;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::memory::SourceKey;

use crate::error::Result;
use crate::retrieve::visibility::Reader;
use crate::store::{corpora, markers};
use crate::tenant;
use crate::tenant::membership;

/// Whether nothing is hidden from the caller. Auditors read all records.
#[pg_extern(sql = false)]
fn hides_nothing() -> std::result::Result<bool, ErrorReport> {
    if membership::is_auditor()? {
        return Ok(true);
    }
    Ok(match tenant::current() {
        Some(tenant) => corpora::hiding(&tenant)?.is_empty(),
        // Without a tenant, no row is visible by the policy of tenants.
        None => true,
    })
}

#[pg_extern(sql = false)]
fn is_shown_turn(
    turn_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<bool, ErrorReport> {
    let (Some(turn_id), Some(reader)) = (turn_id, reader(fcinfo)?) else {
        return Ok(false);
    };
    Ok(!reader.hides_turn(turn_id)?)
}

/// Whether a source of a conversation is not hidden. It is true for a source that the conversation does not have: the answer would tell
/// whether a document exists that the caller has never been allowed to read.
#[pg_extern(sql = false)]
fn is_shown_source(
    conversation_id: Option<i64>,
    corpus: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<bool, ErrorReport> {
    let (Some(conversation_id), Some(corpus), Some(doc_id), Some(chunk_id), Some(reader)) =
        (conversation_id, corpus, doc_id, chunk_id, reader(fcinfo)?)
    else {
        return Ok(false);
    };
    let source = SourceKey {
        corpus: corpus.to_owned(),
        doc_id: doc_id.to_owned(),
        chunk_id: chunk_id.to_owned(),
    };
    Ok(reader.hidden([source.clone()])?.is_empty()
        || !markers::has_source(reader.tenant(), conversation_id, &source)?)
}

/// The reader of a call, which keeps what it has found until the statement ends; `None` without a tenant.
pub(super) fn reader<'a>(fcinfo: pg_sys::FunctionCallInfo) -> Result<Option<&'a mut Reader>> {
    let Some(tenant) = tenant::current() else {
        return Ok(None);
    };
    let is_same = |reader: &Reader| reader.tenant() == tenant;
    kept(fcinfo, is_same, || Ok(Reader::of(&tenant))).map(Some)
}

/// A value that a function keeps between its calls, made again if it does not fit. It belongs to one place in one execution of a statement,
/// so later statements check again. A function must always keep the same type.
pub(in crate::api) fn kept<'a, T: 'static>(
    fcinfo: pg_sys::FunctionCallInfo,
    fits: impl FnOnce(&T) -> bool,
    make: impl FnOnce() -> Result<T>,
) -> Result<&'a mut T> {
    // The value belongs to fn_mcxt and is dropped with it.
    // SAFETY: flinfo lives as long as its fn_extra, which only this function sets, always with a T, and calls of one flinfo do not overlap.
    unsafe {
        let info = (*fcinfo).flinfo;
        if (*info).fn_extra.is_null() || !fits(&*(*info).fn_extra.cast::<T>()) {
            let value = make()?;
            let value = PgMemoryContexts::For((*info).fn_mcxt).leak_and_drop_on_delete(value);
            (*info).fn_extra = value.cast();
        }
        Ok(&mut *(*info).fn_extra.cast::<T>())
    }
}
