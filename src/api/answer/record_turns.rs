//! `record_turn` and `record_turns`: turns that another system finished, stored with the verdicts on their citations.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::CallerPassage;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::caller::imported_turns::{
    self, ImportAction, ImportKey, ImportedTurn, StoredAnswer, import_actions, turn_error,
};
use reground_grounding::end::parse_answer;
use reground_grounding::memory::ContextSource;
use reground_grounding::prompt::block_tokens;
use reground_grounding::settings::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api::answer::hidden_citations::emit_stored;
use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge::AnswerVerdict;
use crate::api::answer::judging::judge_context;
use crate::api::answer::judging::judge_context::CallerRules;
use crate::api::answer::judging::source_conflicts;
use crate::api::{given, not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::rows;
use crate::store::corpora::{self, Corpus};
use crate::store::imports::{self, Ids, NewTurn, RecordedAnswer};
use crate::store::messages::{NewCitation, NewMessage, Origin, Scored};
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
    user_ref: Option<&str>,
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
        user_ref: user_ref
            .map(|name| not_empty(Some(name), "user_ref"))
            .transpose()?
            .map(str::to_owned),
    };
    let import = Import::new(&tenant, settings, corpus, text_config)?;
    profile::call("record_turn", || {
        let recorded = import.record(vec![turn])?;
        let message_id = recorded
            .first()
            .map(|recorded| recorded.answer.ids.message_id);
        stage("rows", || emit_stored(fcinfo, &tenant, message_id, None))
    })?;
    Ok(())
}

/// A time in ISO 8601. Errors: 22023 if it is infinite.
fn moment(at: TimestampWithTimeZone) -> Result<String> {
    if at.is_infinity() || at.is_neg_infinity() {
        return Err(Error::Bad {
            argument: "at",
            fault: "it is infinite".into(),
            hint: "Pass the time of the answer, or leave it out.".into(),
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
    let import = Import::new(&tenant, settings, corpus, text_config)?;
    profile::call("record_turns", || {
        let recorded = import.record(turns)?;
        stage("rows", || rows::emit(fcinfo, &recorded))
    })?;
    Ok(())
}

/// A row of `record_turns`.
#[derive(Clone, Serialize)]
struct RecordedTurn {
    /// Position of the turn in the argument, from 1.
    element_no: usize,
    #[serde(flatten)]
    answer: RecordedAnswer,
    /// Whether this call recorded it.
    recorded: bool,
}

/// The rules of a call.
struct Import<'a> {
    tenant: &'a str,
    corpus: Option<Corpus>,
    call_settings: Value,
    text_config: String,
    /// Rules of conversations without settings of their own.
    rules: CallerRules,
}

/// The rules of the conversations of a call.
struct ConversationRules<'a> {
    /// Rules of conversations without settings of their own; they have index 0.
    common: &'a CallerRules,
    /// Rules of the others, from index 1.
    own: Vec<CallerRules>,
    /// Index of the rules of each of the others.
    indices: BTreeMap<String, usize>,
}

impl ConversationRules<'_> {
    fn index(&self, conversation_ref: &str) -> usize {
        let index = self.indices.get(conversation_ref);
        index.copied().unwrap_or_default()
    }

    fn of(&self, conversation_ref: &str) -> &CallerRules {
        let own = self.index(conversation_ref).checked_sub(1);
        own.and_then(|index| self.own.get(index))
            .unwrap_or(self.common)
    }

    /// The settings by index.
    fn settings(&self) -> Vec<&Settings> {
        let all = std::iter::once(self.common).chain(&self.own);
        all.map(|rules| &rules.settings).collect()
    }
}

impl<'a> Import<'a> {
    fn new(
        tenant: &'a str,
        settings: Option<Json>,
        corpus: Option<&str>,
        text_config: Option<pg_sys::Oid>,
    ) -> Result<Self> {
        let call_settings = Json::object(settings, "settings")?;
        let corpus = corpus.map(|name| corpora::load(tenant, name)).transpose()?;
        let text_config = judge_context::text_config(text_config, corpus.as_ref())?;
        Ok(Self {
            rules: CallerRules::resolve(corpus.as_ref(), &json!({}), &call_settings, &text_config)?,
            tenant,
            corpus,
            call_settings,
            text_config,
        })
    }

    /// Resolves the rules of conversations.
    fn conversation_rules(
        &self,
        conversations: &imports::Conversations,
    ) -> Result<ConversationRules<'_>> {
        let mut rules = ConversationRules {
            common: &self.rules,
            own: Vec::new(),
            indices: BTreeMap::new(),
        };
        for (conversation_ref, settings) in conversations.with_settings() {
            rules.own.push(CallerRules::resolve(
                self.corpus.as_ref(),
                settings,
                &self.call_settings,
                &self.text_config,
            )?);
            let index = rules.own.len();
            rules.indices.insert(conversation_ref.to_owned(), index);
        }
        Ok(rules)
    }

    fn corpus_name(&self) -> &str {
        self.corpus.as_ref().map_or("", |corpus| &corpus.name)
    }

    /// Judges and stores turns in their order. Turns that were recorded before are returned as they are.
    fn record(&self, turns: Vec<ImportedTurn>) -> Result<Vec<RecordedTurn>> {
        let names: BTreeSet<&str> = turns.iter().map(|turn| &*turn.conversation_ref).collect();
        let mut conversations = stage("conversations", || imports::open(self.tenant, &names))?;
        let conversation_rules = self.conversation_rules(&conversations)?;
        let fingerprints: Vec<Fingerprint> = turns
            .iter()
            .map(|turn| Fingerprint::of(&turn.answer, turn.citations.as_ref()))
            .collect();
        let message_refs = turns.iter().filter_map(|turn| turn.message_ref.as_deref());
        let known = stage("messages", || {
            imports::known(&conversations, message_refs.collect())
        })?;
        let actions = actions(&turns, &fingerprints, &known)?;

        let missing = || Error::Stored("a turn of the import is lost".into());
        let new = actions
            .iter()
            .filter(|action| matches!(action, ImportAction::New));
        let mut ids = imports::reserve(new.count())?.into_iter();
        let mut rows: Vec<RecordedTurn> = Vec::with_capacity(turns.len());
        let mut judged = Vec::with_capacity(ids.len());
        for (((turn, fingerprint), action), element_no) in
            turns.iter().zip(&fingerprints).zip(actions).zip(1..)
        {
            let answer = match action {
                ImportAction::Before(answer) => answer.clone(),
                ImportAction::Earlier(first) => rows.get(first).ok_or_else(missing)?.answer.clone(),
                ImportAction::New => {
                    let ids = ids.next().ok_or_else(missing)?;
                    let rules = conversation_rules.of(&turn.conversation_ref);
                    let new = self.judge(turn, fingerprint, rules, ids, element_no)?;
                    let answer = new.answer();
                    judged.push(new);
                    answer
                }
            };
            rows.push(RecordedTurn {
                element_no,
                answer,
                recorded: matches!(action, ImportAction::New),
            });
        }
        self.store(&judged, &conversation_rules, &mut conversations)?;
        Ok(rows)
    }

    /// Judges a turn. `element_no` is its position in the argument, from 1.
    fn judge<'t>(
        &self,
        turn: &'t ImportedTurn,
        fingerprint: &'t Fingerprint,
        rules: &CallerRules,
        ids: Ids,
        element_no: usize,
    ) -> Result<JudgedTurn<'t>> {
        let invalid = |fault: String| Error::from(turn_error(element_no, fault));
        let passages =
            CallerPassage::parse_list(&turn.passages()).map_err(|e| invalid(e.to_string()))?;
        let context = stage("tokens", || {
            imported_turns::context(passages, self.corpus_name())
        });
        let context = context.map_err(|error| invalid(error.to_string()))?;
        let at = turn.at.as_deref().map(read_time).transpose();
        let at = at.map_err(invalid)?;
        let grammar = parse_answer::grammar(&rules.settings, &context)?;
        let read = judge::read(&turn.answer, &grammar, turn.citations.as_ref());
        let read = read.map_err(|error| match error {
            Error::Grounding(error) => invalid(error.to_string()),
            other => other,
        })?;
        let corpus = self.corpus.as_ref();
        let evidence = rules.context(self.tenant, corpus, &self.text_config, &grammar, &context);
        let conflicts = source_conflicts::to_decide(&evidence)?;
        let evidence = evidence.with_conflicts(&conflicts);
        let verdict = judge::judge(&read, &evidence)?;
        Ok(JudgedTurn {
            turn,
            fingerprint,
            ids,
            at,
            context,
            verdict,
        })
    }

    /// Stores judged turns with their answers.
    fn store(
        &self,
        judged: &[JudgedTurn<'_>],
        conversation_rules: &ConversationRules<'_>,
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
            let rules = conversation_rules.of(&turn.conversation_ref);
            let stores_text = rules.settings.stores_answers();
            // The default is the time of this transaction.
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
            turns.push(NewTurn {
                turn_id: ids.turn_id,
                conversation_id: place.conversation_id,
                turn_no: place.turn_no,
                parent_turn_id: place.parent_turn_id,
                query: &turn.query,
                corpus: self.corpus_name(),
                context_tokens: stage("tokens", || block_tokens(context, (&rules.settings).into())),
                context,
                query_tokens,
                tags: turn.tags.as_ref(),
                user_ref: turn.user_ref.as_deref(),
                settings: conversation_rules.index(&turn.conversation_ref),
                at,
            });
            answers.push(NewMessage {
                message_id: ids.message_id,
                conversation_id: place.conversation_id,
                turn_id: ids.turn_id,
                origin: Origin::Imported,
                message_ref: turn.message_ref.as_deref(),
                answer: Some(turn.answer.as_str()).filter(|_| stores_text),
                fingerprint,
                answer_tokens,
                model: turn.model.as_deref(),
                usage: None,
                citations: turn.citations.as_ref().filter(|_| stores_text),
                tags: None,
                created_at: Some(at),
                scored: Scored::from(&verdict.judged),
                repair_of: None,
                repair_mode: None,
                cited: NewCitation::stored(&verdict.citations, stores_text),
            });
        }
        let settings = conversation_rules.settings();
        imports::insert(self.tenant, &settings, &turns, &answers, conversations)
    }
}

/// Determines for each turn whether it is new, or was recorded before. Errors: 23505 for another answer under the same message_ref.
fn actions<'k>(
    turns: &[ImportedTurn],
    fingerprints: &[Fingerprint],
    known: &'k BTreeMap<(String, String), StoredAnswer<RecordedAnswer>>,
) -> Result<Vec<ImportAction<'k, RecordedAnswer>>> {
    let keys: Vec<ImportKey<'_>> = turns
        .iter()
        .zip(fingerprints)
        .map(|(turn, fingerprint)| ImportKey {
            conversation_ref: &turn.conversation_ref,
            message_ref: turn.message_ref.as_deref(),
            fingerprint,
        })
        .collect();
    import_actions(&keys, known).map_err(|id| Error::Conflict("message_ref", id))
}

/// A time in ISO 8601, parsed by PostgreSQL. A time without a zone is in that of the session. Returns a message if it is invalid or
/// infinite.
fn read_time(at: &str) -> std::result::Result<String, String> {
    let moment = at.parse::<TimestampWithTimeZone>().ok();
    let moment = moment.filter(|at| !at.is_infinity() && !at.is_neg_infinity());
    let written = moment.map(|moment| moment.to_iso_string());
    written.ok_or_else(|| format!("\"{at}\" is not a finite time"))
}

/// A turn with the verdicts on its citations.
struct JudgedTurn<'a> {
    turn: &'a ImportedTurn,
    fingerprint: &'a Fingerprint,
    ids: Ids,
    /// Time of the answer.
    at: Option<String>,
    context: Vec<ContextSource>,
    verdict: AnswerVerdict,
}

impl JudgedTurn<'_> {
    /// The columns of `record_turns`.
    fn answer(&self) -> RecordedAnswer {
        let citations = &self.verdict.citations;
        let holding = citations.iter().filter(|c| c.holds == Some(true));
        RecordedAnswer {
            ids: self.ids,
            citation_count: citations.len(),
            holding_count: holding.count(),
            cfs: self.verdict.judged.scores.cfs,
        }
    }
}
