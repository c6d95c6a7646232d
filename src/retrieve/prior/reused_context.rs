//! The context of a turn that does not retrieve: the sources of an earlier context and the pins, as the caller may read them
//! now.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::reuse_context::{ReuseInput, passages_of};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::Passage;
use reground_grounding::passage::identity::PassageId;
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::query::query_words::QueryWords;
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::retrieve::corpus_scope::{Corpora, Scope};
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::Wanted;
use crate::retrieve::remembered::{self, Options};
use crate::retrieve::{passages, past};
use crate::store::history::Shown;
use crate::store::sources::StoredSource;

/// A turn that reuses a context.
pub struct Reuse<'a> {
    pub tenant: &'a str,
    pub corpora: &'a Corpora,
    /// Whether there is a filter. It excludes sources of other corpora.
    pub filtered: bool,
    /// Scores the passages of the pins.
    pub plan: RetrievalPlan,
    pub settings: &'a Settings,
}

/// Reads the passages of a context and of the pins. Only pins are scored, because a pinned document contributes its best
/// passage. Sources that were `added` later are complete, because they are stored with the turn only.
pub fn read(
    reuse: &Reuse<'_>,
    shown: Option<Shown>,
    added: Vec<ContextSource>,
    live: Vec<StoredSource>,
) -> Result<ReuseInput> {
    let (context, order) = match shown {
        Some(shown) => (shown.context, Some(shown.passage_order)),
        None => (Vec::new(), None),
    };
    let is_pin = |live: &StoredSource| live.source.pinned || live.asked.is_some();
    let pins: Vec<StoredSource> = live.into_iter().filter(is_pin).collect();
    Ok(ReuseInput {
        passages: current_passages(
            reuse.tenant,
            reuse.corpora,
            reuse.filtered,
            reuse.settings,
            passages_of(&context),
        )?,
        context,
        order,
        added,
        filtered: reuse.filtered,
        metric: reuse.corpora.metric(),
        pins: {
            let options = scored_pins(reuse, &pins)?;
            remembered::carried(pins, &options)
        },
        words: QueryWords::of(&reuse.plan.lexical),
        warnings: Vec::new(),
    })
}

/// Returns the passages that still exist and that the caller may read. Under a filter, only those of `corpora`.
pub fn current_passages(
    tenant: &str,
    corpora: &Corpora,
    filtered: bool,
    settings: &Settings,
    wanted: impl Iterator<Item = PassageId>,
) -> Result<BTreeMap<PassageId, Passage>> {
    let mut by_corpus: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for id in wanted {
        by_corpus.entry(id.corpus).or_default().insert(id.chunk_id);
    }
    let everything = Filter::default();
    let as_of = corpora.as_of.as_deref();
    let mut found = BTreeMap::new();
    for (name, keys) in by_corpus {
        let scope = corpora.scopes().find(|s| s.corpus.name == name);
        let passages = if let Some(Scope { corpus, filter }) = scope {
            passages::by_key(corpus, filter, &keys)?
        } else if filtered {
            continue;
        } else if let Some(corpus) = past::usable(settings, tenant, &name, as_of)? {
            passages::by_key(&corpus, &everything, &keys)?
        } else {
            continue;
        };
        let ids = passages.into_values();
        found.extend(ids.map(|passage| (PassageId::of(&passage), passage)));
    }
    Ok(found)
}

/// Returns the passages of the pins, scored for the query.
fn scored_pins(reuse: &Reuse<'_>, pins: &[StoredSource]) -> Result<Options> {
    let mut options = Options::new();
    if pins.is_empty() {
        return Ok(options);
    }
    let plan = &reuse.plan;
    for Scope { corpus, filter } in reuse.corpora.scopes() {
        let wanted = Wanted::of(pins, &corpus.name);
        if wanted.is_empty() {
            continue;
        }
        let embedding = plan.embedding.as_deref();
        options.extend(remembered::scored(
            corpus,
            filter,
            &wanted,
            plan,
            embedding,
            reuse.settings,
        )?);
    }
    if !reuse.filtered {
        for name in remembered::other_corpora(pins, &reuse.corpora.names()) {
            let metric = reuse.corpora.metric();
            options.extend(remembered::in_other_corpus(
                reuse.tenant,
                (name.as_str(), reuse.corpora.as_of.as_deref()),
                plan,
                pins,
                metric,
                reuse.settings,
            )?);
        }
    }
    Ok(options)
}
