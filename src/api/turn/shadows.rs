//! Shadow turns: an open turn repeated under other settings, stored for comparison and not served.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::shadow;
use reground_grounding::settings::{KeepCandidates, Settings};

use crate::api::turn::dry_run::{candidates, dry_run};
use crate::api::turn::hooks;
use crate::api::turn::question::Question;
use crate::api::{given, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::guc;
use crate::rows;
use crate::store::conversations::{self, Conversation};
use crate::store::corpora;
use crate::store::shadows::{self, NewShadow};
use crate::store::turns::{self, TurnRequest};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn shadow_turn(
    turn_id: Option<i64>,
    settings: Option<Json>,
    label: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    rewrite: Option<&str>,
    context_embedding: Option<Vector>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("shadow_turn")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let label = not_empty(label, "label")?;
    let changes = Json::optional(settings, "settings")?.unwrap_or_default();
    Settings::check(&changes).map_err(Error::from)?;
    // The lock keeps the memory of the conversation as the turn found it.
    let conversation = conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::request(&tenant, turn_id)?;
    check_state(&turn)?;

    let corpora = match corpus {
        Some(name) => vec![name.to_owned()],
        None => turn.corpora(),
    };
    let corpus = corpus.unwrap_or(&turn.corpus);
    let embedding = embedding.map(|vector| vector.0);
    let context_embedding = context_embedding.map(|vector| vector.0);
    let call = call(&tenant, &conversation, corpus, &turn, &changes)?;
    let question = Question {
        query: &turn.query,
        corpus: None,
        corpora: Some(&corpora),
        embedding: embedding.as_deref().or(turn.embedding.as_deref()),
        context_embedding: context_embedding
            .as_deref()
            .or(turn.context_embedding.as_deref()),
        embedding_model: None,
        filter: turn.filter.as_ref(),
        as_of: turn.as_of.as_deref(),
        rewrite: rewrite.or(turn.rewrite.as_deref()),
        intent: turn.intent,
        settings: &call,
        call_roles: hooks::of_turn(turn.call_role.as_deref())?.but_for(&changes),
        begun_at: Some(&turn.begun_at),
        repeated_turn_no: Some(turn.turn_no),
    };
    let (prepared, composed) = dry_run(&tenant, &conversation, &question)?;
    let rows = candidates(&composed);
    // The candidates of the context come first.
    let kept = match prepared.resolved.settings.keep_candidates {
        KeepCandidates::All => &rows[..],
        KeepCandidates::Kept | KeepCandidates::None => rows.split_at(composed.context.len()).0,
    };
    shadows::put(&NewShadow {
        turn_id,
        label,
        tenant: &tenant,
        corpus,
        settings: &prepared.resolved.settings,
        context_tokens: composed.tokens,
        search_us: prepared.search_us,
        candidates: kept,
    })?;
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

/// Checks that the memory of the conversation is still that of the turn. Errors: 55000 otherwise.
fn check_state(turn: &TurnRequest) -> Result<()> {
    let open = matches!(turn.state.as_str(), "open" | "deferred");
    if open && !turn.overtaken {
        return Ok(());
    }
    let state = if open { "overtaken" } else { &turn.state };
    Err(Error::WrongState {
        turn: turn.turn_id,
        state: state.to_owned(),
        wanted: "shadowed",
        hint: "Call shadow_turn between begin_turn and end_turn: an answer changes the memory of the conversation.",
    })
}

/// The settings of the call of the shadow turn.
fn call(
    tenant: &str,
    conversation: &Conversation,
    corpus: &str,
    turn: &TurnRequest,
    changes: &serde_json::Value,
) -> Result<serde_json::Value> {
    let corpus = corpora::load(tenant, corpus)?;
    let server = guc::turn_settings();
    let layers = [
        ("server", &server),
        ("corpus", &corpus.settings),
        ("conversation", &conversation.settings),
    ];
    Ok(shadow::shadow_call(
        &layers,
        &turn.settings,
        &turn.call_settings,
        changes,
    )?)
}
