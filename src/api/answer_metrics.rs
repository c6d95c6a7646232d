//! What a stored answer is worth, judged again as it was.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::measure::Measured;
use reground_grounding::reading;
use reground_grounding::settings::Settings;

use crate::api::given;
use crate::api::judging::{self, Ground};
use crate::error::{Error, Result};
use crate::retrieve::text_config::PLAIN;
use crate::rows;
use crate::store::{corpora, markers, messages, turns};
use crate::tenant;

#[pg_extern(sql = false)]
fn answer_metrics(
    message: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    rows::emit(fcinfo, &measured(&tenant, given(message, "message")?)?)?;
    Ok(())
}

fn measured(tenant: &str, message_id: i64) -> Result<Vec<Measured>> {
    let message = messages::load(tenant, message_id)?
        .ok_or_else(|| Error::Unknown("message", message_id.to_string()))?;
    let turn = turns::load(tenant, message.turn_id)?;
    let settings: Settings = serde_json::from_value(turn.settings.clone())?;
    let grammar = reading::grammar(&settings, &turn.context)?;
    let registry = markers::load(turn.conversation_id)?;
    let text_config = corpora::text_config(tenant, &turn.corpus)?;
    let ground = Ground {
        tenant,
        settings: &settings,
        grammar: &grammar,
        numbered: false,
        context: &turn.context,
        registry: &registry,
        corpora: turn.corpora(),
        text_config: text_config.as_deref().unwrap_or(PLAIN),
        trace: &[],
        remembered: &[],
    };
    judging::measure(&judging::read(&message.answer, &grammar, None)?, &ground)
}
