//! Selects the final context: pins, then fresh candidates by score, with carried ones in reserved slots, within the
//! source limit and the token budget.

mod parts;

use std::collections::BTreeSet;

use crate::begin::carry::{Effect, eligible, priority};
use crate::passage::{Candidate, Dropped, Origin, Reason, Stage};
use crate::query::query_words::QueryWords;
use crate::settings::{PassageOrder, Settings};

pub(crate) use parts::PromptParts;

/// How often the first passage is cut to fit the budget.
const CUTS: usize = 3;
/// Sources below which smaller passages may still fill the token budget.
const MIN_SOURCES: usize = 8;

/// The sources of a context in prompt order, and the dropped candidates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The sources, in prompt order.
    pub sources: Vec<Candidate>,
    /// The candidates that were not selected.
    pub dropped: Vec<Dropped>,
}

/// The limit on the tokens of a context.
pub struct Budget<'a> {
    /// The most tokens of all sources.
    pub tokens: usize,
    /// The tokens of a source in the prompt: its text with heading, marker and facts.
    pub of: &'a mut dyn FnMut(&Candidate) -> usize,
}

/// The candidates for a context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// Pins in pin order.
    pub pins: Vec<Candidate>,
    /// Fresh candidates, best first.
    pub fresh: Vec<Candidate>,
    /// Carried candidates that are not among the fresh ones, in any order.
    pub carried: Vec<Candidate>,
    /// Compared entities, empty unless the intent is `compare`.
    pub entities: Vec<String>,
    /// The words that choose the window of the first fresh candidate.
    pub words: QueryWords,
}

impl Pool {
    /// All candidates.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.pins.iter().chain(&self.fresh).chain(&self.carried)
    }
}

/// Selects the context.
///
/// - Pins enter first and count towards every limit.
/// - Of the remaining slots, up to `reserved_slots` less the pins are for carried candidates, ordered by relevance ×
///   carry score. A fresh candidate that the conversation knows and that would miss the fresh slots competes for them
///   too, so that being found by retrieval never hurts a source. Unused reserved slots go back to fresh candidates.
/// - Fresh and carried candidates are admitted in proportion to their slots, fresh first, so that a small budget leaves
///   room for both.
/// - A passage that exceeds the budget is dropped, except that the first fresh candidate is shortened to its window in
///   the rest of the budget. Smaller ones may still enter until there are `MIN_SOURCES`.
/// - Under `compare` the fresh order is a round robin over the entities and the candidates of none.
#[must_use]
pub fn select(pool: Pool, effect: Effect, settings: &Settings, budget: Budget<'_>) -> Selection {
    let mut context = ContextBuilder::new(settings, budget);
    let words = pool.words;
    for pin in pool.pins {
        context.admit(pin, Part::Pin);
    }
    let mut fresh = share_between_entities(pool.fresh, &pool.entities);
    let mut carried = pool.carried;
    let free = settings.max_sources.saturating_sub(context.len());
    clear_anchors(&mut fresh, &mut carried, free, &mut context);
    let mut reserved = effect
        .reserved_slots
        .saturating_sub(context.len())
        .min(free);
    let known = fresh
        .iter()
        .filter(|c| eligible(c, effect, settings))
        .count();
    reserved = reserved.min(carried.len() + known);
    let fresh_slots = free - reserved;

    // Fresh candidates beyond the fresh slots may enter through the reserved slots.
    let (mut queue, mut waiting) = (Vec::new(), carried);
    for (rank, candidate) in fresh.into_iter().enumerate() {
        if rank >= fresh_slots && eligible(&candidate, effect, settings) {
            waiting.push(candidate);
        } else {
            queue.push(candidate);
        }
    }
    waiting.sort_by(|a, b| {
        priority(b)
            .total_cmp(&priority(a))
            .then_with(|| a.passage.chunk_id.cmp(&b.passage.chunk_id))
    });

    let (mut queue, mut waiting) = (queue.into_iter(), waiting.into_iter());
    let (mut fresh_in, mut carried_in, mut began) = (0, 0, false);
    while context.len() < settings.max_sources {
        // After i of F fresh candidates, ⌊i·R/F⌋ of R carried ones are due.
        let due = (fresh_in * reserved)
            .checked_div(fresh_slots)
            .unwrap_or(reserved);
        let has_slot = carried_in < reserved;
        let mut next_fresh = || Some((queue.next()?, Part::Fresh));
        let mut next_carried = || Some((waiting.next()?, Part::Carried));
        let next = if has_slot && (carried_in < due || fresh_in >= fresh_slots) {
            next_carried().or_else(next_fresh)
        } else {
            next_fresh().or_else(|| has_slot.then(next_carried).flatten())
        };
        match next {
            Some((mut candidate, Part::Fresh)) => {
                if !std::mem::replace(&mut began, true) {
                    context.shorten(&mut candidate, &words);
                }
                fresh_in += usize::from(context.admit(candidate, Part::Fresh))
            }
            Some((candidate, part)) => carried_in += usize::from(context.admit(candidate, part)),
            None => break,
        }
    }
    for candidate in queue {
        context.drop_candidate(candidate, Reason::OverMaxSources);
    }
    for candidate in waiting {
        context.drop_waiting(candidate, carried_in >= reserved);
    }
    context.finish()
}

/// Clears the anchor flag of sources whose document enters the context anyway. Any passage of the document keeps the
/// subject, and the most relevant one is better than the one that was cited.
fn clear_anchors(
    fresh: &mut [Candidate],
    carried: &mut Vec<Candidate>,
    free: usize,
    context: &mut ContextBuilder<'_, '_>,
) {
    let document = |c: &Candidate| (c.passage.corpus.clone(), c.passage.doc_id.clone());
    let pinned = context.pins.iter().map(document);
    let shown: BTreeSet<_> = pinned
        .chain(fresh.iter().take(free).map(document))
        .collect();
    let threshold = context.settings.carry_threshold;
    for candidate in fresh.iter_mut().chain(carried.iter_mut()) {
        candidate.anchors &= !shown.contains(&document(candidate));
    }
    let needless = |c: &mut Candidate| !c.anchors && c.relevance < threshold;
    for candidate in carried.extract_if(.., needless) {
        context.drop_candidate(candidate, Reason::BelowCarryThreshold);
    }
}

/// The part of the context for a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Pin,
    Fresh,
    Carried,
}

struct ContextBuilder<'a, 'b> {
    settings: &'a Settings,
    budget: Budget<'b>,
    pins: Vec<Candidate>,
    fresh: Vec<Candidate>,
    carried: Vec<Candidate>,
    dropped: Vec<Dropped>,
    tokens: usize,
    overflowed: bool,
}

impl<'a, 'b> ContextBuilder<'a, 'b> {
    fn new(settings: &'a Settings, budget: Budget<'b>) -> Self {
        let (pins, fresh, carried, dropped) = (vec![], vec![], vec![], vec![]);
        Self {
            settings,
            budget,
            pins,
            fresh,
            carried,
            dropped,
            tokens: 0,
            overflowed: false,
        }
    }

    fn len(&self) -> usize {
        self.pins.len() + self.fresh.len() + self.carried.len()
    }

    /// Replaces a passage that exceeds the rest of the budget by its window. What the prompt adds to a text, such as its
    /// facts, depends on the text, so a window that does not fit is cut again.
    fn shorten(&mut self, candidate: &mut Candidate, words: &QueryWords) {
        let rest = self.budget.tokens.saturating_sub(self.tokens);
        for _ in 0..CUTS {
            let tokens = (self.budget.of)(candidate);
            let added = tokens.saturating_sub(candidate.passage.tokens as usize);
            if tokens <= rest {
                return;
            }
            let most = rest.saturating_sub(added);
            let Some(window) = candidate.passage.window(words, most) else {
                return;
            };
            candidate.passage = window;
        }
    }

    /// Adds a candidate if it fits; otherwise drops it with the reason.
    fn admit(&mut self, mut candidate: Candidate, part: Part) -> bool {
        if self.len() >= self.settings.max_sources {
            self.drop_candidate(candidate, Reason::OverMaxSources);
            return false;
        }
        let wanted = MIN_SOURCES.min(self.settings.max_sources);
        let full = self.overflowed && self.len() >= wanted;
        let tokens = if full && part != Part::Pin {
            None
        } else {
            self.tokens_with(&candidate)
        };
        let Some(tokens) = tokens else {
            self.overflowed = true;
            self.drop_candidate(candidate, Reason::OverTokenBudget);
            return false;
        };
        self.tokens = tokens;
        match part {
            Part::Pin => self.pins.push(candidate),
            Part::Fresh => self.fresh.push(candidate),
            Part::Carried => {
                candidate.origin = Origin::Carried;
                self.carried.push(candidate);
            }
        }
        true
    }

    /// The tokens of the context with a candidate; `None` if they exceed the budget.
    fn tokens_with(&mut self, candidate: &Candidate) -> Option<usize> {
        let most = self.budget.tokens;
        let within = |tokens: &usize| *tokens <= most;
        // A candidate whose text alone is too long is not rendered.
        let text = self.tokens + candidate.passage.tokens as usize;
        within(&text).then_some(())?;
        let tokens = (self.budget.of)(candidate);
        Some(self.tokens.saturating_add(tokens)).filter(within)
    }

    fn drop_candidate(&mut self, candidate: Candidate, reason: Reason) {
        self.dropped.push(Dropped {
            candidate,
            stage: Stage::Context,
            reason,
            into: None,
        });
    }

    /// Drops a carried source beyond the reserved slots, or a fresh candidate that did not get one.
    fn drop_waiting(&mut self, candidate: Candidate, slots_used: bool) {
        let carried = candidate.origin == Origin::Carried;
        let reason = if carried && slots_used {
            Reason::OverReservedSlots
        } else {
            Reason::OverMaxSources
        };
        self.drop_candidate(candidate, reason);
    }

    fn finish(self) -> Selection {
        let strongest_first = [self.pins, self.fresh, self.carried].concat();
        let sources = match self.settings.passage_order {
            PassageOrder::Score => strongest_first,
            PassageOrder::Edges => edges(strongest_first),
        };
        Selection {
            sources,
            dropped: self.dropped,
        }
    }
}

/// First, third, fifth … from the front, second, fourth … from the back, so that the weakest are in the middle.
fn edges(strongest_first: Vec<Candidate>) -> Vec<Candidate> {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for (rank, candidate) in strongest_first.into_iter().enumerate() {
        if rank % 2 == 0 {
            front.push(candidate)
        } else {
            back.push(candidate)
        }
    }
    front.extend(back.into_iter().rev());
    front
}

/// The sources of a context, strongest first, from those in prompt order. Reverses the order of [`select`].
pub(crate) fn strongest_first<T>(sources: Vec<T>, order: PassageOrder) -> Vec<T> {
    if order == PassageOrder::Score {
        return sources;
    }
    let mut front = sources;
    let back = front.split_off(front.len().div_ceil(2));
    let mut back = back.into_iter().rev();
    let both = front.into_iter().flat_map(|one| [Some(one), back.next()]);
    both.flatten().collect()
}

/// Round robin over the entities, then the candidates of none. Each group keeps its order.
fn share_between_entities(fresh: Vec<Candidate>, entities: &[String]) -> Vec<Candidate> {
    if entities.is_empty() {
        return fresh;
    }
    let belongs = |candidate: &Candidate, group: usize| match entities.get(group) {
        Some(entity) => candidate.entities.contains(entity),
        None => !candidate.entities.iter().any(|e| entities.contains(e)),
    };
    let groups = entities.len() + 1;
    let mut cursors = vec![0; groups];
    let mut slots: Vec<Option<Candidate>> = fresh.into_iter().map(Some).collect();
    let mut shared = Vec::with_capacity(slots.len());
    while shared.len() < slots.len() {
        for (group, cursor) in cursors.iter_mut().enumerate() {
            while let Some(slot) = slots.get_mut(*cursor) {
                *cursor += 1;
                if slot
                    .as_ref()
                    .is_some_and(|candidate| belongs(candidate, group))
                {
                    shared.extend(slot.take());
                    break;
                }
            }
        }
    }
    shared
}

#[cfg(test)]
mod tests;
