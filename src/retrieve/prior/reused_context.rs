//! The context of a turn that does not retrieve: the sources of an earlier context and the pins, as the caller may read them
//! now.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::fuse::BranchScores;
use reground_grounding::begin::reuse_context::{ReuseInput, passages_of};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::Passage;
use reground_grounding::passage::identity::PassageId;
use reground_grounding::query::plan::RetrievalPlan;
use reground_grounding::settings::Settings;

use crate::error::Result;
use crate::retrieve::corpus_scope::{Corpora, Scope};
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, LexicalStrategy, Wanted};
use crate::retrieve::passages;
use crate::retrieve::turn::{Options, carried, in_other_corpus, other_corpora, remembered};
use crate::store::corpora;
use crate::store::history::Shown;
use crate::store::sources::Live;

/// A turn that reuses a context.
pub struct Asking<'a> {
    pub tenant: &'a str,
    pub corpora: &'a Corpora,
    /// Whether there is a filter. It excludes sources of other corpora.
    pub filtered: bool,
    pub query: &'a str,
    pub embedding: Option<&'a [f32]>,
    pub settings: &'a Settings,
}

/// Reads the passages of a context and of the pins. Only pins are scored, because a pinned document contributes its best
/// passage. Sources that were `added` later are complete, because they are stored with the turn only.
pub fn read(
    asking: &Asking<'_>,
    shown: Option<Shown>,
    added: Vec<ContextSource>,
    live: Vec<Live>,
) -> Result<ReuseInput> {
    let (context, order) = match shown {
        Some(shown) => (shown.context, Some(shown.passage_order)),
        None => (Vec::new(), None),
    };
    let pins: Vec<Live> = live.into_iter().filter(|live| live.source.pinned).collect();
    Ok(ReuseInput {
        passages: current_passages(asking, passages_of(&context).collect())?,
        context,
        order,
        added,
        filtered: asking.filtered,
        metric: asking.corpora.metric(),
        pins: {
            let options = scored_pins(asking, &pins)?;
            carried(pins, &options)
        },
        warnings: Vec::new(),
    })
}

/// Returns the passages that still exist.
fn current_passages(
    asking: &Asking<'_>,
    wanted: BTreeSet<PassageId>,
) -> Result<BTreeMap<PassageId, Passage>> {
    let mut by_corpus: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in wanted {
        by_corpus.entry(id.corpus).or_default().push(id.chunk_id);
    }
    let everything = Filter::default();
    let mut found = BTreeMap::new();
    for (name, keys) in by_corpus {
        let scope = asking.corpora.scopes().find(|s| s.corpus.name == name);
        let passages = if let Some(Scope { corpus, filter }) = scope {
            passages::by_key(corpus, filter, &keys)?
        } else if asking.filtered {
            continue;
        } else if let Some(corpus) = corpora::usable_under(asking.settings, asking.tenant, &name)? {
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
fn scored_pins(asking: &Asking<'_>, pins: &[Live]) -> Result<Options> {
    let mut options = Options::new();
    if pins.is_empty() {
        return Ok(options);
    }
    let plan = RetrievalPlan::alone(
        Some(asking.query),
        asking.embedding.map(<[f32]>::to_vec),
        asking.settings,
    );
    for Scope { corpus, filter } in asking.corpora.scopes() {
        let wanted = Wanted::of(pins, &corpus.name);
        if wanted.is_empty() {
            continue;
        }
        let strategy = LexicalStrategy::of(corpus, asking.settings.lexical_search)?;
        let ranked = lexical::rank(corpus, &plan.lexical, filter, &wanted, &strategy, 0)?;
        let scores = BranchScores {
            lexical: ranked
                .into_iter()
                .flat_map(|ranked| ranked.wanted)
                .collect(),
            ..BranchScores::default()
        };
        let found = passages::by_key(corpus, filter, &wanted.chunk_ids)?;
        options.extend(remembered(
            corpus,
            asking.embedding,
            filter,
            &wanted,
            &scores,
            &found,
        )?);
    }
    if !asking.filtered {
        for name in other_corpora(pins, &asking.corpora.names()) {
            let metric = asking.corpora.metric();
            options.extend(in_other_corpus(
                asking.tenant,
                &name,
                &plan,
                pins,
                metric,
                asking.settings,
            )?);
        }
    }
    Ok(options)
}
