//! Selects the earlier sources that a turn carries, depending on the intent.
//!
//! Two separate quantities are used. `relevance` refers to this query, has no decay, and decides *whether* a source is
//! carried. `carry_score` is memory and affects only the order, which is relevance × carry_score. Neither changes the
//! fused score.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::begin::relevance::Scale;
use crate::begin::warnings::Warning;
use crate::memory::{BoundMarker, RememberedSource};
use crate::passage::identity::{PassageId, twins};
use crate::passage::{Candidate, Dropped, Origin, Passage, Reason, Stage};
use crate::query::intent::{Dependency, Intent, JudgedIntent};
use crate::settings::Settings;

/// A remembered source with the passages that its key names now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedInput {
    /// The remembered source.
    pub source: RememberedSource,
    /// The current passage, or every passage of a pinned document. Empty if it is deleted or invisible.
    pub options: Vec<CarriedOption>,
    /// Seconds since its last use, for `carry_max_age`.
    #[serde(default)]
    pub age: Option<f64>,
    /// The marker by which the question names it. It is then in the context like a pin, for this turn, with the text that
    /// the marker is bound to.
    #[serde(default)]
    pub asked: Option<BoundMarker>,
}

/// A current passage of a remembered source, scored against this turn's query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedOption {
    /// The current passage.
    pub passage: Passage,
    /// The name of the passage in this turn's lists. `None` if the lists do not cover its corpus, so that a key shared
    /// by two corpora is not taken for one passage.
    pub handle: Option<String>,
    /// BM25 score for the turn's query.
    pub lexical_score: Option<f64>,
    /// Vector distance to the turn's embedding.
    pub vector_distance: Option<f64>,
}

/// The effect of an intent on carry-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Whether sources other than pins are carried.
    pub carries: bool,
    /// Slots reserved for pinned and carried sources.
    pub reserved_slots: usize,
    /// Whether the turn cannot be understood alone. Relevance to its words then does not show the subject, so the most
    /// relevant source that the last answer cited is carried whatever the threshold.
    #[serde(default)]
    pub anchors: bool,
}

impl Effect {
    /// The effect of a judgement: `new_topic` carries pins only, `same_sources` doubles the reserved slots.
    #[must_use]
    pub fn of(judged: &JudgedIntent, settings: &Settings) -> Self {
        let factor = if judged.intent == Intent::SameSources {
            2
        } else {
            1
        };
        let carries = settings.carry_over && judged.intent != Intent::NewTopic;
        Self {
            carries,
            reserved_slots: settings.reserved_slots.saturating_mul(factor),
            anchors: carries && judged.dependency == Dependency::Hard,
        }
    }
}

/// The result of carry-over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// Pins in pin order, then sources that the question names, whether or not retrieval found them too.
    pub pins: Vec<Candidate>,
    /// Carried sources ordered by relevance × carry score, without those that a fresh candidate covers.
    pub carried: Vec<Candidate>,
    /// Sources that were not carried.
    pub dropped: Vec<Dropped>,
    /// Changed texts and lost pins.
    pub warnings: Vec<Warning>,
}

/// Carries the remembered sources beside the `fresh` candidates (within the rerank cut) and those `beyond` it.
///
/// - A source that a fresh candidate covers counts as fresh: the candidate takes over its carry score, and the carried
///   duplicate is dropped as `found_fresh`. If the source is pinned, the candidate moves to the pins.
/// - A source that retrieval found beyond the cut keeps its ranks and is removed from `beyond`.
/// - A source with a changed text keeps its place with the new text and a warning. A key that now belongs to another
///   document is dropped as `changed`, because the conversation never saw that document's text.
#[must_use]
pub fn carry(
    fresh: &mut Vec<Candidate>,
    beyond: &mut Vec<Candidate>,
    inputs: Vec<CarriedInput>,
    scale: &Scale,
    effect: Effect,
    settings: &Settings,
) -> Carried {
    let mut out = Carried::default();
    let anchor = anchor(&inputs, scale, effect);
    for input in in_order(inputs) {
        let (source, asked) = (input.source.clone(), input.asked.clone());
        let candidate = match choose(input, scale, effect, settings, &mut out.warnings) {
            Ok(candidate) => Candidate {
                anchors: anchor.as_ref() == Some(&source),
                ..candidate
            },
            Err(dropped) => {
                let gone = match &asked {
                    _ if source.pinned => Some(Warning::PinGone {
                        doc_id: source.doc_id,
                        chunk_id: source.chunk_id,
                    }),
                    Some(BoundMarker { marker, .. }) => Some(Warning::NamedGone {
                        marker: marker.clone(),
                    }),
                    None => None,
                };
                out.warnings.extend(gone);
                out.dropped.extend(dropped.map(|dropped| *dropped));
                continue;
            }
        };
        if source.pinned || asked.is_some() {
            pin(candidate, asked.as_ref(), fresh, beyond, &mut out, settings);
        } else {
            carry_one(candidate, fresh, beyond, &mut out, effect, settings);
        }
    }
    out.carried.sort_by(|a, b| {
        priority(b)
            .total_cmp(&priority(a))
            .then_with(|| a.passage.chunk_id.cmp(&b.passage.chunk_id))
    });
    out
}

/// The order of carried sources: relevance × carry score.
#[must_use]
pub fn priority(candidate: &Candidate) -> f64 {
    candidate.relevance * candidate.carry_score.unwrap_or_default()
}

/// Whether a candidate may take a reserved slot: the conversation knows it and it is relevant enough.
#[must_use]
pub fn eligible(candidate: &Candidate, effect: Effect, settings: &Settings) -> bool {
    effect.carries
        && candidate.carry_score.is_some()
        && (candidate.anchors || candidate.relevance >= settings.carry_threshold)
}

/// The subject of a turn that cannot be understood alone: the most relevant of the sources that the last answer cited.
fn anchor(inputs: &[CarriedInput], scale: &Scale, effect: Effect) -> Option<RememberedSource> {
    let cited = inputs.iter().filter(|input| {
        let source = &input.source;
        effect.anchors && source.cited && source.inactive_turns == 0 && !source.pinned
    });
    let scored = cited.filter_map(|input| {
        let relevance = input.options.iter().map(|option| relevance(option, scale));
        Some((relevance.reduce(f64::max)?, &input.source))
    });
    let name = |source: &RememberedSource| (source.corpus.clone(), source.chunk_id.clone());
    scored
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| name(b.1).cmp(&name(a.1))))
        .map(|(_, source)| source.clone())
}

/// The relevance of one passage of a source.
fn relevance(option: &CarriedOption, scale: &Scale) -> f64 {
    let fresh = option.handle.as_deref().map(|handle| scale.fresh(handle));
    scale
        .carried(option.lexical_score, option.vector_distance)
        .max(fresh.unwrap_or_default())
}

/// Sorts pins first, in pin order, then the sources that the question names. The order of the others has no effect but is total.
fn in_order(mut inputs: Vec<CarriedInput>) -> Vec<CarriedInput> {
    inputs.sort_by(|a, b| {
        let rank = |input: &CarriedInput| {
            let source = &input.source;
            (
                !source.pinned,
                input.asked.is_none(),
                source.pin_order.unwrap_or(i64::MAX),
            )
        };
        let name = |s: &RememberedSource| (s.corpus.clone(), s.doc_id.clone(), s.chunk_id.clone());
        rank(a)
            .cmp(&rank(b))
            .then_with(|| name(&a.source).cmp(&name(&b.source)))
    });
    inputs
}

/// The most relevant passage of a source, or the reason why there is none. A source without any passage is reported
/// with the little that memory holds.
fn choose(
    input: CarriedInput,
    scale: &Scale,
    effect: Effect,
    settings: &Settings,
    warnings: &mut Vec<Warning>,
) -> Result<Candidate, Option<Box<Dropped>>> {
    let CarriedInput {
        source,
        options,
        age,
        asked,
    } = input;
    let scored = options
        .into_iter()
        .map(|option| (relevance(&option, scale), option))
        .max_by(|a, b| {
            a.0.total_cmp(&b.0)
                .then_with(|| b.1.passage.chunk_id.cmp(&a.1.passage.chunk_id))
        });
    let Some((relevance, option)) = scored else {
        return Err(Some(Box::new(dropped(remembered(&source), Reason::Gone))));
    };
    let candidate = Candidate {
        lexical_score: option.lexical_score,
        vector_distance: option.vector_distance,
        relevance,
        carry_score: Some(source.carry_score),
        ..Candidate::bare(option.passage, source.origin())
    };
    if candidate.passage.doc_id != source.doc_id {
        return Err(Some(Box::new(dropped(candidate, Reason::Changed))));
    }
    let too_old = matches!((age, settings.carry_max_age), (Some(age), Some(most)) if age > most);
    if too_old && !source.pinned && asked.is_none() && effect.carries {
        return Err(Some(Box::new(dropped(candidate, Reason::Expired))));
    }
    let mut changed = source
        .content_hash
        .as_ref()
        .is_some_and(|hash| *hash != candidate.passage.content_hash);
    let mut candidate = candidate;
    if let Some(bound) = asked {
        match candidate.passage.bound_text(&bound) {
            Some(text) => candidate.passage = text,
            None => changed |= !is_merged(&bound, &candidate.passage),
        }
    }
    if changed && !source.chunk_id.is_empty() {
        warnings.push(Warning::SourceChanged {
            doc_id: source.doc_id,
            chunk_id: candidate.passage.chunk_id.clone(),
        });
    }
    Ok(candidate)
}

/// Whether a marker is bound to a text that was merged from the passage and others.
fn is_merged(bound: &BoundMarker, passage: &Passage) -> bool {
    let ranges = bound.chars.zip(passage.chars);
    ranges.is_some_and(|(bound, row)| !row.holds(bound))
}

/// Puts a candidate among the pins, with the ranks of the fresh candidate that covers it. A named source keeps its text.
fn pin(
    mut candidate: Candidate,
    asked: Option<&BoundMarker>,
    fresh: &mut Vec<Candidate>,
    beyond: &mut Vec<Candidate>,
    out: &mut Carried,
    settings: &Settings,
) {
    if let Some(other) = find_pin(&candidate.passage, &out.pins, settings) {
        let into = out.pins.get(other).map(|pin| pin.passage.chunk_id.clone());
        out.dropped.push(Dropped {
            into,
            ..dropped(candidate, Reason::Twin)
        });
        return;
    }
    if candidate.origin == Origin::Pinned && out.pins.len() >= settings.max_pinned {
        out.dropped.push(dropped(candidate, Reason::PinOverCap));
        return;
    }
    for list in [fresh, beyond] {
        let Some(index) = find_same(&candidate.passage, list, settings) else {
            continue;
        };
        let other_text = |found: &&Candidate| {
            asked.is_some_and(|bound| bound.content_hash != found.passage.content_hash)
        };
        let own = list.get(index).filter(other_text).is_some();
        if own && list.get(index).is_some_and(Candidate::is_merged) {
            // The other passages of the merge would be lost.
            break;
        }
        let found = list.remove(index);
        out.dropped.push(found_fresh(candidate.clone(), &found));
        let text = if own { &candidate } else { &found };
        candidate = Candidate {
            origin: candidate.origin,
            carry_score: candidate.carry_score,
            relevance: candidate.relevance.max(found.relevance),
            passage: text.passage.clone(),
            member_chunk_ids: text.member_chunk_ids.clone(),
            ..found
        };
        break;
    }
    out.pins.push(candidate);
}

fn carry_one(
    candidate: Candidate,
    fresh: &mut [Candidate],
    beyond: &mut Vec<Candidate>,
    out: &mut Carried,
    effect: Effect,
    settings: &Settings,
) {
    for list in [&mut *fresh, &mut *out.pins] {
        let Some(index) = find_same(&candidate.passage, list, settings) else {
            continue;
        };
        let Some(found) = list.get_mut(index) else {
            continue;
        };
        found.carry_score = stronger(found.carry_score, candidate.carry_score);
        found.anchors |= candidate.anchors;
        out.dropped.push(found_fresh(candidate, found));
        return;
    }
    let reason = match (settings.carry_over, effect.carries) {
        (false, _) => Some(Reason::CarryOff),
        (true, false) => Some(Reason::IntentDropsCarried),
        (true, true) if !eligible(&candidate, effect, settings) => {
            Some(Reason::BelowCarryThreshold)
        }
        _ => None,
    };
    if let Some(reason) = reason {
        out.dropped.push(dropped(candidate, reason));
        return;
    }
    let at = find_same(&candidate.passage, beyond, settings);
    let candidate = match at.map(|index| beyond.remove(index)) {
        Some(found) => {
            let kept = Candidate {
                origin: Origin::Carried,
                carry_score: candidate.carry_score,
                anchors: candidate.anchors,
                relevance: candidate.relevance.max(found.relevance),
                ..found
            };
            out.dropped.push(found_fresh(candidate, &kept));
            kept
        }
        None => candidate,
    };
    if let Some(index) = find_same(&candidate.passage, &out.carried, settings) {
        let into = out
            .carried
            .get(index)
            .map(|other| other.passage.chunk_id.clone());
        out.dropped.push(Dropped {
            into,
            ..dropped(candidate, Reason::Twin)
        });
    } else {
        out.carried.push(candidate);
    }
}

/// The higher carry score of two sources that one candidate covers.
fn stronger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// The index of the candidate that covers a passage: the passage itself, a merge that contains it, or a twin.
fn find_same(passage: &Passage, list: &[Candidate], settings: &Settings) -> Option<usize> {
    let itself = |c: &Candidate| {
        c.passage.corpus == passage.corpus && c.member_chunk_ids.contains(&passage.chunk_id)
    };
    let twin = |c: &Candidate| settings.collapse_twins && twins(&c.passage, passage);
    list.iter()
        .position(itself)
        .or_else(|| list.iter().position(twin))
}

/// The index of the pin that covers a passage. Two windows of one row do not cover each other.
fn find_pin(passage: &Passage, pins: &[Candidate], settings: &Settings) -> Option<usize> {
    let other_window = |pin: &Candidate| {
        let both = pin.passage.window_of.is_some() && passage.window_of.is_some();
        both && pin.passage.content_hash != passage.content_hash
    };
    find_same(passage, pins, settings).filter(|at| !pins.get(*at).is_some_and(other_window))
}

fn found_fresh(carried: Candidate, found: &Candidate) -> Dropped {
    let same = PassageId::of(&carried.passage) == PassageId::of(&found.passage)
        || found.member_chunk_ids.contains(&carried.passage.chunk_id);
    let reason = if same {
        Reason::FoundFresh
    } else {
        Reason::Twin
    };
    Dropped {
        into: Some(found.passage.chunk_id.clone()),
        ..dropped(carried, reason)
    }
}

fn dropped(candidate: Candidate, reason: Reason) -> Dropped {
    Dropped {
        candidate,
        stage: Stage::Carry,
        reason,
        into: None,
    }
}

/// A source as memory holds it, without text.
fn remembered(source: &RememberedSource) -> Candidate {
    let passage = Passage {
        corpus: source.corpus.clone(),
        doc_id: source.doc_id.clone(),
        chunk_id: source.chunk_id.clone(),
        version: None,
        ordinal: None,
        pages: None,
        chars: None,
        content: String::new(),
        content_hash: source.content_hash.clone().unwrap_or_default(),
        tokens: 0,
        title: None,
        uri: None,
        published: None,
        modified: None,
        structured_locator: None,
        text_config: None,
        metadata: serde_json::Value::Null,
        window_of: None,
    };
    Candidate {
        carry_score: Some(source.carry_score),
        ..Candidate::bare(passage, source.origin())
    }
}

/// Ids of every passage that remembered sources can give, for fusion.
#[must_use]
pub fn known_passages(inputs: &[CarriedInput]) -> crate::passage::identity::KnownPassages {
    let by_id: BTreeMap<PassageId, ()> = inputs
        .iter()
        .filter(|input| !input.source.chunk_id.is_empty())
        .flat_map(|input| {
            input
                .options
                .iter()
                .map(|option| (PassageId::of(&option.passage), ()))
        })
        .collect();
    by_id.into_keys().collect()
}

#[cfg(test)]
mod tests;
