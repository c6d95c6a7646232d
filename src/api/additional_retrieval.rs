//! What comes to a turn after it has begun: an agent searches again, or hands over what its tools found.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::CallerPassage;
use reground_grounding::begin;
use reground_grounding::begin::warnings::Warning;
use reground_grounding::caller::additional_sources::{self, AdditionalSources};
use reground_grounding::passage::{Candidate, Dropped};
use reground_grounding::settings::Settings;
use reground_grounding::settings::hook::DEFERRED;
use serde_json::{Value, json};

use crate::api::begin_turn::warning_names;
use crate::api::conversation_state::{self, ConversationState};
use crate::api::rerank;
use crate::api::retrieval::{More, Question, gather_more};
use crate::api::source_rows::emit;
use crate::api::{given, hooks, names, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::store::conversations::{self, Conversation};
use crate::store::register;
use crate::store::retrievals::{self, NewRetrieval};
use crate::store::turn_writes::{self, Retrieved};
use crate::store::turns::{self, Turn};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn retrieve(
    turn_id: Option<i64>,
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    max_results: Option<i32>,
    corpora: Option<Vec<Option<String>>>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("retrieve")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let search = Search {
        query: not_empty(query, "query")?,
        corpus,
        corpora: names(corpora, "corpora")?,
        embedding: embedding.map(|vector| vector.0),
        filter: Json::optional(filter, "filter")?,
        max_results: max_results.map(count).transpose()?,
    };
    profile::call("retrieve", || search.run(&tenant, turn_id, fcinfo))?;
    Ok(())
}

#[pg_extern(sql = false)]
fn add_passages(
    turn_id: Option<i64>,
    passages: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("add_passages")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let passages = given(passages, "passages")?.value("passages")?;
    let passages = CallerPassage::parse_list(&passages).map_err(Error::from)?;
    let candidates = additional_sources::caller_sources(passages).map_err(Error::from)?;
    profile::call("add_passages", || {
        hand_over(&tenant, turn_id, candidates, fcinfo)
    })?;
    Ok(())
}

fn count(max_results: i32) -> Result<i32> {
    match max_results {
        1..=100 => Ok(max_results),
        other => Err(Error::Bad {
            argument: "max_results",
            fault: other.to_string(),
            hint: "From 1 to 100.".into(),
        }),
    }
}

/// The arguments of a search.
struct Search<'a> {
    query: &'a str,
    corpus: Option<&'a str>,
    corpora: Option<Vec<String>>,
    embedding: Option<Vec<f32>>,
    filter: Option<Value>,
    max_results: Option<i32>,
}

impl Search<'_> {
    /// Searches, then takes the conversation's lock for as long as it takes to write: searches of one turn run side by side.
    fn run(&self, tenant: &str, turn_id: i64, fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
        let turn = stage("turn", || turns::load(tenant, turn_id))?;
        check_open(&turn)?;
        let conversation = conversations::behind_turn(tenant, turn_id)?
            .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
        let where_it_asked = match (self.corpus, &self.corpora) {
            (None, None) => Some(turn.asked_corpora()),
            (_, corpora) => corpora.clone(),
        };
        let call = self.call(&turn);
        let question = Question {
            query: self.query,
            corpus: self.corpus,
            corpora: where_it_asked.as_deref(),
            embedding: self.embedding.as_deref(),
            filter: self.filter.as_ref(),
            rewrite: None,
            intent: None,
            settings: &call,
            call_roles: hooks::of_turn(turn.call_role.as_deref())?,
            instead_of: None,
        };
        let settings: Settings = serde_json::from_value(turn.settings.clone())?;
        let mut more = gather_more(tenant, &conversation, &question, &turn.context, &settings)?;
        let mut scores = self.rerank(&mut more)?;

        let addition = Addition::to(tenant, turn_id)?;
        additional_sources::match_known_sources(
            &mut more.gathered,
            scores.as_mut(),
            &addition.turn.context,
        );
        let documents = more.gathered.documents();
        // Whatever the other corpus says: one turn has markers of one style.
        let style = addition.settings.marker_style;
        more.settings.marker_style = style;
        let register = register::load(&addition.conversation, documents, style)?;
        let composed = stage("compose", || {
            begin::compose(
                more.gathered,
                scores.as_deref(),
                &register,
                self.query,
                &more.settings,
            )
        })?;
        let (dropped, warnings) = (composed.dropped.clone(), warning_names(&composed.warnings));
        let context = &addition.turn.context;
        let further = additional_sources::add_found(context, composed, addition.retrieval_no);
        let row = NewRetrieval {
            query: Some(self.query),
            corpora: Some(&more.corpora),
            filter: self.filter.as_ref(),
            max_results: self.max_results,
            search_us: Some(more.search_us),
            ..addition.row("search", &further, &warnings)
        };
        addition.write(&row, self.embedding.clone(), &further, &dropped)?;
        stage("rows", || emit(fcinfo, turn_id, &further.shown))
    }

    /// The settings of the call: what the turn's call said, and the limit. A function is called as whoever named it: the corpus, the
    /// conversation, or the call that began the turn.
    fn call(&self, turn: &Turn) -> Value {
        let mut call = turn.call_settings.clone();
        if let Some(count) = self.max_results {
            call["max_sources"] = json!(count);
        }
        call
    }

    /// What a reranker function says. A deferred rerank is for the beginning of a turn: here the fused order stands, with a
    /// warning.
    fn rerank(&self, more: &mut More) -> Result<Option<Vec<Option<f64>>>> {
        let gathered = &mut more.gathered;
        match more.settings.reranker.as_deref() {
            None => Ok(None),
            Some(DEFERRED) => {
                let candidates = gathered.candidates.len();
                gathered.warnings.push(Warning::RerankMissing {
                    missing: candidates,
                    candidates,
                });
                Ok(None)
            }
            Some(name) => stage("rerank", || {
                rerank::call(name, &more.roles, self.query, gathered).map(Some)
            }),
        }
    }
}

/// Takes passages from outside the corpora up into a turn.
fn hand_over(
    tenant: &str,
    turn_id: i64,
    candidates: Vec<Candidate>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Result<()> {
    let addition = Addition::to(tenant, turn_id)?;
    let Addition { turn, settings, .. } = &addition;
    let documents = candidates.iter().map(|candidate| {
        let passage = &candidate.passage;
        (passage.corpus.as_str(), passage.doc_id.as_str())
    });
    let register = register::load(&addition.conversation, documents, settings.marker_style)?;
    let further = additional_sources::add_caller_sources(
        &turn.context,
        candidates,
        &register,
        &turn.query,
        settings,
        addition.retrieval_no,
    );
    let row = addition.row("passages", &further, &[]);
    addition.write(&row, None, &further, &[])?;
    stage("rows", || emit(fcinfo, turn_id, &further.shown))
}

/// An open turn that is about to be given more, its conversation locked.
struct Addition<'a> {
    tenant: &'a str,
    conversation: Conversation,
    turn: Turn,
    /// Those that the turn began under.
    settings: Settings,
    /// Number of the retrieval.
    retrieval_no: u32,
}

impl<'a> Addition<'a> {
    fn to(tenant: &'a str, turn_id: i64) -> Result<Self> {
        let conversation = stage("conversation", || conversations::of_turn(tenant, turn_id))?
            .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
        let turn = stage("turn", || turns::load(tenant, turn_id))?;
        check_open(&turn)?;
        Ok(Self {
            tenant,
            conversation,
            settings: serde_json::from_value(turn.settings.clone())?,
            turn,
            retrieval_no: retrievals::next(turn_id)?,
        })
    }

    /// Its row, but for what only a search has.
    fn row<'b>(
        &'b self,
        kind: &'static str,
        further: &'b AdditionalSources,
        warnings: &'b [String],
    ) -> NewRetrieval<'b> {
        NewRetrieval {
            turn_id: self.turn.turn_id,
            retrieval_no: self.retrieval_no,
            tenant: self.tenant,
            kind,
            query: None,
            corpora: None,
            filter: None,
            max_results: None,
            markers: further.shown.iter().map(|source| &*source.marker).collect(),
            added_count: further.added.len(),
            warnings,
            search_us: None,
        }
    }

    fn write(
        &self,
        row: &NewRetrieval<'_>,
        embedding: Option<Vec<f32>>,
        further: &AdditionalSources,
        dropped: &[Dropped],
    ) -> Result<()> {
        let (turn, settings) = (&self.turn, &self.settings);
        let context = [&turn.context[..], &further.added[..]].concat();
        let tokens = turn.context_tokens + further.tokens;
        let searched = row.query.is_some() && !further.added.is_empty();
        let footing = ConversationState::of(&self.conversation, Some(turn.turn_no))?;
        let standing = footing.standing(
            self.tenant,
            &conversation_state::Composed {
                turn_no: turn.turn_no,
                fresh: turn.searched() || searched,
                context: &context,
                tokens,
                embedding: footing.before.own_embedding.as_deref(),
                settings,
            },
        )?;
        let more = turns::More {
            added: &further.added,
            tokens,
            standing: &standing,
            searched,
            warnings: row.warnings.to_vec(),
        };
        stage("write retrieval", || {
            retrievals::insert(row, embedding)?;
            turns::add(turn.turn_id, more)?;
            conversations::touch(&self.conversation)
        })?;
        let retrieved = Retrieved {
            turn_id: turn.turn_id,
            turn_no: turn.turn_no,
            retrieval_no: self.retrieval_no,
            further,
            dropped,
        };
        turn_writes::add(
            self.tenant,
            self.conversation.conversation_id,
            &retrieved,
            settings,
        )
    }
}

/// Refuses a turn that nothing can be added to.
fn check_open(turn: &Turn) -> Result<()> {
    let hint = match turn.state.as_str() {
        "open" => return Ok(()),
        "deferred" => "Call reground.apply_rerank first (with NULL to go on in fused order).",
        _ => "Begin a new turn: what an answer was given with stays as it was.",
    };
    Err(Error::WrongState {
        turn: turn.turn_id,
        state: turn.state.clone(),
        wanted: "added to",
        hint,
    })
}
