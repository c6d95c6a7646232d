//! `repair_answer`: corrects a stored answer, and stores the corrected copy.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::RepairMode;
use reground_grounding::end::parse_answer;

use super::repaired::{Original, RepairRow, Repaired};
use crate::api::answer::hidden_citations::load_shown;
use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge_context::TurnEvidence;
use crate::api::answer::judging::source_conflicts;
use crate::api::{given, writable};
use crate::error::{Error, Result, warn};
use crate::profile::{self, stage};
use crate::retrieve::evidence::stage_facts;
use crate::rows;
use crate::run_as::as_owner;
use crate::store::messages::{Message, Origin};
use crate::store::turns::{self, Turn};
use crate::store::{conversations, repairs};
use crate::tenant;

#[pg_extern(sql = false)]
fn repair_answer(
    message_id: Option<i64>,
    mode: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let message_id = given(message_id, "message_id")?;
    let mode = mode.map(super::mode).transpose()?;
    profile::call("repair_answer", || {
        StoredAnswer::load(&tenant, message_id)?.emit(mode, fcinfo)
    })?;
    Ok(())
}

/// A stored answer with its turn.
struct StoredAnswer<'a> {
    tenant: &'a str,
    message_id: i64,
    message: Message,
    turn: Turn,
}

impl<'a> StoredAnswer<'a> {
    /// Reads an answer. Errors: as [`load_shown`], 22023 for a corrected copy.
    fn load(tenant: &'a str, message_id: i64) -> Result<Self> {
        let message = load_shown(tenant, message_id)?;
        if let Some(original) = message.repair_of {
            return Err(Error::Bad {
                argument: "message_id",
                fault: format!("{message_id} is a corrected copy"),
                hint: format!("The original answer is {original}."),
            });
        }
        Ok(Self {
            tenant,
            message_id,
            turn: turns::load(tenant, message.turn_id)?,
            message,
        })
    }

    fn stored(&self, mode: RepairMode) -> Result<Option<i64>> {
        repairs::find(self.tenant, self.message_id, mode.as_str())
    }

    /// Returns the rows of an earlier call, or corrects the answer.
    fn emit(&self, mode: Option<RepairMode>, fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
        let evidence = TurnEvidence::load(self.tenant, &self.turn)?;
        let mode = mode.or(evidence.settings.repair).unwrap_or_default();
        if let Some(copy) = self.stored(mode)? {
            return emit_stored(fcinfo, self.tenant, copy);
        }
        writable("repair_answer")?;
        // A call that waited for another one of the same answer finds its copy.
        let conversation = conversations::of_turn(self.tenant, self.message.turn_id)?;
        let conversation =
            conversation.ok_or_else(|| Error::Unknown("message", self.message_id.to_string()))?;
        conversations::touch(&conversation)?;
        if let Some(copy) = self.stored(mode)? {
            return emit_stored(fcinfo, self.tenant, copy);
        }
        let answer = self.message.answer.as_deref();
        let answer = answer.ok_or(Error::AnswerNotStored(self.message_id))?;
        if self.message.citations.is_some() {
            warn(
                "the citations of the answer are not in its text",
                "An API returned them. Such an answer is not corrected.",
            );
        } else if let Some((copy, repaired)) = self.repaired(answer, &evidence, mode)? {
            let rows = RepairRow::of(Some(copy), &repaired.text, &repaired.changes);
            return rows::emit(fcinfo, &rows);
        }
        rows::emit(fcinfo, &RepairRow::of(Some(self.message_id), answer, &[]))
    }

    /// Corrects the answer and stores the copy; `None` if nothing changes.
    fn repaired(
        &self,
        answer: &str,
        evidence: &TurnEvidence<'_>,
        mode: RepairMode,
    ) -> Result<Option<(i64, Repaired)>> {
        let trace = stage("trace", || stage_facts(self.turn.turn_id))?;
        let context = evidence.context(&trace, &[]);
        let conflicts = source_conflicts::to_decide(&context)?;
        let context = context.with_conflicts(&conflicts);
        let read = stage("extract", || {
            parse_answer::parse_statements(answer, &evidence.grammar, false)
        });
        let verdict = judge::judge(&read, &context)?;
        let Some(repaired) = Repaired::of(&read, &verdict, &context, mode)? else {
            return Ok(None);
        };
        let of = Original {
            message_id: self.message_id,
            conversation_id: self.turn.conversation_id,
            turn_id: self.turn.turn_id,
            origin: match self.turn.is_imported() {
                true => Origin::Imported,
                false => Origin::Live,
            },
            model: self.message.model.as_deref(),
            stores_text: true,
            chains: evidence.settings.chains(),
        };
        let copy = stage("write repair", || repaired.store(self.tenant, &of, mode))?;
        Ok(Some((copy, repaired)))
    }
}

fn emit_stored(fcinfo: pg_sys::FunctionCallInfo, tenant: &str, copy: i64) -> Result<()> {
    as_owner(|| rows::emit_from(fcinfo, repairs::ROWS, &[copy.into(), tenant.into()]))
}
