//! `end_turn` reads the evidence, judges the answer, and writes it. `abandon_turn` ends a turn without an answer.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::RepairMode;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::end::parse_answer;
use reground_grounding::history::context_share;
use reground_grounding::memory::RememberedSource;
use reground_grounding::memory::decay::{sorted_by_key, with_pins_of};
use serde_json::Value;

use crate::api::answer::hidden_citations::emit_stored;
use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge::AnswerVerdict;
use crate::api::answer::judging::judge_context::TurnEvidence;
use crate::api::answer::judging::source_conflicts;
use crate::api::answer::repair::{Original, Repaired};
use crate::api::conversation::branches;
use crate::api::{given, writable};
use crate::datum::Json;
use crate::error::{Error, Result, warn};
use crate::profile::{self, stage};
use crate::retrieve::evidence::stage_facts;
use crate::store::chain::About;
use crate::store::conversations::{self, Conversation};
use crate::store::messages::{
    self, Earlier, NewCitation, NewMessage, Origin, ReservedAnswer, Scored,
};
use crate::store::turns::{self, Turn};
use crate::store::{chain, keys, markers, sources};
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
    let answer = GivenAnswer {
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

/// The answer of a turn, as given by the application.
struct GivenAnswer<'a> {
    text: &'a str,
    /// The application's id of the answer.
    message_ref: Option<&'a str>,
    model: Option<&'a str>,
    usage: Option<Value>,
    tags: Value,
    /// Citations that the model's API returned besides the text.
    citations: Option<Value>,
    fingerprint: Fingerprint,
}

/// Judges and stores the answer, unless an earlier call did, and returns the rows of its citations.
fn end(
    tenant: &str,
    turn_id: i64,
    answer: GivenAnswer<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Result<()> {
    let conversation = stage("conversation", || conversations::of_turn(tenant, turn_id))?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = stage("context", || {
        keys::hold(tenant)?;
        turns::load(tenant, turn_id)
    })?;
    check_state(&turn)?;
    let (message_id, citations) = match repeated(&conversation, turn_id, &answer)? {
        Some(message_id) => (message_id, None),
        None => {
            let ended = judge(tenant, &conversation, &turn, &answer)?;
            let message_id = write(tenant, &conversation, &turn, &answer, &ended)?;
            // The rows of an answer that is not stored take their texts from this call.
            let citations = (!ended.stores_text).then_some(ended.verdict.citations);
            (message_id, citations)
        }
    };
    stage("rows", || {
        emit_stored(fcinfo, tenant, Some(message_id), citations.as_deref())
    })
}

/// Writes a judged answer and everything that it changes; returns its message_id.
fn write(
    tenant: &str,
    conversation: &Conversation,
    turn: &Turn,
    answer: &GivenAnswer<'_>,
    ended: &EndedTurn,
) -> Result<i64> {
    let answer_tokens = stage("tokens", || reground_tokens::count(answer.text));
    let (turn_id, stores_text) = (turn.turn_id, ended.stores_text);
    let reserved = stage("write message", || {
        let reserved = messages::reserve_answer(turn_id)?;
        let new = NewMessage {
            message_id: reserved.message_id,
            conversation_id: conversation.conversation_id,
            turn_id,
            origin: Origin::Live,
            message_ref: answer.message_ref,
            answer: Some(answer.text).filter(|_| stores_text),
            fingerprint: &answer.fingerprint,
            answer_tokens,
            model: answer.model,
            usage: answer.usage.as_ref(),
            citations: answer.citations.as_ref().filter(|_| stores_text),
            tags: Some(&answer.tags),
            created_at: None,
            scored: Scored::from(&ended.verdict.judged),
            repair_of: None,
            repair_mode: None,
            cited: NewCitation::stored(&ended.verdict.citations, stores_text),
        };
        messages::insert(tenant, &[new])?;
        Ok::<_, Error>(reserved)
    })?;
    stage("write memory", || {
        markers::cite(conversation.conversation_id, reserved.message_id)?;
        let last_ended = remember(tenant, conversation, turn, ended)?;
        let tokens = tokens_added(turn, answer_tokens, &reserved);
        conversations::answered(conversation, tokens, last_ended)
    })?;
    if ended.chains {
        let conversation_id = conversation.conversation_id;
        let link = About::Answer(turn_id, reserved.message_id);
        stage("write chain", || {
            chain::append(tenant, conversation_id, link)
        })?;
    }
    if let Some((mode, copy)) = &ended.repaired {
        let of = Original {
            message_id: reserved.message_id,
            conversation_id: conversation.conversation_id,
            turn_id,
            origin: Origin::Live,
            model: answer.model,
            stores_text,
            chains: ended.chains,
        };
        stage("write repair", || copy.store(tenant, &of, *mode))?;
    }
    Ok(reserved.message_id)
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
            hint: "The turn has an answer. Call end_turn with a new message_ref to supersede it.",
        }
        .into()),
        _ => {
            conversations::touch(&conversation)?;
            turns::abandon(turn_id)?;
            Ok(true)
        }
    }
}

/// Checks that a turn can be answered, and warns if its transaction is still open. Errors: 55000 if it cannot.
fn check_state(turn: &Turn) -> Result<()> {
    let state = turn.shown_state();
    let hint = match state {
        "imported" => {
            "Another system answered it. Begin a new turn, or one with the same parent_turn_id."
        }
        "abandoned" => "Begin a new turn.",
        "deferred" => "Call reground.apply_rerank first (with '[]' to go on in fused order).",
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

/// Returns the message_id of an earlier call with the same answer. Errors: 23505 for another answer under the same message_ref.
fn repeated(
    conversation: &Conversation,
    turn_id: i64,
    answer: &GivenAnswer<'_>,
) -> Result<Option<i64>> {
    let message_ref = answer.message_ref;
    let earlier = messages::earlier(conversation.conversation_id, turn_id, message_ref)?;
    let is_equal = |message: &Earlier| message.fingerprint == answer.fingerprint;
    let same = match message_ref {
        Some(id) => earlier
            .into_iter()
            .find(|message| message.message_ref.as_deref() == Some(id)),
        None => earlier
            .into_iter()
            .rfind(|message| !message.superseded && is_equal(message)),
    };
    match same {
        None => Ok(None),
        Some(message) if is_equal(&message) && message.turn_id == turn_id => {
            Ok(Some(message.message_id))
        }
        Some(_) => Err(Error::Conflict(
            "message_ref",
            message_ref.unwrap_or_default().to_owned(),
        )),
    }
}

/// A judged answer, before it is written.
struct EndedTurn {
    verdict: AnswerVerdict,
    /// The corrected copy, if the settings ask for one and it differs.
    repaired: Option<(RepairMode, Repaired)>,
    /// The remembered sources before the turn.
    sources_before: Vec<RememberedSource>,
    /// Whether the answer becomes a link in the chain of its conversation.
    chains: bool,
    /// Whether the text of the answer is stored.
    stores_text: bool,
}

/// Reads the evidence and judges the answer.
fn judge(
    tenant: &str,
    conversation: &Conversation,
    turn: &Turn,
    answer: &GivenAnswer<'_>,
) -> Result<EndedTurn> {
    let evidence = TurnEvidence::load(tenant, turn)?;
    // Citations that an API returned have no strings that could be corrected.
    let repair = evidence.settings.repair;
    let repair = repair.filter(|_| answer.citations.is_none());
    let read = stage("extract", || match repair {
        Some(_) => Ok(parse_answer::parse_statements(
            answer.text,
            &evidence.grammar,
            false,
        )),
        None => judge::read(answer.text, &evidence.grammar, answer.citations.as_ref()),
    })?;
    let trace = stage("trace", || stage_facts(turn.turn_id))?;
    let sources_before = stage("memory", || sources_before(conversation, turn))?;
    let context = evidence.context(&trace, &sources_before);
    let conflicts = source_conflicts::to_decide(&context)?;
    let context = context.with_conflicts(&conflicts);
    let verdict = judge::judge(&read, &context)?;
    let repaired = match repair {
        Some(mode) => Repaired::of(&read, &verdict, &context, mode)?.map(|copy| (mode, copy)),
        None => None,
    };
    Ok(EndedTurn {
        verdict,
        repaired,
        sources_before,
        chains: evidence.settings.chains(),
        stores_text: evidence.settings.stores_answers(),
    })
}

/// Returns the remembered sources from before the turn, with the current pins: for a regeneration those of the first end, for a
/// superseded turn those after its parent.
fn sources_before(conversation: &Conversation, turn: &Turn) -> Result<Vec<RememberedSource>> {
    let live = sources::of(conversation.conversation_id)?;
    let before = match &turn.sources_before {
        Some(before) => before.clone(),
        None if turn.state == "ended" || turn.superseded => branches::sources_before(turn)?,
        None => return Ok(live),
    };
    Ok(with_pins_of(&before, &live))
}

/// The tokens that the answer adds to the history: those of the question and the answer, or the difference to the earlier answer.
fn tokens_added(turn: &Turn, answer_tokens: usize, reserved: &ReservedAnswer) -> i64 {
    if turn.superseded {
        // The history has only turns of the current path. A later branch from this turn counts its tokens.
        return 0;
    }
    let before = reserved.superseded_tokens.map(i64::from);
    context_share::tokens_added(turn.query_tokens, answer_tokens, before)
}

/// Stores the remembered sources after the turn. They become the memory of the conversation if this is the first answer of the
/// turn, or a new answer of the turn that ended last. After a regeneration of an older turn, or an answer to a superseded one,
/// only a branch from this turn restores them. Returns the turn if it is now the one that ended last.
fn remember(
    tenant: &str,
    conversation: &Conversation,
    turn: &Turn,
    ended: &EndedTurn,
) -> Result<Option<i64>> {
    let after = &ended.verdict.judged.sources_after;
    let before = sorted_by_key(&ended.sources_before);
    turns::end(turn, &before, after)?;
    let first = turn.state == "open";
    let latest = conversation.last_ended_turn_id == Some(turn.turn_id);
    if turn.superseded || !(first || latest) {
        return Ok(None);
    }
    sources::replace(tenant, conversation.conversation_id, after)?;
    Ok(Some(turn.turn_id))
}
