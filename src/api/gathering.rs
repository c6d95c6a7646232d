//! What a turn gathers before it has a context: everything is read here, as far as a reranker's candidates.

use std::collections::BTreeSet;

use reground_grounding::begin::{self, GatherInput, Gathered};
use reground_grounding::intent::{self, Intent, Judged, Verdict};
use reground_grounding::keep::keep;
use reground_grounding::memory::Register;
use reground_grounding::plan::{Asking, plan};
use reground_grounding::settings::Settings;
use reground_grounding::warnings::Warning;
use serde_json::{Value, json};

use crate::api::footing::Footing;
use crate::api::hooks;
use crate::error::{Error, Result};
use crate::guc;
use crate::profile::{stage, timed};
use crate::retrieve::earlier::{self, Before};
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::Wanted;
use crate::retrieve::neighbours::{self, Nominated};
use crate::retrieve::turn::{Searched, carried, elsewhere, others, remembered, search};
use crate::retrieve::{kept, nearest, passages};
use crate::store::conversations::Conversation;
use crate::store::corpora::{self, Corpus};
use crate::store::roles::Roles;
use crate::store::{history, register, sources, turns};

/// What is asked of a turn.
pub(super) struct Question<'a> {
    pub query: &'a str,
    pub corpus: Option<&'a str>,
    pub embedding: Option<&'a [f32]>,
    pub filter: Option<&'a Value>,
    pub rewrite: Option<&'a str>,
    /// What the caller says that it is after.
    pub intent: Option<Intent>,
    /// The settings of the call.
    pub settings: &'a Value,
    /// Number of the turn that it is asked instead of; `None` for the conversation's next.
    pub instead_of: Option<i32>,
}

/// What the rest of a turn needs to know besides the gathered candidates.
pub(super) struct Known {
    pub corpus: Corpus,
    pub settings: Settings,
    pub judged: Judged,
    /// What was searched for beside the query.
    pub retrieval: Value,
    pub register: Register,
    pub footing: Footing,
    /// Microseconds that the search took; `None` where the turn keeps the sources that there are.
    pub refresh_us: Option<i32>,
    /// Roles that functions of the application are called as.
    pub roles: Roles,
}

impl Known {
    /// Whether the turn retrieved.
    pub fn fresh(&self) -> bool {
        self.refresh_us.is_some()
    }
}

/// Gathers for a turn.
pub(super) fn gather(
    tenant: &str,
    conversation: &Conversation,
    question: &Question<'_>,
) -> Result<(Known, Gathered)> {
    let corpus = stage("corpus", || {
        corpora::load(tenant, &corpus_name(tenant, conversation, question)?)
    })?;
    let settings = Settings::resolve(&[
        ("server", &guc::turn_settings()),
        ("corpus", &corpus.settings),
        ("conversation", &conversation.settings),
        ("call", question.settings),
    ])?;
    let corpus = if settings.hashes_texts() {
        corpus.hashed_by_us()
    } else {
        corpus
    };
    if let Some(embedding) = question.embedding {
        nearest::check_dimensions(&corpus, embedding)?;
    } else if settings.require_embedding {
        return Err(Error::EmbeddingRequired);
    }
    let roles = hooks::roles(question.settings, conversation, &corpus);
    let earlier = stage("memory", || {
        turns::earlier(
            conversation.conversation_id,
            &corpus.name,
            settings.query_history,
            question.instead_of,
        )
    })?;
    let before = stage("earlier turns", || {
        earlier::read(&corpus, question.query, question.embedding, earlier)
    })?;
    let footing = stage("strategy", || {
        Footing::of(conversation, question.instead_of)
    })?;
    let fresh = stage("strategy", || footing.retrieves(&settings))?;
    let judged = stage("intent", || judge(question, &before, &settings, &roles))?;

    let asked = Asked {
        tenant,
        conversation,
        question,
        corpus: &corpus,
        settings: &settings,
        filter: Filter::resolve(&corpus, question.filter)?,
    };
    let (gathered, mut retrieval, refresh_us) = if fresh {
        let (found, took) = timed(|| asked.search(&judged, &before));
        let (gathered, retrieval) = found?;
        (gathered, retrieval, Some(took))
    } else {
        (asked.keep(&footing)?, json!({}), None)
    };
    if let Some(rewrite) = question.rewrite {
        retrieval["rewrite"] = json!(rewrite);
    }
    let register = stage("memory", || {
        register::load(conversation, &gathered, settings.marker_style)
    })?;
    let known = Known {
        corpus,
        settings,
        judged,
        retrieval,
        register,
        footing,
        refresh_us,
        roles,
    };
    Ok((known, gathered))
}

/// The corpus that is asked, that of the previous turn, or the only one there is.
fn corpus_name(
    tenant: &str,
    conversation: &Conversation,
    question: &Question<'_>,
) -> Result<String> {
    if let Some(name) = question.corpus.or(conversation.corpus.as_deref()) {
        return Ok(name.to_owned());
    }
    let mut names = corpora::names(tenant)?;
    match names.len() {
        1 => Ok(names.swap_remove(0)),
        0 => Err(Error::AmbiguousCorpus("there is no corpus yet".into())),
        _ => Err(Error::AmbiguousCorpus(
            "the first turn of a conversation must name its corpus".into(),
        )),
    }
}

/// Judges the intent: the caller's word, then the function's. A first turn has nothing to follow, so none is called for it.
fn judge(
    question: &Question<'_>,
    before: &Before,
    settings: &Settings,
    roles: &Roles,
) -> Result<Judged> {
    let said = match (question.intent, settings.intent_function.as_deref()) {
        (Some(intent), _) => Some(Verdict::from(intent)),
        (None, Some(name)) if !before.past.is_empty() => {
            hooks::judge_intent(name, roles, question.query, &before.past)?
        }
        _ => None,
    };
    Ok(intent::classify(question.query, &before.past, said))
}

/// What is asked of the relations.
struct Asked<'a> {
    tenant: &'a str,
    conversation: &'a Conversation,
    question: &'a Question<'a>,
    corpus: &'a Corpus,
    settings: &'a Settings,
    filter: Filter,
}

impl Asked<'_> {
    /// Searches, and joins what the conversation remembers; with what was searched for.
    fn search(&self, judged: &Judged, before: &Before) -> Result<(Gathered, Value)> {
        let Self {
            tenant,
            conversation,
            question,
            corpus,
            settings,
            ref filter,
        } = *self;
        let asking = Asking {
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
            corpus,
            now.into_iter().flatten(),
            &before.past,
            judged.intent,
            filter,
            settings,
        )?;
        let live = stage("memory", || sources::load(conversation.conversation_id))?;

        let mut warnings = Vec::new();
        if question.embedding.is_none() {
            warnings.push(Warning::NoEmbedding);
        }
        let here = Wanted::of(&live, &corpus.name);
        let Searched {
            lists,
            scores,
            integrated,
            lacks_index,
        } = search(
            corpus,
            &plan,
            filter,
            &here,
            list,
            settings,
            settings.candidates,
        )?;
        if lacks_index {
            warnings.push(Warning::NoLexicalIndex);
        }
        let hits = lists.iter().flat_map(|list| &list.hits);
        let keys: BTreeSet<&String> = hits.map(|hit| &hit.key).chain(&here.passages).collect();
        let found = stage("passages", || passages::by_key(corpus, filter, keys))?;
        let options = stage("carried passages", || {
            let embedding = plan.embedding.as_deref();
            let mut options = remembered(corpus, embedding, filter, &here, &scores, &found)?;
            // Sources of other corpora: a filter on this one's columns says nothing of them, so under one they stay out.
            if question.filter.is_none() {
                for name in others(&live, &corpus.name) {
                    options.extend(elsewhere(tenant, &name, &plan, &live, settings)?);
                }
            }
            Ok::<_, Error>(options)
        })?;
        let input = GatherInput {
            lists,
            scores,
            integrated,
            passages: found,
            carried: carried(live, &options),
            judged: judged.clone(),
            metric: nearest::metric(corpus),
            warnings,
        };
        let gathered = stage("gather", || begin::gather(input, settings));
        Ok((gathered, plan.trace(&nodes)))
    }

    /// Keeps the sources that there are.
    fn keep(&self, footing: &Footing) -> Result<Gathered> {
        let (conversation_id, question) = (self.conversation.conversation_id, self.question);
        let live = stage("memory", || sources::load(conversation_id))?;
        let from = footing.before.context_from;
        let shown = from.map(|number| history::shown(conversation_id, number));
        let asking = kept::Asking {
            tenant: self.tenant,
            corpus: self.corpus,
            filter: &self.filter,
            filtered: question.filter.is_some(),
            query: question.rewrite.unwrap_or(question.query),
            embedding: question.embedding,
            settings: self.settings,
        };
        let input = stage("kept passages", || {
            kept::read(&asking, shown.transpose()?.flatten(), live)
        })?;
        Ok(stage("gather", || keep(input, self.settings)))
    }
}
