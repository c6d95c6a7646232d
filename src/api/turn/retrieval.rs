//! The first half of a turn, up to the candidates for the reranker: read, intent, plan, lists, fuse, collapse, cut, carry.

use reground_grounding::begin::answerability::missing_words;
use reground_grounding::begin::carry::CarriedInput;
use reground_grounding::begin::facts::remembered_facts;
use reground_grounding::begin::fuse::SearchResults;
use reground_grounding::begin::multi_corpus;
use reground_grounding::begin::reuse_context::{passages_of, reuse_context};
use reground_grounding::begin::{self, GatherInput, Gathered};
use reground_grounding::memory::{ContextSource, MarkerRegister};
use reground_grounding::passage::RankedList;
use reground_grounding::passage::identity::KnownPassages;
use reground_grounding::query::asked_sources::{NamedSource, certain_markers};
use reground_grounding::query::intent::{self, JudgedIntent, Verdict};
use reground_grounding::query::plan::{RetrievalPlan, TurnQuery, plan};
use reground_grounding::query::query_words::QueryWords;
use reground_grounding::settings::Settings;
use serde_json::{Value, json};

use crate::api::conversation::conversation_state::ConversationState;
use crate::api::turn::question::Question;
use crate::api::turn::{hooks, named_sources};
use crate::error::{Error, Result};
use crate::guc;
use crate::profile::{stage, timed};
use crate::retrieve::corpus_scope::{Corpora, Scope};
use crate::retrieve::neighbours::{self, Nominated};
use crate::retrieve::remembered::{self, Options};
use crate::retrieve::visibility::{self, Reader};
use crate::retrieve::{lists, prior_turns, reused_context};
use crate::store::conversations::Conversation;
use crate::store::roles::Roles;
use crate::store::sources::StoredSource;
use crate::store::{earlier_turns, history, register, sources};

/// What the rest of a turn needs besides the gathered candidates.
pub(in crate::api) struct PreparedTurn<'a> {
    pub resolved: ResolvedQuestion<'a>,
    pub judged: JudgedIntent,
    /// What was searched for besides the query.
    pub query_expansion: Value,
    pub register: MarkerRegister,
    pub conversation_state: ConversationState,
    /// Microseconds of the search; `None` if the turn reuses the existing sources.
    pub search_us: Option<i32>,
}

impl PreparedTurn<'_> {
    /// Whether the turn searched.
    pub fn searched(&self) -> bool {
        self.search_us.is_some()
    }
}

/// The first half of a turn: reads, determines the intent, and gathers the candidates by a search or from the existing sources.
pub(in crate::api) fn gather<'a>(
    tenant: &'a str,
    conversation: &'a Conversation,
    question: &'a Question<'a>,
) -> Result<(PreparedTurn<'a>, Gathered)> {
    let resolved = stage("corpus", || {
        ResolvedQuestion::read(tenant, conversation, question)
    })?;
    gather_resolved(resolved)
}

/// As [`gather`], for a resolved question.
pub(in crate::api) fn gather_resolved(
    resolved: ResolvedQuestion<'_>,
) -> Result<(PreparedTurn<'_>, Gathered)> {
    let (conversation, question) = (resolved.conversation, resolved.question);
    let mut reader = Reader::of(resolved.tenant);
    let turn_query = resolved.read_earlier_turns(&mut reader)?;
    let state = stage("strategy", || {
        ConversationState::of(conversation, question.repeated_turn_no, reader)
    })?;
    let searches = stage("strategy", || state.retrieves(&resolved.settings))?;
    let named = stage("memory", || {
        named_sources::of(conversation.conversation_id, question)
    })?;
    let judged = stage("intent", || resolved.judge_intent(&turn_query, &named))?;

    let (mut gathered, mut query_expansion, search_us) = if searches {
        let (found, took) = timed(|| resolved.search(&turn_query, &judged, &named));
        let (gathered, query_expansion) = found?;
        (gathered, query_expansion, Some(took))
    } else {
        (resolved.reuse_sources(&state, &named)?, json!({}), None)
    };
    if let Some(rewrite) = question.rewrite {
        query_expansion["rewrite"] = json!(rewrite);
    }
    if remembered_facts::reuses_facts(&judged, &resolved.settings) {
        gathered.remembered = stage("memory", || resolved.remembered_facts())?;
    }
    let marker_style = resolved.settings.marker_style;
    let register = stage("memory", || {
        register::load(conversation, gathered.documents(), marker_style)
    })?;
    let prepared = PreparedTurn {
        resolved,
        judged,
        query_expansion,
        register,
        conversation_state: state,
        search_us,
    };
    Ok((prepared, gathered))
}

/// The result of an additional search within an open turn.
pub(in crate::api) struct AdditionalSearch<'a> {
    pub resolved: ResolvedQuestion<'a>,
    pub gathered: Gathered,
    /// Microseconds of the search.
    pub search_us: i32,
}

/// Gathers candidates for an open turn by the query alone: no source is carried, and the conversation does not expand the query.
/// A candidate with the text of a source in `context` is identified with it. If `turn_settings` hash the texts, so does this
/// search, whatever the settings of its corpus.
pub(in crate::api) fn gather_additional<'a>(
    tenant: &'a str,
    conversation: &'a Conversation,
    question: &'a Question<'a>,
    context: &[ContextSource],
    turn_settings: &Settings,
) -> Result<AdditionalSearch<'a>> {
    let mut resolved = stage("corpus", || {
        ResolvedQuestion::read(tenant, conversation, question)
    })?;
    if turn_settings.hashes_texts() {
        resolved.corpora = resolved.corpora.hashed_by_us();
    }
    let (gathered, search_us) = timed(|| resolved.search_alone(context));
    Ok(AdditionalSearch {
        gathered: gathered?,
        search_us,
        resolved,
    })
}

/// A question with its corpora, settings and roles.
pub(in crate::api) struct ResolvedQuestion<'a> {
    tenant: &'a str,
    conversation: &'a Conversation,
    pub question: &'a Question<'a>,
    pub corpora: Corpora,
    pub settings: Settings,
    /// Roles that call the functions of the application.
    pub roles: Roles,
}

impl<'a> ResolvedQuestion<'a> {
    /// Loads the corpora and resolves the settings of a question.
    pub(in crate::api) fn read(
        tenant: &'a str,
        conversation: &'a Conversation,
        question: &'a Question<'a>,
    ) -> Result<Self> {
        let names = question.corpus_names(tenant, conversation)?;
        let corpora = Corpora::load(tenant, &names, question.filter, question.as_of)?;
        let first = &corpora.first.corpus;
        let server = guc::turn_settings();
        let (call, call_roles) = (question.settings, question.call_roles);
        let roles = hooks::roles(call, call_roles, conversation, first, &server)?;
        let settings = Settings::resolve(&[
            ("server", &server),
            ("corpus", &first.settings),
            ("conversation", &conversation.settings),
            ("call", question.settings),
        ])?;
        let corpora = if settings.hashes_texts() {
            corpora.hashed_by_us()
        } else {
            corpora
        };
        question.check_embeddings()?;
        match question.embedding {
            Some(embedding) => corpora.check_embedding(embedding, question.embedding_model)?,
            None if settings.require_embedding => return Err(Error::EmbeddingRequired),
            None => {}
        }
        Ok(Self {
            tenant,
            conversation,
            question,
            corpora,
            settings,
            roles,
        })
    }

    /// Reads the earlier turns of the conversation that the intent and the plan depend on.
    fn read_earlier_turns(&self, reader: &mut Reader) -> Result<TurnQuery<'a>> {
        let (question, corpus) = (self.question, &self.corpora.first.corpus);
        let turn_query = TurnQuery {
            query: question.query,
            rewrite: question.rewrite,
            embedding: question.embedding,
            context_embedding: question.context_embedding,
            ..TurnQuery::default()
        };
        let earlier = stage("memory", || {
            let earlier = earlier_turns::earlier(
                self.conversation.conversation_id,
                &corpus.name,
                self.settings.query_history,
                question.repeated_turn_no,
                self.settings.fusion.ranks_earlier_results(),
            )?;
            visibility::without_hidden_answers(reader, earlier)
        })?;
        stage("earlier turns", || {
            prior_turns::add(corpus, turn_query, earlier)
        })
    }

    /// Determines the intent: given by the caller, otherwise by the intent function, otherwise by cues. The function is not called
    /// for the first turn, which has no earlier turns.
    fn judge_intent(
        &self,
        turn_query: &TurnQuery<'_>,
        named: &[NamedSource],
    ) -> Result<JudgedIntent> {
        let TurnQuery { query, earlier, .. } = turn_query;
        let function = self.settings.intent_function.as_deref();
        let verdict = match (self.question.intent, function) {
            (Some(intent), _) => Some(Verdict::from(intent)),
            (None, Some(name)) if !earlier.is_empty() => {
                hooks::judge_intent(name, &self.roles, query, earlier)?
            }
            _ => None,
        };
        let is_given = verdict.is_some();
        let markers = certain_markers(named);
        Ok(intent::classify(query, earlier, verdict).naming(&markers, is_given))
    }

    /// Searches: plans, requests the lists, and gathers the candidates. Also returns the query expansion.
    fn search(
        &self,
        turn_query: &TurnQuery<'_>,
        judged: &JudgedIntent,
        named: &[NamedSource],
    ) -> Result<(Gathered, Value)> {
        let settings = &self.settings;
        let plan = stage("plan", || plan(turn_query, judged, settings));
        let Scope { corpus, filter } = &self.corpora.first;
        let Nominated { nodes, list } =
            neighbours::of(corpus, turn_query, judged.intent, filter, settings)?;
        let live = stage("memory", || {
            sources::load(self.conversation.conversation_id)
        })?;
        let live = named_sources::add(live, named);
        let (results, carried) = self.lists(&plan, list, live)?;
        let missing_words = missing_words(turn_query);
        let known = KnownPassages::default();
        let gathered = self.candidates(&plan, results, carried, known, (judged, missing_words));
        let mut query_expansion = plan.trace(&nodes);
        if !self.corpora.beside.is_empty() {
            query_expansion["corpora"] = json!(self.corpora.names());
        }
        Ok((gathered, query_expansion))
    }

    /// Searches for the query without the conversation.
    fn search_alone(&self, context: &[ContextSource]) -> Result<Gathered> {
        let question = self.question;
        let judged = intent::classify(question.query, &[], None);
        let embedding = question.embedding.map(<[f32]>::to_vec);
        let plan = RetrievalPlan::alone(Some(question.query), embedding, &self.settings);
        let (results, carried) = self.lists(&plan, None, Vec::new())?;
        let known = passages_of(context).collect();
        Ok(self.candidates(&plan, results, carried, known, (&judged, 0)))
    }

    /// Requests the lists of every corpus, and the passages of the remembered sources `live`. `nominated` are the candidates of
    /// the knowledge graph.
    fn lists(
        &self,
        plan: &RetrievalPlan,
        nominated: Option<RankedList>,
        live: Vec<StoredSource>,
    ) -> Result<(SearchResults, Vec<CarriedInput>)> {
        let settings = &self.settings;
        let (mut results, mut options) =
            lists::of_corpus(&self.corpora.first, plan, nominated, &live, settings)?;
        // The graph and the results of earlier turns belong to the first corpus.
        let plan_of_others = RetrievalPlan {
            historical: Vec::new(),
            ..plan.clone()
        };
        for scope in &self.corpora.beside {
            let (other, more) = lists::of_corpus(scope, &plan_of_others, None, &live, settings)?;
            options.extend(more);
            multi_corpus::merge_results(
                &mut results,
                &scope.corpus.name,
                other,
                settings.candidates,
            );
        }
        // The first corpus may have no embeddings.
        results.metric = self.corpora.metric();
        self.add_other_corpora(&mut options, plan, &live)?;
        let mut carried = remembered::carried(live, &options);
        for scope in &self.corpora.beside {
            multi_corpus::use_handles(&mut carried, &scope.corpus.name);
        }
        Ok((results, carried))
    }

    /// Fuses the lists, collapses and cuts the candidates, and adds the carried sources.
    fn candidates(
        &self,
        plan: &RetrievalPlan,
        mut results: SearchResults,
        carried: Vec<CarriedInput>,
        known: KnownPassages,
        (judged, missing_words): (&JudgedIntent, usize),
    ) -> Gathered {
        results.time = self.question.time();
        let input = GatherInput {
            results,
            carried,
            had: known,
            judged: judged.clone(),
            words: QueryWords::of(&plan.lexical),
            missing_words,
        };
        stage("gather", || begin::gather(input, &self.settings))
    }

    /// Adds the passages of remembered sources from corpora that this turn does not search. A filter leaves them out: its columns are
    /// those of the searched corpora.
    fn add_other_corpora(
        &self,
        options: &mut Options,
        plan: &RetrievalPlan,
        live: &[StoredSource],
    ) -> Result<()> {
        if self.question.filter.is_some() {
            return Ok(());
        }
        let metric = self.corpora.metric();
        for name in remembered::other_corpora(live, &self.corpora.names()) {
            options.extend(stage("other corpora", || {
                let as_of = self.question.as_of;
                remembered::in_other_corpus(
                    self.tenant,
                    (name.as_str(), as_of),
                    plan,
                    live,
                    metric,
                    &self.settings,
                )
            })?);
        }
        Ok(())
    }

    /// Sources that earlier answers have cited, by their facts, if the caller may still read them.
    fn remembered_facts(&self) -> Result<Vec<ContextSource>> {
        let before = self.question.repeated_turn_no;
        let conversation_id = self.conversation.conversation_id;
        let count = remembered_facts::cited_sources(&self.settings);
        let cited = history::cited_sources(conversation_id, before, count)?;
        let filtered = self.question.filter.is_some();
        let passages = reused_context::current_passages(
            self.tenant,
            &self.corpora,
            filtered,
            &self.settings,
            remembered_facts::passages_of(&cited),
        )?;
        Ok(remembered_facts::remembered_facts(
            cited,
            &passages,
            filtered,
            &self.settings,
        ))
    }

    /// Gathers the existing sources in place of a search.
    fn reuse_sources(&self, state: &ConversationState, named: &[NamedSource]) -> Result<Gathered> {
        let (conversation_id, question) = (self.conversation.conversation_id, self.question);
        let live = stage("memory", || sources::load(conversation_id))?;
        let live = named_sources::add(live, named);
        let context_turn_no = state.before.context_turn_no;
        let shown = context_turn_no.map(|turn_no| history::shown(conversation_id, turn_no));
        let added =
            history::handed_over(conversation_id, context_turn_no, question.repeated_turn_no)?;
        let query = question.rewrite.unwrap_or(question.query);
        let embedding = question.embedding.map(<[f32]>::to_vec);
        let reuse = reused_context::Reuse {
            tenant: self.tenant,
            corpora: &self.corpora,
            filtered: question.filter.is_some(),
            plan: RetrievalPlan::alone(Some(query), embedding, &self.settings),
            settings: &self.settings,
        };
        let input = stage("reused passages", || {
            reused_context::read(&reuse, shown.transpose()?.flatten(), added, live)
        })?;
        Ok(stage("gather", || reuse_context(input, &self.settings)))
    }
}
