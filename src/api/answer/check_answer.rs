//! `check_answer`: judges an answer by passages of the caller, without a conversation. It writes nothing.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::answer::caller_answer::CallerAnswer;
use crate::api::answer::judging::judge;
use crate::datum::Json;
use crate::profile;
use crate::rows;

#[pg_extern(sql = false)]
fn check_answer(
    answer: Option<&str>,
    passages: Option<Json>,
    settings: Option<Json>,
    text_config: Option<pg_sys::Oid>,
    corpus: Option<&str>,
    citations: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let citations = Json::optional(citations, "citations")?;
    let caller = CallerAnswer::read(answer, passages, settings, text_config, corpus)?;
    profile::call("check_answer", || {
        let citations = caller.with_context(|context| {
            let read = judge::read(caller.text, context.grammar, citations.as_ref())?;
            Ok(judge::judge(&read, context)?.citations)
        })?;
        rows::emit(fcinfo, &citations)
    })?;
    Ok(())
}
