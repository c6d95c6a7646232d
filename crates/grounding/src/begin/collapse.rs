//! Merges adjacent passages into one: the union of their ranges without repeated overlap, with the keys of all members.
//! Drops near twins.
//!
//! Twins are removed before, during fusion.

use std::collections::BTreeMap;

use reground_interrupt::checked;

use crate::begin::carry::Carried;
use crate::passage::identity::{TextId, adjacent, text_id};
use crate::passage::near_twins::ComparedText;
use crate::passage::{
    Candidate, CharRange, Dropped, Passage, Reason, Stage, byte_of, joined_locators,
};
use crate::query::query_words::QueryWords;
use crate::settings::Settings;

/// Merges adjacent candidates. Input and output are in fused order.
///
/// Each candidate in turn, strongest first, is merged with its neighbours on either side, the stronger neighbour first,
/// as long as the merged text has at most `max_merged_tokens`. It keeps its own key, ranks and scores. Passages are not
/// merged if they lack an ordinal or offsets, have a gap between them, or have offsets that do not fit their text.
#[must_use]
pub fn collapse(candidates: Vec<Candidate>, settings: &Settings) -> (Vec<Candidate>, Vec<Dropped>) {
    if !settings.merge_adjacent {
        return (candidates, Vec::new());
    }
    let places: BTreeMap<(TextId<'_>, i32), usize> = candidates
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(index, c)| Some(((text_id(&c.passage), c.passage.ordinal?), index)))
        .collect();
    let mut group_of: Vec<Option<usize>> = vec![None; candidates.len()];
    let mut grown: Vec<(usize, Union)> = Vec::new();
    for (seed, candidate) in candidates.iter().enumerate() {
        if group_of.get(seed).copied().flatten().is_some() {
            continue;
        }
        let mut union = Union::of(seed, &candidate.passage);
        while let Some((neighbour, larger)) = union.grow(&candidates, &places, &group_of, settings)
        {
            if let Some(group) = group_of.get_mut(neighbour) {
                *group = Some(seed);
            }
            union = larger;
        }
        if let Some(group) = group_of.get_mut(seed) {
            *group = Some(seed);
        }
        grown.push((seed, union));
    }
    let mut dropped = Vec::new();
    let mut merged = Vec::with_capacity(grown.len());
    for (seed, union) in grown {
        let Some(stronger) = candidates.get(seed) else {
            continue;
        };
        let rest = union.members.iter().filter(|&&member| member != seed);
        dropped.extend(
            rest.filter_map(|&member| candidates.get(member))
                .map(|weaker| Dropped {
                    candidate: weaker.clone(),
                    stage: Stage::Collapse,
                    reason: Reason::Merged,
                    into: Some(stronger.passage.chunk_id.clone()),
                }),
        );
        merged.push(union.into_candidate(stronger, &candidates));
    }
    (merged, dropped)
}

/// Drops the candidates that repeat a stronger one in almost the same words ([`ComparedText::near_twin`]), or whose window
/// has the same text. Pins are the strongest and stay, then come the candidates in their order, then carried sources. The
/// stronger one lists the others in `also_in`, and keeps their best relevance and carry score.
pub fn collapse_near_twins(
    candidates: &mut Vec<Candidate>,
    memory: &mut Carried,
    words: &QueryWords,
    settings: &Settings,
) {
    if !settings.collapse_twins {
        return;
    }
    let (pinned, fresh) = (memory.pins.len(), candidates.len());
    let mut all = std::mem::take(&mut memory.pins);
    all.append(candidates);
    all.append(&mut memory.carried);
    let leaders = leaders(&all, pinned, words);
    for (index, &leader) in leaders.iter().enumerate() {
        let Some(twin) = all.get(index).filter(|_| leader != index).cloned() else {
            continue;
        };
        if let Some(stronger) = all.get_mut(leader) {
            absorb(stronger, &twin);
            memory.dropped.push(Dropped {
                into: Some(stronger.passage.chunk_id.clone()),
                candidate: twin,
                stage: Stage::Collapse,
                reason: Reason::NearTwin,
            });
        }
    }
    for ((index, candidate), leader) in all.into_iter().enumerate().zip(leaders) {
        if leader != index {
            continue;
        }
        let list = if index < pinned {
            &mut memory.pins
        } else if index < pinned + fresh {
            &mut *candidates
        } else {
            &mut memory.carried
        };
        list.push(candidate);
    }
}

/// For each candidate the first one that it repeats, or itself. The first ones are pins.
fn leaders(all: &[Candidate], pinned: usize, words: &QueryWords) -> Vec<usize> {
    let texts: Vec<ComparedText<'_>> = all
        .iter()
        .map(|candidate| ComparedText::of(&candidate.passage.content))
        .collect();
    let mut leaders: Vec<usize> = Vec::with_capacity(all.len());
    for (index, (candidate, text)) in checked(all.iter().zip(&texts)).enumerate() {
        let hash = &candidate.passage.content_hash;
        let mut before = all.iter().zip(&texts).zip(&leaders).enumerate();
        let leader = before.find(|(first, ((other, other_text), leader))| {
            *leader == first
                && (other.passage.content_hash == *hash || other_text.near_twin(text, words))
        });
        let leader = leader.map(|(first, _)| first).filter(|_| index >= pinned);
        leaders.push(leader.unwrap_or(index));
    }
    leaders
}

/// Adds what a near twin is known by to the stronger candidate.
fn absorb(stronger: &mut Candidate, twin: &Candidate) {
    let passage = &twin.passage;
    let own = (passage.doc_id.clone(), passage.chunk_id.clone());
    stronger.also_in.push(own);
    stronger.also_in.extend(twin.also_in.iter().cloned());
    stronger.relevance = stronger.relevance.max(twin.relevance);
    let scores = stronger.carry_score.into_iter().chain(twin.carry_score);
    stronger.carry_score = scores.reduce(f64::max);
    stronger.anchors |= twin.anchors;
    for entity in &twin.entities {
        if !stronger.entities.contains(entity) {
            stronger.entities.push(entity.clone());
        }
    }
}

/// A growing union: its members in text order, and their merged passage.
#[derive(Clone)]
struct Union {
    members: Vec<usize>,
    passage: Passage,
}

impl Union {
    fn of(index: usize, passage: &Passage) -> Self {
        Self {
            members: vec![index],
            passage: passage.clone(),
        }
    }

    /// The union with the stronger neighbour that fits.
    fn grow(
        &self,
        candidates: &[Candidate],
        places: &BTreeMap<(TextId<'_>, i32), usize>,
        taken: &[Option<usize>],
        settings: &Settings,
    ) -> Option<(usize, Self)> {
        let free = |index: &usize| {
            !self.members.contains(index) && taken.get(*index).is_some_and(Option::is_none)
        };
        let beside = |member: Option<&usize>, step: i32| {
            let passage = &candidates.get(*member?)?.passage;
            let ordinal = passage.ordinal?.checked_add(step)?;
            places
                .get(&(text_id(passage), ordinal))
                .copied()
                .filter(free)
        };
        let before = beside(self.members.first(), -1);
        let after = beside(self.members.last(), 1);
        let mut neighbours: Vec<(usize, bool)> = before
            .map(|i| (i, true))
            .into_iter()
            .chain(after.map(|i| (i, false)))
            .collect();
        neighbours.sort_unstable(); // candidates are in fused order: the smaller index is the stronger
        neighbours.into_iter().find_map(|(index, in_front)| {
            let neighbour = &candidates.get(index)?.passage;
            let edge = if in_front {
                self.members.first()
            } else {
                self.members.last()
            };
            let edge = &candidates.get(*edge?)?.passage;
            let passage = if in_front {
                adjacent(neighbour, edge).then(|| join(neighbour, &self.passage, settings))?
            } else {
                adjacent(edge, neighbour).then(|| join(&self.passage, neighbour, settings))?
            }?;
            let mut members = self.members.clone();
            members.insert(if in_front { 0 } else { members.len() }, index);
            Some((index, Self { members, passage }))
        })
    }

    fn into_candidate(self, stronger: &Candidate, candidates: &[Candidate]) -> Candidate {
        if self.members.len() == 1 {
            return stronger.clone();
        }
        let members: Vec<&Candidate> = self
            .members
            .iter()
            .filter_map(|&index| candidates.get(index))
            .collect();
        let mut entities: Vec<String> = members.iter().flat_map(|c| c.entities.clone()).collect();
        entities.sort();
        entities.dedup();
        let content_hash = reground_documents::content_hash_hex(&self.passage.content);
        let own = stronger.passage.clone();
        let Passage {
            ordinal,
            pages,
            chars,
            structured_locator,
            content,
            tokens,
            ..
        } = self.passage;
        Candidate {
            passage: Passage {
                ordinal,
                pages,
                chars,
                structured_locator,
                content,
                tokens,
                content_hash,
                ..own
            },
            member_chunk_ids: members
                .iter()
                .flat_map(|c| c.member_chunk_ids.clone())
                .collect(),
            also_in: members.iter().flat_map(|c| c.also_in.clone()).collect(),
            relevance: members.iter().map(|c| c.relevance).fold(0.0, f64::max),
            entities,
            ..stronger.clone()
        }
    }
}

/// The union of two passages of one text. `a` starts first and reaches `b`. `None` if offsets and text disagree or the
/// union is too long.
fn join(a: &Passage, b: &Passage, settings: &Settings) -> Option<Passage> {
    let (first, second) = (a.chars?, b.chars?);
    if a.tokens.max(b.tokens) as usize > settings.max_merged_tokens {
        return None;
    }
    let shared = first.end.checked_sub(second.start)?;
    if !fits_range(a, first) || !fits_range(b, second) {
        return None;
    }
    // If `b` ends inside `a`, all of it is shared.
    let inside = shared.min(second.end.checked_sub(second.start)?);
    let offset = second.start.checked_sub(first.start)?;
    let cut = byte_of(&b.content, inside as usize)?;
    let from = byte_of(&a.content, offset as usize)?;
    let to = byte_of(&a.content, offset.checked_add(inside)? as usize)?;
    if a.content.get(from..to)? != b.content.get(..cut)? {
        return None;
    }
    let mut text = a.content.clone();
    text.push_str(b.content.get(cut..)?);
    let tokens = reground_tokens::count(&text);
    if tokens > settings.max_merged_tokens {
        return None;
    }
    let pages = match (&a.pages, &b.pages) {
        (Some(x), Some(y)) => Some(x.union(*y)),
        (x, y) => x.or(*y),
    };
    Some(Passage {
        chars: Some(CharRange {
            start: first.start,
            end: first.end.max(second.end),
        }),
        tokens: u32::try_from(tokens).ok()?,
        pages,
        structured_locator: joined_locators(
            a.structured_locator.as_deref(),
            b.structured_locator.as_deref(),
        ),
        content: text,
        ..a.clone()
    })
}

fn fits_range(passage: &Passage, range: CharRange) -> bool {
    let length = range.end.checked_sub(range.start);
    length.is_some_and(|length| passage.content.chars().count() == length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, document, passage};
    use proptest::prelude::*;

    fn cut(text: &str, ordinal: usize, start: usize, end: usize) -> Passage {
        let slice: String = text.chars().skip(start).take(end - start).collect();
        passage(
            "d",
            &format!("k{ordinal}"),
            ordinal as i32,
            start as u32,
            &slice,
        )
    }

    #[test]
    fn the_overlap_is_not_repeated_and_the_stronger_leads() {
        let text = "Größe ist α, und β folgt.";
        let strong = candidate(cut(text, 1, 10, 25), 0.03);
        let weak = candidate(cut(text, 0, 0, 14), 0.02);
        let (merged, dropped) = collapse(vec![strong, weak], &Settings::default());
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].passage.content, text);
        assert_eq!(merged[0].passage.chunk_id, "k1");
        assert_eq!(merged[0].fused_score, 0.03);
        assert_eq!(merged[0].member_chunk_ids, ["k0", "k1"]);
        assert_eq!(
            merged[0].passage.content_hash,
            reground_documents::content_hash_hex(text)
        );
        assert_eq!(
            (dropped[0].reason, dropped[0].into.as_deref()),
            (Reason::Merged, Some("k1"))
        );
    }

    #[test]
    fn passages_that_are_not_adjacent_are_not_merged() {
        let text = document(0, 100);
        let alone = |change: fn(&mut Passage)| {
            let mut b = cut(&text, 1, 50, 100);
            change(&mut b);
            let input = vec![candidate(cut(&text, 0, 0, 60), 0.3), candidate(b, 0.2)];
            collapse(input, &Settings::default()).0.len()
        };
        assert_eq!(alone(|_| ()), 1);
        assert_eq!(alone(|p| p.ordinal = None), 2);
        assert_eq!(alone(|p| p.ordinal = Some(2)), 2);
        assert_eq!(alone(|p| p.chars = None), 2);
        assert_eq!(alone(|p| p.version = Some(2)), 2);
        assert_eq!(alone(|p| p.doc_id = "e".into()), 2);
        assert_eq!(
            alone(|p| p.chars = Some(CharRange {
                start: 61,
                end: 111
            })),
            2,
            "a gap"
        );
        assert_eq!(
            alone(|p| p.chars = Some(CharRange { start: 40, end: 90 })),
            2,
            "offsets that lie"
        );
        assert_eq!(
            alone(|p| p.chars = Some(CharRange { start: 90, end: 50 })),
            2,
            "an inverted range"
        );
    }

    const PROSE: &str = "A member adds a file to a page, and the file is checked at once. Larger files are kept in the \
        archive of the workspace, where members find them under the name of the page that they belong to.";

    #[test]
    fn near_twins_are_dropped_and_listed() {
        let near =
            |key: &str, text: String, fused| candidate(passage(key, key, 0, 0, &text), fused);
        let mut strong = near("a", PROSE.to_owned(), 0.4);
        strong.relevance = 0.5;
        let other = near(
            "b",
            PROSE.replace("checked", "tested").replace("page", "board"),
            0.3,
        );
        let twin = near("c", PROSE.replace("checked", "examined"), 0.2);
        let mut carried = near("d", PROSE.replace("belong to", "pertain to"), 0.9);
        carried.carry_score = Some(0.7);
        let mut candidates = vec![strong, other, twin];
        let mut memory = Carried {
            carried: vec![carried],
            ..Carried::default()
        };
        let (words, settings) = (QueryWords::default(), Settings::default());
        let unchanged = (candidates.clone(), memory.clone());
        let off = Settings {
            collapse_twins: false,
            ..Settings::default()
        };
        collapse_near_twins(&mut candidates, &mut memory, &words, &off);
        assert_eq!((candidates.clone(), memory.clone()), unchanged);

        collapse_near_twins(&mut candidates, &mut memory, &words, &settings);
        let keys = |list: &[Candidate]| -> Vec<String> {
            list.iter().map(|c| c.passage.chunk_id.clone()).collect()
        };
        assert_eq!(
            (keys(&candidates), keys(&memory.carried)),
            (vec!["a".into(), "b".into()], vec![])
        );
        let into: Vec<_> = memory
            .dropped
            .iter()
            .map(|d| (d.reason, d.into.as_deref()))
            .collect();
        assert_eq!(into, [(Reason::NearTwin, Some("a")); 2]);
        let strong = &candidates[0];
        assert_eq!((strong.relevance, strong.carry_score), (0.9, Some(0.7)));
        let places = [
            ("c".to_owned(), "c".to_owned()),
            ("d".to_owned(), "d".to_owned()),
        ];
        assert_eq!(strong.also_in, places);
    }

    /// Pins stay, because the user asked for them.
    #[test]
    fn near_twins_of_a_pin_are_dropped() {
        let near = |key: &str, text: &str| candidate(passage(key, key, 0, 0, text), 0.1);
        let pins = vec![
            near("p", PROSE),
            near("q", &PROSE.replace("checked", "tested")),
        ];
        let mut memory = Carried {
            pins: pins.clone(),
            ..Carried::default()
        };
        let mut candidates = vec![near("a", &PROSE.replace("checked", "examined"))];
        let words = QueryWords::default();
        collapse_near_twins(&mut candidates, &mut memory, &words, &Settings::default());
        assert!(candidates.is_empty());
        assert_eq!(memory.pins.len(), 2);
        assert_eq!(memory.pins[1], pins[1]);
    }

    proptest! {
        #[test]
        fn merging_never_loses_or_repeats_text(
            starts in proptest::collection::vec((1usize..50, 0usize..30), 1..12),
            kept in proptest::collection::vec(any::<bool>(), 12),
            order in any::<u64>(),
            most in 5usize..200,
            multibyte in any::<bool>(),
        ) {
            let text = if multibyte { document(0, 200).replace('d', "é").replace('7', "語") } else { document(0, 200) };
            let mut at = 0;
            let mut passages = Vec::new();
            for (ordinal, (step, overlap)) in starts.iter().enumerate() {
                let end = at + step + overlap;
                passages.push(cut(&text, ordinal, at, end));
                at += step;
            }
            let mut input: Vec<_> = passages.into_iter().zip(&kept).filter(|(_, k)| **k)
                .map(|(p, _)| candidate(p, 0.0)).collect();
            input.sort_by_key(|c| (c.passage.ordinal.unwrap() as u64).wrapping_mul(order | 1) % 101);
            let settings = Settings { max_merged_tokens: most, ..Settings::default() };
            let (merged, dropped) = collapse(input.clone(), &settings);

            // Text: each merge equals the document at its offsets, and no covered text is lost.
            let covered = |list: &[Candidate]| {
                let mut set = std::collections::BTreeSet::new();
                for c in list { let r = c.passage.chars.unwrap(); set.extend(r.start..r.end); }
                set
            };
            for c in &merged {
                let range = c.passage.chars.unwrap();
                let there: String = text.chars().skip(range.start as usize).take((range.end - range.start) as usize).collect();
                prop_assert_eq!(&there, &c.passage.content);
                prop_assert!(c.member_chunk_ids.len() == 1 || c.passage.tokens as usize <= most);
                prop_assert_eq!(c.passage.tokens as usize, reground_tokens::count(&there));
            }
            prop_assert_eq!(covered(&input), covered(&merged));

            // Members: each input is in exactly one candidate, in text order, and is dropped exactly if it is not the
            // key.
            let mut members: Vec<_> = merged.iter().flat_map(|c| c.member_chunk_ids.clone()).collect();
            members.sort();
            let mut were: Vec<_> = input.iter().map(|c| c.passage.chunk_id.clone()).collect();
            were.sort();
            prop_assert_eq!(members, were);
            prop_assert_eq!(merged.len() + dropped.len(), input.len());

            // Order: the leaders are in fused order.
            let place = |key: &str| input.iter().position(|c| c.passage.chunk_id == key).unwrap();
            for pair in merged.windows(2) {
                prop_assert!(place(&pair[0].passage.chunk_id) < place(&pair[1].passage.chunk_id));
            }
        }
    }
}
