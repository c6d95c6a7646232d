//! Turns that another system finished: recorded with the verdicts on their citations, so that they can be audited beside ours.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::Cues;
use reground_documents::{GivenPassage, exact_hash_hex};
use reground_grounding::imported::{self, Fate, ImportedTurn, fates, fault_of};
use reground_grounding::memory::ContextSource;
use reground_grounding::reading;
use reground_grounding::settings::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api::judging::{self, Ground, Verdict};
use crate::api::{given, not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::guc;
use crate::owner::as_owner;
use crate::profile::{self, stage};
use crate::retrieve::text_config;
use crate::rows;
use crate::store::corpora::{self, Corpus};
use crate::store::imports::{self, Ids, NewImport};
use crate::store::messages::{self, NewCitation};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn record_turn(
    conversation: Option<&str>,
    query: Option<&str>,
    answer: Option<&str>,
    passages: Option<Json>,
    at: Option<TimestampWithTimeZone>,
    message: Option<&str>,
    model: Option<&str>,
    tags: Option<Json>,
    citations: Option<Json>,
    settings: Option<Json>,
    corpus: Option<&str>,
    text_config: Option<pg_sys::Oid>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("record_turn")?;
    let tenant = tenant::required()?;
    let turn = ImportedTurn {
        conversation: not_empty(conversation, "conversation")?.to_owned(),
        query: given(query, "query")?.to_owned(),
        answer: given(answer, "answer")?.to_owned(),
        passages: Json::optional(passages, "passages")?,
        at: at.map(moment).transpose()?,
        message: message.map(str::to_owned),
        model: model.map(str::to_owned),
        tags: Json::object(tags, "tags")?.as_object().cloned(),
        citations: Json::optional(citations, "citations")?,
    };
    let how = How::of(&tenant, settings, corpus, text_config)?;
    profile::call("record_turn", || {
        let recorded = how.record(vec![turn])?;
        let message_id = recorded.first().map(|recorded| recorded.message_id);
        let args = [message_id.into(), tenant.as_str().into()];
        stage("rows", || {
            as_owner(|| rows::emit_from(fcinfo, &messages::rows(), &args))
        })
    })?;
    Ok(())
}

/// A moment as it is written.
fn moment(at: TimestampWithTimeZone) -> Result<String> {
    if at.is_infinity() || at.is_neg_infinity() {
        return Err(Error::Bad {
            argument: "at",
            fault: "it is no moment".into(),
            hint: "Give the time of the answer, or leave it out.".into(),
        });
    }
    Ok(at.to_iso_string())
}

#[pg_extern(sql = false)]
fn record_turns(
    turns: Option<Json>,
    settings: Option<Json>,
    corpus: Option<&str>,
    text_config: Option<pg_sys::Oid>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("record_turns")?;
    let tenant = tenant::required()?;
    let turns = given(turns, "turns")?.value("turns")?;
    let turns = ImportedTurn::list(turns).map_err(Error::from)?;
    let how = How::of(&tenant, settings, corpus, text_config)?;
    profile::call("record_turns", || {
        let recorded = how.record(turns)?;
        stage("rows", || rows::emit(fcinfo, &recorded))
    })?;
    Ok(())
}

/// A row of `record_turns`.
#[derive(Clone, Serialize)]
struct Recorded {
    place: usize,
    turn_id: i64,
    message_id: i64,
    citations: usize,
    held: usize,
    cfs: Option<f64>,
    /// Whether this call recorded it.
    recorded: bool,
}

/// How the turns of a call are judged.
struct How<'a> {
    tenant: &'a str,
    corpus: Option<Corpus>,
    settings: Settings,
    text_config: String,
    cues: Cues,
}

impl<'a> How<'a> {
    fn of(
        tenant: &'a str,
        settings: Option<Json>,
        corpus: Option<&str>,
        text_config: Option<pg_sys::Oid>,
    ) -> Result<Self> {
        let call = Json::object(settings, "settings")?;
        let corpus = corpus.map(|name| corpora::load(tenant, name)).transpose()?;
        let nothing = json!({});
        let of_corpus = corpus.as_ref().map_or(&nothing, |corpus| &corpus.settings);
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", of_corpus),
            ("call", &call),
        ])?;
        let text_config = match (text_config, &corpus) {
            (Some(given), _) => text_config::name(given)?,
            (None, Some(corpus)) => corpus.text_config.clone(),
            (None, None) => text_config::of_session()?,
        };
        Ok(Self {
            tenant,
            corpus,
            cues: judging::cues(&settings, &text_config)?,
            settings,
            text_config,
        })
    }

    fn corpus_name(&self) -> &str {
        self.corpus.as_ref().map_or("", |corpus| &corpus.name)
    }

    /// Judges and stores turns, in their order; those whose answers were recorded before stay as they are.
    fn record(&self, turns: Vec<ImportedTurn>) -> Result<Vec<Recorded>> {
        let names: BTreeSet<&str> = turns.iter().map(|turn| &*turn.conversation).collect();
        let mut conversations = stage("conversations", || imports::open(self.tenant, &names))?;
        let hashes: Vec<String> = turns.iter().map(|t| exact_hash_hex(&t.answer)).collect();
        let named: Vec<(&str, Option<&str>, &str)> = turns
            .iter()
            .zip(&hashes)
            .map(|(turn, hash)| (&*turn.conversation, turn.message.as_deref(), &**hash))
            .collect();
        let known = stage("messages", || imports::known(&conversations, &named))?;
        let fates = fates(&named, &known).map_err(|id| Error::Conflict("message", id))?;

        let new = fates.iter().filter(|fate| **fate == Fate::New).count();
        let mut ids = imports::reserve(new)?.into_iter();
        let mut imports = Vec::with_capacity(new);
        let mut rows: Vec<Recorded> = Vec::with_capacity(turns.len());
        let mut before = BTreeMap::new();
        for (place, (((turn, hash), fate), number)) in
            turns.iter().zip(&hashes).zip(&fates).zip(1..).enumerate()
        {
            match *fate {
                Fate::Before(message_id) => {
                    before.insert(place, message_id);
                    rows.push(Recorded::unknown(number, message_id));
                }
                Fate::Earlier(first) => {
                    let earlier = rows.get(first).cloned();
                    rows.extend(earlier.map(|row| Recorded {
                        place: number,
                        recorded: false,
                        ..row
                    }));
                }
                Fate::New => {
                    let Some(ids) = ids.next() else {
                        return Err(Error::Stored("too few ids were reserved".into()));
                    };
                    let judged = self.judge(turn, number)?;
                    rows.push(judged.row(number, ids));
                    imports.push(self.import(turn, hash, judged, ids, &mut conversations)?);
                }
            }
        }
        imports::insert(self.tenant, &self.settings, &imports, &conversations)?;
        imports::describe(&before, |place, turn_id, citations, held, cfs| {
            if let Some(row) = rows.get_mut(place) {
                *row = Recorded {
                    turn_id,
                    citations,
                    held,
                    cfs,
                    ..row.clone()
                };
            }
        })?;
        Ok(rows)
    }

    /// Judges the turn at a place, from 1.
    fn judge(&self, turn: &ImportedTurn, place: usize) -> Result<JudgedTurn> {
        let faulty = |fault: String| Error::from(fault_of(place, fault));
        let passages = GivenPassage::list(&turn.passages()).map_err(|e| faulty(e.to_string()))?;
        let context = stage("tokens", || imported::context(passages, self.corpus_name()));
        let context = context.map_err(|error| faulty(error.to_string()))?;
        if let Some(at) = &turn.at {
            check_time(at).map_err(faulty)?;
        }
        let grammar = reading::grammar(&self.settings, &context)?;
        let ground = Ground {
            tenant: self.tenant,
            settings: &self.settings,
            grammar: &grammar,
            numbered: true,
            context: &context,
            conversation_id: None,
            corpora: self.corpus.iter().map(|corpus| &*corpus.name).collect(),
            text_config: &self.text_config,
            text_configs: &BTreeMap::new(),
            cues: &self.cues,
            trace: &[],
            remembered: &[],
        };
        let read = judging::read(&turn.answer, &grammar, turn.citations.as_ref());
        let read = read.map_err(|error| match error {
            Error::Grounding(error) => faulty(error.to_string()),
            other => other,
        })?;
        let verdict = judging::judge(&read, &ground)?;
        Ok(JudgedTurn { verdict, context })
    }

    /// The rows of a judged turn.
    fn import<'t>(
        &self,
        turn: &'t ImportedTurn,
        answer_hash: &'t str,
        judged: JudgedTurn,
        ids: Ids,
        conversations: &mut imports::Conversations,
    ) -> Result<NewImport<'t>> {
        let JudgedTurn { verdict, context } = judged;
        let (query_tokens, answer_tokens) = stage("tokens", || {
            let count = reground_tokens::count;
            (count(&turn.query), count(&turn.answer))
        });
        let place = conversations.follow(
            &turn.conversation,
            ids.turn_id,
            query_tokens + answer_tokens,
        )?;
        let (scores, decision) = (&verdict.judged.scores, &verdict.judged.decision);
        let reasons = decision.reasons.iter().map(|reason| reason.as_str());
        let tokens = context.iter().map(|source| source.candidate.passage.tokens);
        let stores = self.settings.stores_answers();
        let citations = if stores {
            verdict.citations
        } else {
            let citations = verdict.citations.iter();
            citations.map(NewCitation::without_words).collect()
        };
        Ok(NewImport {
            ids,
            conversation_id: place.conversation_id,
            number: place.number,
            parent: place.parent,
            query: &turn.query,
            request_hash: answer_hash,
            corpus: self.corpus_name().to_owned(),
            context_tokens: tokens.map(u64::from).sum(),
            context,
            query_tokens,
            tags: turn.tags.clone().map_or_else(|| json!({}), Value::Object),
            at: turn.at.as_deref(),
            external_id: turn.message.as_deref(),
            answer: stores.then_some(turn.answer.as_str()),
            answer_hash,
            answer_tokens,
            model: turn.model.as_deref(),
            citations_given: turn.citations.as_ref().filter(|_| stores),
            citation_count: scores.citations,
            malformed_count: scores.malformed,
            cfs: scores.cfs,
            stage_cfs: scores.stage_cfs,
            grounded_cfs: scores.grounded_cfs,
            diagnostic: scores.diagnostic(),
            decision: decision.action.as_str(),
            reasons: reasons.collect(),
            citations,
        })
    }
}

/// Refuses what PostgreSQL cannot read as a moment, and what is none.
fn check_time(at: &str) -> std::result::Result<(), String> {
    match at.parse::<TimestampWithTimeZone>() {
        Ok(moment) if !moment.is_infinity() && !moment.is_neg_infinity() => Ok(()),
        _ => Err(format!("\"{at}\" is no moment")),
    }
}

/// A turn with the verdicts on its citations.
struct JudgedTurn {
    verdict: Verdict,
    context: Vec<ContextSource>,
}

impl JudgedTurn {
    fn row(&self, place: usize, ids: Ids) -> Recorded {
        let holds = |citation: &&NewCitation| citation.holds == Some(true);
        Recorded {
            place,
            turn_id: ids.turn_id,
            message_id: ids.message_id,
            citations: self.verdict.citations.len(),
            held: self.verdict.citations.iter().filter(holds).count(),
            cfs: self.verdict.judged.scores.cfs,
            recorded: true,
        }
    }
}

impl Recorded {
    /// One that was recorded before; what is known of it is looked up.
    fn unknown(place: usize, message_id: i64) -> Self {
        Self {
            place,
            turn_id: 0,
            message_id,
            citations: 0,
            held: 0,
            cfs: None,
            recorded: false,
        }
    }
}
