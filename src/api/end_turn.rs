//! A turn ends: read what the answer is judged by, judge, write.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::history::context_share;
use reground_grounding::memory::RememberedSource;
use reground_grounding::memory::decay::with_pins_of;
use serde_json::Value;

use crate::api::judge::{self, OfTurn, Verdict};
use crate::api::{branches, given, writable};
use crate::datum::Json;
use crate::error::{Error, Result, warn};
use crate::profile::{self, stage};
use crate::retrieve::evidence::stage_facts;
use crate::rows;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::chain::About;
use crate::store::conversations::{self, Conversation};
use crate::store::messages::{self, Earlier, NewCitation, NewMessage, Origin, Place, Scored};
use crate::store::turns::{self, Turn};
use crate::store::{chain, documents, markers, sources};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn end_turn(
    turn_id: Option<i64>,
    answer: Option<&str>,
    message_ref: Option<&str>,
    model: Option<&str>,
    usage: Option<Json>,
    tags: Option<Json>,
    citations: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("end_turn")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let citations = Json::optional(citations, "citations")?;
    let text = given(answer, "answer")?;
    let answer = Answer {
        text,
        message_ref,
        model,
        usage: Json::optional(usage, "usage")?,
        tags: Json::object(tags, "tags")?,
        fingerprint: Fingerprint::of(text, citations.as_ref()),
        citations,
    };
    profile::call("end_turn", || end(&tenant, turn_id, answer, fcinfo))?;
    Ok(())
}

/// What the application says of an answer.
struct Answer<'a> {
    text: &'a str,
    /// The application's id of it.
    message_ref: Option<&'a str>,
    model: Option<&'a str>,
    usage: Option<Value>,
    tags: Value,
    /// What its API returned beside the text.
    citations: Option<Value>,
    fingerprint: Fingerprint,
}

/// Judges and stores the answer, unless an earlier call did.
fn end(
    tenant: &str,
    turn_id: i64,
    answer: Answer<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Result<()> {
    let conversation = stage("conversation", || conversations::of_turn(tenant, turn_id))?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = stage("context", || turns::load(tenant, turn_id))?;
    check_state(&turn)?;
    let mut words = None;
    let message_id = match repeated(&conversation, turn_id, &answer)? {
        Some(message_id) => message_id,
        None => {
            let ended = judge(tenant, &conversation, &turn, &answer)?;
            let answer_tokens = stage("tokens", || reground_tokens::count(answer.text));
            let (stores, citations) = (ended.stores, &ended.verdict.citations);
            let place = stage("write message", || {
                let place = messages::make_place(turn_id)?;
                let new = NewMessage {
                    message_id: place.message_id,
                    conversation_id: conversation.conversation_id,
                    turn_id,
                    origin: Origin::Live,
                    message_ref: answer.message_ref,
                    answer: Some(answer.text).filter(|_| stores),
                    fingerprint: &answer.fingerprint,
                    answer_tokens,
                    model: answer.model,
                    usage: answer.usage.as_ref(),
                    citations: answer.citations.as_ref().filter(|_| stores),
                    tags: Some(&answer.tags),
                    created_at: None,
                    scored: Scored::from(&ended.verdict.judged),
                    cited: NewCitation::stored(citations, stores),
                };
                messages::insert(tenant, &[new])?;
                Ok::<_, Error>(place)
            })?;
            if !stores {
                words = Some(sql::json(citations)?);
            }
            stage("write memory", || {
                markers::cite(place.message_id)?;
                count_tokens(&conversation, &turn, answer_tokens, &place)?;
                remember(tenant, &conversation, &turn, &ended)
            })?;
            if ended.chains {
                let conversation_id = conversation.conversation_id;
                let link = About::Answer(turn_id, place.message_id);
                stage("write chain", || {
                    chain::append(tenant, conversation_id, link)
                })?;
            }
            place.message_id
        }
    };
    stage("rows", || {
        let (message_id, tenant) = (message_id.into(), tenant.into());
        as_owner(|| match words {
            None => rows::emit_from(fcinfo, &messages::rows(), &[message_id, tenant]),
            Some(words) => {
                let args = [message_id, tenant, words.into()];
                rows::emit_from(fcinfo, &messages::rows_with_words(), &args)
            }
        })
    })
}

#[pg_extern(sql = false)]
fn abandon_turn(turn_id: Option<i64>) -> std::result::Result<bool, ErrorReport> {
    writable("abandon_turn")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let conversation = conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::load(&tenant, turn_id)?;
    match turn.state.as_str() {
        "abandoned" => Ok(false),
        "ended" => Err(Error::WrongState {
            turn: turn_id,
            state: turn.state,
            wanted: "abandoned",
            hint: "Its answer was recorded; a later end_turn with another message_ref supersedes it.",
        }
        .into()),
        _ => {
            conversations::touch(&conversation)?;
            turns::abandon(turn_id)?;
            Ok(true)
        }
    }
}

/// Refuses a turn that cannot be answered, and warns of a transaction that was held open.
fn check_state(turn: &Turn) -> Result<()> {
    let state = turn.standing();
    let hint = match state {
        "imported" => {
            "Its answer was given elsewhere; begin a new turn, or one with its parent as parent_turn_id."
        }
        "abandoned" => "Begin a new turn.",
        "deferred" => "Call reground.apply_rerank first (with NULL to go on in fused order).",
        _ => {
            if turn.held_open {
                warn(
                    "the transaction was held open between begin_turn and end_turn",
                    "Commit before the model is called.",
                );
            }
            return Ok(());
        }
    };
    Err(Error::WrongState {
        turn: turn.turn_id,
        state: state.to_owned(),
        wanted: "answered",
        hint,
    })
}

/// The message of a repeated call, if this is one.
fn repeated(conversation: &Conversation, turn_id: i64, answer: &Answer<'_>) -> Result<Option<i64>> {
    let message_ref = answer.message_ref;
    let earlier = messages::earlier(conversation.conversation_id, turn_id, message_ref)?;
    let says_the_same = |message: &Earlier| message.fingerprint == answer.fingerprint;
    let same = match message_ref {
        Some(id) => earlier
            .into_iter()
            .find(|message| message.message_ref.as_deref() == Some(id)),
        None => earlier
            .into_iter()
            .rfind(|message| !message.superseded && says_the_same(message)),
    };
    match same {
        None => Ok(None),
        Some(message) if says_the_same(&message) && message.turn_id == turn_id => {
            Ok(Some(message.message_id))
        }
        Some(_) => Err(Error::Conflict(
            "message_ref",
            message_ref.unwrap_or_default().to_owned(),
        )),
    }
}

/// What judging an answer gave.
struct Ended {
    verdict: Verdict,
    before: Vec<RememberedSource>,
    /// Whether it becomes a link in the chain of its conversation.
    chains: bool,
    /// Whether its words are kept.
    stores: bool,
}

/// Reads what the answer is judged by, and judges it.
fn judge(
    tenant: &str,
    conversation: &Conversation,
    turn: &Turn,
    answer: &Answer<'_>,
) -> Result<Ended> {
    let of_turn = OfTurn::load(tenant, turn)?;
    let read = stage("extract", || {
        judge::read(answer.text, &of_turn.grammar, answer.citations.as_ref())
    })?;
    let trace = stage("trace", || stage_facts(turn.turn_id))?;
    let before = stage("memory", || before(conversation, turn))?;
    let verdict = judge::judge(&read, &of_turn.ground(&trace, &before))?;
    Ok(Ended {
        verdict,
        before,
        chains: of_turn.settings.chains(),
        stores: of_turn.settings.stores_answers(),
    })
}

/// The sources that the turn started from, with today's pins: for a regeneration those of its first end, for a turn that the
/// conversation has gone back behind those that its parent left.
fn before(conversation: &Conversation, turn: &Turn) -> Result<Vec<RememberedSource>> {
    let live = sources::of(conversation.conversation_id)?;
    let before = match &turn.sources_before {
        Some(before) => before.clone(),
        None if turn.superseded => branches::before(turn)?,
        None => return Ok(live),
    };
    Ok(with_pins_of(&before, &live))
}

/// Adds an exchange to what was said, or replaces its answer.
fn count_tokens(
    conversation: &Conversation,
    turn: &Turn,
    answer_tokens: usize,
    place: &Place,
) -> Result<()> {
    if turn.superseded {
        // History goes by the path; going back to this turn counts it.
        return Ok(());
    }
    let before = place.superseded_tokens.map(i64::from);
    let more = context_share::tokens_added(turn.query_tokens, answer_tokens, before);
    conversations::count_tokens(conversation, more)
}

/// Notes what the turn leaves, and moves the conversation's memory on: a first end does, and the regeneration of the turn that
/// ended last. Regenerating an older one, or answering one that the conversation has gone back behind, moves nothing but what
/// whoever goes back to it will find.
fn remember(tenant: &str, conversation: &Conversation, turn: &Turn, ended: &Ended) -> Result<()> {
    let after = &ended.verdict.judged.sources_after;
    turns::end(turn.turn_id, &ended.before, after)?;
    let first = turn.state == "open";
    let latest = conversation.last_ended_turn_id == Some(turn.turn_id);
    if !turn.superseded && (first || latest) {
        sources::replace(tenant, conversation.conversation_id, after)?;
        conversations::ended(conversation, turn.turn_id)
    } else {
        conversations::touch(conversation)
    }
}

/// What has become of a cited document; only of the caller's own tenant, unless an auditor asks.
#[pg_extern(sql = false)]
fn source_state(
    tenant: Option<&str>,
    corpus: Option<&str>,
    doc_id: Option<&str>,
    version: Option<i32>,
) -> std::result::Result<Option<String>, ErrorReport> {
    let (Some(tenant), Some(corpus), Some(doc_id)) = (tenant, corpus, doc_id) else {
        return Ok(None);
    };
    if tenant::current().as_deref() != Some(tenant) && !tenant::is_auditor()? {
        return Ok(None);
    }
    Ok(documents::state(tenant, corpus, doc_id, version)?)
}
