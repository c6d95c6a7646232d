//! Turns that another system finished: recorded with the verdicts on their citations, so that they can be audited beside ours.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::Cues;
use reground_documents::CallerPassage;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::caller::imported_turns::{
    self, ImportAction, ImportKey, ImportedTurn, import_actions, turn_error,
};
use reground_grounding::end::parse_answer;
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api::judge::{self, JudgeContext, Verdict};
use crate::api::{given, not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::guc;
use crate::profile::{self, stage};
use crate::retrieve::text_config;
use crate::rows;
use crate::run_as::as_owner;
use crate::store::corpora::{self, Corpus};
use crate::store::imports::{self, Ids, NewTurn, Told};
use crate::store::messages::{self, NewCitation, NewMessage, Origin, Scored};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn record_turn(
    conversation_ref: Option<&str>,
    query: Option<&str>,
    answer: Option<&str>,
    passages: Option<Json>,
    at: Option<TimestampWithTimeZone>,
    message_ref: Option<&str>,
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
        conversation_ref: not_empty(conversation_ref, "conversation_ref")?.to_owned(),
        query: given(query, "query")?.to_owned(),
        answer: given(answer, "answer")?.to_owned(),
        passages: Json::optional(passages, "passages")?,
        at: at.map(moment).transpose()?,
        message_ref: message_ref.map(str::to_owned),
        model: model.map(str::to_owned),
        tags: Json::object(tags, "tags")?.as_object().cloned(),
        citations: Json::optional(citations, "citations")?,
    };
    let how = How::of(&tenant, settings, corpus, text_config)?;
    profile::call("record_turn", || {
        let recorded = how.record(vec![turn])?;
        let message_id = recorded
            .first()
            .map(|recorded| recorded.told.ids.message_id);
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
    element_no: usize,
    #[serde(flatten)]
    told: Told,
    /// Whether this call recorded it.
    recorded: bool,
}

/// How the turns of a call are judged and kept.
struct How<'a> {
    tenant: &'a str,
    corpus: Option<Corpus>,
    /// The settings of the call.
    call: Value,
    text_config: String,
    /// Of a conversation without settings of its own.
    rules: Rules,
}

/// What the settings say.
struct Rules {
    settings: Settings,
    cues: Cues,
}

/// The rules of each conversation of a call.
struct ByConversation<'a> {
    /// Of a conversation without settings of its own: the first.
    common: &'a Rules,
    /// Of the others.
    own: Vec<Rules>,
    /// Which of them those have, from 1.
    places: BTreeMap<String, usize>,
}

impl ByConversation<'_> {
    fn place(&self, conversation: &str) -> usize {
        self.places.get(conversation).copied().unwrap_or_default()
    }

    fn of(&self, conversation: &str) -> &Rules {
        let own = self.place(conversation).checked_sub(1);
        own.and_then(|at| self.own.get(at)).unwrap_or(self.common)
    }

    /// The settings at each place.
    fn settings(&self) -> Vec<&Settings> {
        let all = std::iter::once(self.common).chain(&self.own);
        all.map(|rules| &rules.settings).collect()
    }
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
        let text_config = match (text_config, &corpus) {
            (Some(given), _) => text_config::name(given)?,
            (None, Some(corpus)) => corpus.text_config.clone(),
            (None, None) => text_config::of_session()?,
        };
        Ok(Self {
            rules: rules(corpus.as_ref(), &json!({}), &call, &text_config)?,
            tenant,
            corpus,
            call,
            text_config,
        })
    }

    /// The rules of conversations, some of which have settings of their own.
    fn by_conversation(
        &self,
        conversations: &imports::Conversations,
    ) -> Result<ByConversation<'_>> {
        let mut by = ByConversation {
            common: &self.rules,
            own: Vec::new(),
            places: BTreeMap::new(),
        };
        for (name, settings) in conversations.with_settings() {
            let corpus = self.corpus.as_ref();
            let own = rules(corpus, settings, &self.call, &self.text_config)?;
            by.own.push(own);
            by.places.insert(name.to_owned(), by.own.len());
        }
        Ok(by)
    }

    fn corpus_name(&self) -> &str {
        self.corpus.as_ref().map_or("", |corpus| &corpus.name)
    }

    /// Judges and stores turns, in their order; those whose answers were recorded before stay as they are.
    fn record(&self, turns: Vec<ImportedTurn>) -> Result<Vec<Recorded>> {
        let names: BTreeSet<&str> = turns.iter().map(|turn| &*turn.conversation_ref).collect();
        let mut conversations = stage("conversations", || imports::open(self.tenant, &names))?;
        let by_conversation = self.by_conversation(&conversations)?;
        let fingerprints: Vec<Fingerprint> = turns
            .iter()
            .map(|turn| Fingerprint::of(&turn.answer, turn.citations.as_ref()))
            .collect();
        let named: Vec<ImportKey<'_>> = turns
            .iter()
            .zip(&fingerprints)
            .map(|(turn, fingerprint)| ImportKey {
                conversation_ref: &turn.conversation_ref,
                message_ref: turn.message_ref.as_deref(),
                fingerprint,
            })
            .collect();
        let messages = named.iter().filter_map(|turn| turn.message_ref).collect();
        let known = stage("messages", || imports::known(&conversations, messages))?;
        let actions =
            import_actions(&named, &known).map_err(|id| Error::Conflict("message_ref", id))?;

        let lost = || Error::Stored("a turn of the import is lost".into());
        let new = actions
            .iter()
            .filter(|action| matches!(action, ImportAction::New));
        let mut ids = imports::reserve(new.count())?.into_iter();
        let mut rows: Vec<Recorded> = Vec::with_capacity(turns.len());
        let mut judged = Vec::with_capacity(ids.len());
        for (((turn, fingerprint), action), element_no) in
            turns.iter().zip(&fingerprints).zip(actions).zip(1..)
        {
            let told = match action {
                ImportAction::Before(told) => told.clone(),
                ImportAction::Earlier(first) => rows.get(first).ok_or_else(lost)?.told.clone(),
                ImportAction::New => {
                    let ids = ids.next().ok_or_else(lost)?;
                    let rules = by_conversation.of(&turn.conversation_ref);
                    let new = self.judge(turn, fingerprint, rules, ids, element_no)?;
                    let told = new.told();
                    judged.push(new);
                    told
                }
            };
            rows.push(Recorded {
                element_no,
                told,
                recorded: matches!(action, ImportAction::New),
            });
        }
        self.store(&judged, &by_conversation, &mut conversations)?;
        Ok(rows)
    }

    /// Judges the turn at a place, from 1.
    fn judge<'t>(
        &self,
        turn: &'t ImportedTurn,
        fingerprint: &'t Fingerprint,
        rules: &Rules,
        ids: Ids,
        element_no: usize,
    ) -> Result<JudgedTurn<'t>> {
        let faulty = |fault: String| Error::from(turn_error(element_no, fault));
        let passages =
            CallerPassage::parse_list(&turn.passages()).map_err(|e| faulty(e.to_string()))?;
        let context = stage("tokens", || {
            imported_turns::context(passages, self.corpus_name())
        });
        let context = context.map_err(|error| faulty(error.to_string()))?;
        let at = turn.at.as_deref().map(read_time).transpose();
        let at = at.map_err(faulty)?;
        let grammar = parse_answer::grammar(&rules.settings, &context)?;
        let ground = JudgeContext {
            tenant: self.tenant,
            settings: &rules.settings,
            grammar: &grammar,
            numbered: true,
            context: &context,
            conversation_id: None,
            corpora: self.corpus.iter().map(|corpus| &*corpus.name).collect(),
            text_config: &self.text_config,
            text_configs: &BTreeMap::new(),
            cues: &rules.cues,
            trace: &[],
            remembered: &[],
        };
        let read = judge::read(&turn.answer, &grammar, turn.citations.as_ref());
        let read = read.map_err(|error| match error {
            Error::Grounding(error) => faulty(error.to_string()),
            other => other,
        })?;
        let verdict = judge::judge(&read, &ground)?;
        Ok(JudgedTurn {
            turn,
            fingerprint,
            ids,
            at,
            context,
            verdict,
        })
    }

    /// Stores what was judged.
    fn store(
        &self,
        judged: &[JudgedTurn<'_>],
        by_conversation: &ByConversation<'_>,
        conversations: &mut imports::Conversations,
    ) -> Result<()> {
        let mut turns = Vec::with_capacity(judged.len());
        let mut answers = Vec::with_capacity(judged.len());
        for judged in judged {
            let JudgedTurn {
                turn,
                fingerprint,
                ids,
                at,
                context,
                verdict,
            } = judged;
            let rules = by_conversation.of(&turn.conversation_ref);
            let keeps_words = rules.settings.stores_answers();
            // Without a time of their own, turn and answer are of this transaction's.
            let at = at.as_deref().unwrap_or("now");
            let (query_tokens, answer_tokens) = stage("tokens", || {
                let count = reground_tokens::count;
                (count(&turn.query), count(&turn.answer))
            });
            let place = conversations.follow(
                &turn.conversation_ref,
                ids.turn_id,
                query_tokens + answer_tokens,
            )?;
            let tokens = context.iter().map(|source| source.candidate.passage.tokens);
            turns.push(NewTurn {
                turn_id: ids.turn_id,
                conversation_id: place.conversation_id,
                turn_no: place.turn_no,
                parent_turn_id: place.parent_turn_id,
                query: &turn.query,
                request_hash: &fingerprint.answer_hash,
                corpus: self.corpus_name(),
                context_tokens: tokens.map(u64::from).sum(),
                context,
                query_tokens,
                tags: turn.tags.as_ref(),
                settings: by_conversation.place(&turn.conversation_ref),
                at,
            });
            answers.push(NewMessage {
                message_id: ids.message_id,
                conversation_id: place.conversation_id,
                turn_id: ids.turn_id,
                origin: Origin::Imported,
                message_ref: turn.message_ref.as_deref(),
                answer: Some(turn.answer.as_str()).filter(|_| keeps_words),
                fingerprint,
                answer_tokens,
                model: turn.model.as_deref(),
                usage: None,
                citations: turn.citations.as_ref().filter(|_| keeps_words),
                tags: None,
                created_at: Some(at),
                scored: Scored::from(&verdict.judged),
                cited: NewCitation::stored(&verdict.citations, keeps_words),
            });
        }
        let settings = by_conversation.settings();
        imports::insert(self.tenant, &settings, &turns, &answers, conversations)
    }
}

/// The rules under a corpus' settings, a conversation's and those of a call.
fn rules(
    corpus: Option<&Corpus>,
    conversation: &Value,
    call: &Value,
    text_config: &str,
) -> Result<Rules> {
    let nothing = json!({});
    let settings = Settings::resolve(&[
        ("server", &guc::turn_settings()),
        ("corpus", corpus.map_or(&nothing, |corpus| &corpus.settings)),
        ("conversation", conversation),
        ("call", call),
    ])?;
    Ok(Rules {
        cues: judge::cues(&settings, text_config)?,
        settings,
    })
}

/// A moment as PostgreSQL reads it in this session, whose time zone is that of a time without one; what is none is refused.
fn read_time(at: &str) -> std::result::Result<String, String> {
    let moment = at.parse::<TimestampWithTimeZone>().ok();
    let moment = moment.filter(|at| !at.is_infinity() && !at.is_neg_infinity());
    let written = moment.map(|moment| moment.to_iso_string());
    written.ok_or_else(|| format!("\"{at}\" is no moment"))
}

/// A turn with the verdicts on its citations.
struct JudgedTurn<'a> {
    turn: &'a ImportedTurn,
    fingerprint: &'a Fingerprint,
    ids: Ids,
    /// When it was answered.
    at: Option<String>,
    context: Vec<ContextSource>,
    verdict: Verdict,
}

impl JudgedTurn<'_> {
    fn told(&self) -> Told {
        let citations = &self.verdict.citations;
        let holding = citations.iter().filter(|c| c.holds == Some(true));
        Told {
            ids: self.ids,
            citation_count: citations.len(),
            holding_count: holding.count(),
            cfs: self.verdict.judged.scores.cfs,
        }
    }
}
