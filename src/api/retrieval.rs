//! What a turn gathers before it has a context: everything is read here, as far as a reranker's candidates.

use reground_grounding::begin::multi_corpus;
use reground_grounding::begin::reuse_context::{passages_of, reuse_context};
use reground_grounding::begin::warnings::Warning;
use reground_grounding::begin::{self, GatherInput, Gathered};
use reground_grounding::memory::{ContextSource, MarkerRegister};
use reground_grounding::passage::RankedList;
use reground_grounding::passage::identity;
use reground_grounding::query::intent::{self, Intent, JudgedIntent, Verdict};
use reground_grounding::query::plan::{RetrievalPlan, TurnQuery, plan};
use reground_grounding::settings::Settings;
use serde_json::{Value, json};

use crate::api::conversation_state::ConversationState;
use crate::api::hooks;
use crate::error::{Error, Result};
use crate::guc;
use crate::profile::{stage, timed};
use crate::retrieve::corpus_scope::Corpora;
use crate::retrieve::neighbours::{self, Nominated};
use crate::retrieve::prior_turns::{self, Before};
use crate::retrieve::reused_context;
use crate::retrieve::turn::{Answer, answer, carried, elsewhere, others};
use crate::store::conversations::Conversation;
use crate::store::corpora;
use crate::store::roles::Roles;
use crate::store::sources::Live;
use crate::store::{history, register, sources, turns};

/// What is asked of a turn.
pub(super) struct Question<'a> {
    pub query: &'a str,
    pub corpus: Option<&'a str>,
    /// Several, in place of one; the leading one first.
    pub corpora: Option<&'a [String]>,
    pub embedding: Option<&'a [f32]>,
    pub filter: Option<&'a Value>,
    pub rewrite: Option<&'a str>,
    /// What the caller says that it is after.
    pub intent: Option<Intent>,
    /// The settings of the call.
    pub settings: &'a Value,
    /// The roles that functions named there are called as; none for the caller.
    pub call_roles: Roles,
    /// Number of the turn that it is asked instead of; `None` for the conversation's next.
    pub instead_of: Option<i32>,
}

/// What the rest of a turn needs to know besides the gathered candidates.
pub(super) struct Known {
    pub corpora: Corpora,
    pub settings: Settings,
    pub judged: JudgedIntent,
    /// What was searched for beside the query.
    pub query_expansion: Value,
    pub register: MarkerRegister,
    pub footing: ConversationState,
    /// Microseconds that the search took; `None` where the turn keeps the sources that there are.
    pub search_us: Option<i32>,
    /// Roles that functions of the application are called as.
    pub roles: Roles,
}

impl Known {
    /// Whether the turn retrieved.
    pub fn fresh(&self) -> bool {
        self.search_us.is_some()
    }
}

/// Gathers for a turn.
pub(super) fn gather(
    tenant: &str,
    conversation: &Conversation,
    question: &Question<'_>,
) -> Result<(Known, Gathered)> {
    let asked = stage("corpus", || Asked::of(tenant, conversation, question))?;
    let (corpus, settings) = (&asked.corpora.first.corpus, &asked.settings);
    let earlier = stage("memory", || {
        turns::earlier(
            conversation.conversation_id,
            &corpus.name,
            settings.query_history,
            question.instead_of,
        )
    })?;
    let before = stage("earlier turns", || {
        prior_turns::read(corpus, question.query, question.embedding, earlier)
    })?;
    let footing = stage("strategy", || {
        ConversationState::of(conversation, question.instead_of)
    })?;
    let fresh = stage("strategy", || footing.retrieves(settings))?;
    let judged = stage("intent", || judge(&asked, &before))?;

    let (gathered, mut query_expansion, search_us) = if fresh {
        let (found, took) = timed(|| asked.search(&judged, &before));
        let (gathered, query_expansion) = found?;
        (gathered, query_expansion, Some(took))
    } else {
        (asked.keep(&footing)?, json!({}), None)
    };
    if let Some(rewrite) = question.rewrite {
        query_expansion["rewrite"] = json!(rewrite);
    }
    let register = stage("memory", || {
        register::load(conversation, gathered.documents(), settings.marker_style)
    })?;
    let known = Known {
        corpora: asked.corpora,
        settings: asked.settings,
        judged,
        query_expansion,
        register,
        footing,
        search_us,
        roles: asked.roles,
    };
    Ok((known, gathered))
}

/// What one more search of an open turn found, by its own words alone: nothing is carried.
pub(super) struct More {
    pub settings: Settings,
    pub roles: Roles,
    pub gathered: Gathered,
    /// Names of what was searched.
    pub corpora: Vec<String>,
    /// Microseconds that the search took.
    pub search_us: i32,
}

/// Gathers for one more search of an open turn, which has some sources already: of passages with the same text, those stand. Where
/// the `turn` hashes texts itself, so does the search, whatever the corpus says.
pub(super) fn gather_more(
    tenant: &str,
    conversation: &Conversation,
    question: &Question<'_>,
    had: &[ContextSource],
    turn: &Settings,
) -> Result<More> {
    let mut asked = stage("corpus", || Asked::of(tenant, conversation, question))?;
    if turn.hashes_texts() {
        asked.corpora = asked.corpora.hashed_by_us();
    }
    let (gathered, search_us) = timed(|| asked.search_alone(had));
    Ok(More {
        gathered: gathered?,
        search_us,
        corpora: asked.corpora.names(),
        settings: asked.settings,
        roles: asked.roles,
    })
}

/// What is asked, where, and how.
struct Asked<'a> {
    tenant: &'a str,
    conversation: &'a Conversation,
    question: &'a Question<'a>,
    corpora: Corpora,
    settings: Settings,
    /// Roles that functions of the application are called as.
    roles: Roles,
}

impl<'a> Asked<'a> {
    fn of(
        tenant: &'a str,
        conversation: &'a Conversation,
        question: &'a Question<'a>,
    ) -> Result<Self> {
        let names = corpus_names(tenant, conversation, question)?;
        let corpora = Corpora::load(tenant, &names, question.filter)?;
        let first = &corpora.first.corpus;
        let roles = hooks::roles(question, conversation, first);
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", &first.settings),
            ("conversation", &conversation.settings),
            ("call", question.settings),
        ])?;
        let corpora = if settings.hashes_texts() {
            corpora.hashed_by_us()
        } else {
            corpora
        };
        match question.embedding {
            Some(embedding) => corpora.check_dimensions(embedding)?,
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

    /// Searches, and joins what the conversation remembers; with what was searched for.
    fn search(&self, judged: &JudgedIntent, before: &Before) -> Result<(Gathered, Value)> {
        let (question, settings) = (self.question, &self.settings);
        let asking = TurnQuery {
            query: question.query,
            rewrite: question.rewrite,
            embedding: question.embedding,
            judged,
            earlier: &before.past,
        };
        let plan = stage("plan", || {
            plan(asking, &before.words, &before.said, settings)
        });
        let now = [Some(question.query), question.rewrite];
        let Nominated { nodes, list } = neighbours::of(
            &self.corpora.first.corpus,
            now.into_iter().flatten(),
            &before.past,
            judged.intent,
            &self.corpora.first.filter,
            settings,
        )?;
        let live = stage("memory", || {
            sources::load(self.conversation.conversation_id)
        })?;
        let gathered = self.ask(
            &plan,
            list,
            live,
            identity::KnownPassages::default(),
            judged,
        )?;
        let mut trace = plan.trace(&nodes);
        if !self.corpora.beside.is_empty() {
            trace["corpora"] = json!(self.corpora.names());
        }
        Ok((gathered, trace))
    }

    /// Searches for the query as it stands, as if nothing had been said before.
    fn search_alone(&self, had: &[ContextSource]) -> Result<Gathered> {
        let question = self.question;
        let judged = intent::classify(question.query, &[], None);
        let embedding = question.embedding.map(<[f32]>::to_vec);
        let plan = RetrievalPlan::alone(Some(question.query), embedding, &self.settings);
        self.ask(&plan, None, Vec::new(), passages_of(had).collect(), &judged)
    }

    /// Asks the branches of every corpus, and gathers what they give with the remembered sources.
    fn ask(
        &self,
        plan: &RetrievalPlan,
        nominated: Option<RankedList>,
        live: Vec<Live>,
        had: identity::KnownPassages,
        judged: &JudgedIntent,
    ) -> Result<Gathered> {
        let settings = &self.settings;
        let Answer {
            found,
            integrated,
            mut options,
            lacks_index,
        } = answer(&self.corpora.first, plan, nominated, &live, settings)?;
        let mut first = found;
        let mut warnings = Vec::new();
        if self.question.embedding.is_none() {
            warnings.push(Warning::NoEmbedding);
        }
        let mut lacks_index = lacks_index;
        // The graph and what earlier turns were shown are of the first corpus.
        let plain = RetrievalPlan {
            historical: Vec::new(),
            ..plan.clone()
        };
        for scope in &self.corpora.beside {
            let other = answer(scope, &plain, None, &live, settings)?;
            lacks_index |= other.lacks_index;
            options.extend(other.options);
            let name = &scope.corpus.name;
            multi_corpus::merge_results(&mut first, name, other.found, settings.candidates);
        }
        if lacks_index {
            warnings.push(Warning::NoLexicalIndex);
        }
        // Sources of other corpora: a filter on columns of these says nothing of them, so under one they stay out.
        if self.question.filter.is_none() {
            for name in others(&live, &self.corpora.names()) {
                let there = stage("carried from elsewhere", || {
                    elsewhere(
                        self.tenant,
                        &name,
                        plan,
                        &live,
                        self.corpora.metric(),
                        settings,
                    )
                })?;
                options.extend(there);
            }
        }
        let mut carried = carried(live, &options);
        for scope in &self.corpora.beside {
            multi_corpus::use_handles(&mut carried, &scope.corpus.name);
        }
        let input = GatherInput {
            lists: first.lists,
            scores: first.scores,
            integrated,
            passages: first.passages,
            carried,
            had,
            judged: judged.clone(),
            metric: self.corpora.metric(),
            warnings,
        };
        Ok(stage("gather", || begin::gather(input, settings)))
    }

    /// Keeps the sources that there are.
    fn keep(&self, footing: &ConversationState) -> Result<Gathered> {
        let (conversation_id, question) = (self.conversation.conversation_id, self.question);
        let live = stage("memory", || sources::load(conversation_id))?;
        let from = footing.before.context_turn_no;
        let shown = from.map(|turn_no| history::shown(conversation_id, turn_no));
        let added = history::handed_over(conversation_id, from, question.instead_of)?;
        let asking = reused_context::Asking {
            tenant: self.tenant,
            corpora: &self.corpora,
            filtered: question.filter.is_some(),
            query: question.rewrite.unwrap_or(question.query),
            embedding: question.embedding,
            settings: &self.settings,
        };
        let input = stage("kept passages", || {
            reused_context::read(&asking, shown.transpose()?.flatten(), added, live)
        })?;
        Ok(stage("gather", || reuse_context(input, &self.settings)))
    }
}

/// The corpora that are asked, those of the previous turn, or the only one there is.
fn corpus_names(
    tenant: &str,
    conversation: &Conversation,
    question: &Question<'_>,
) -> Result<Vec<String>> {
    match (question.corpus, question.corpora) {
        (Some(_), Some(_)) => {
            return Err(Error::Bad {
                argument: "corpora",
                fault: "corpus was given too".into(),
                hint: "Name one as corpus, or all of them as corpora, the leading one first."
                    .into(),
            });
        }
        (Some(name), None) => return Ok(vec![name.to_owned()]),
        (None, Some([])) => {
            return Err(Error::Bad {
                argument: "corpora",
                fault: "it is empty".into(),
                hint: "Name at least one corpus, or leave it out.".into(),
            });
        }
        (None, Some(names)) => return Ok(names.to_vec()),
        (None, None) => {}
    }
    if let Some(names) = conversation.corpora() {
        return Ok(names);
    }
    let names = corpora::names(tenant)?;
    match names.len() {
        1 => Ok(names),
        0 => Err(Error::AmbiguousCorpus("there is no corpus yet".into())),
        _ => Err(Error::AmbiguousCorpus(
            "the first turn of a conversation must name its corpus".into(),
        )),
    }
}

/// Judges the intent: the caller's word, then the function's. A first turn has nothing to follow, so none is called for it.
fn judge(asked: &Asked<'_>, before: &Before) -> Result<JudgedIntent> {
    let question = asked.question;
    let said = match (question.intent, asked.settings.intent_function.as_deref()) {
        (Some(intent), _) => Some(Verdict::from(intent)),
        (None, Some(name)) if !before.past.is_empty() => {
            hooks::judge_intent(name, &asked.roles, question.query, &before.past)?
        }
        _ => None,
    };
    Ok(intent::classify(question.query, &before.past, said))
}
