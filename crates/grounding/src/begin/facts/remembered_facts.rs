//! Facts of earlier turns: sources that an answer has cited are shown again by their facts, without their passage.
//!
//! The facts are the text of such a source: first the quotes that the earlier citations rest on, so that an answer can
//! repeat their claims, then the facts for the earlier question. An answer can cite the source under its marker, and the
//! citation is judged by these facts. A source is left out if its passage is in the context anyway, or if the caller may no longer read it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::begin::facts::{MOST_WORDS, supplied_facts};
use crate::memory::{ContextSource, Fact};
use crate::passage::identity::PassageId;
use crate::passage::{Candidate, CharRange, Dropped, Origin, Passage, Stage};
use crate::prompt::remembered_tokens;
use crate::query::intent::{Intent, JudgedIntent};
use crate::query::words;
use crate::settings::{MarkerStyle, Settings};

/// A source that answers have cited.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct QuotedSource {
    /// The source as it was in the context of the newest such answer.
    pub source: ContextSource,
    /// The sentences that the citations which hold rest on, the newest first, with their characters in the row.
    #[serde(default)]
    pub quotes: Vec<Fact>,
}

/// Sources that a turn can show by their facts.
const MAX_REMEMBERED: usize = 8;

/// Whether a turn shows facts of earlier turns. A new topic does not need them, and without carry-over nothing of an
/// earlier turn is shown.
#[must_use]
pub fn reuses_facts(judged: &JudgedIntent, settings: &Settings) -> bool {
    settings.carry_over && settings.facts_per_source > 0 && judged.intent != Intent::NewTopic
}

/// Cited sources that a turn reads to show [`MAX_REMEMBERED`]: some of them are in the context with their passage.
#[must_use]
pub fn cited_sources(settings: &Settings) -> usize {
    MAX_REMEMBERED.saturating_add(settings.max_sources)
}

/// The passages of cited sources, which [`remembered_facts`] needs.
pub fn passages_of(cited: &[QuotedSource]) -> impl Iterator<Item = PassageId> {
    let sources = cited.iter().map(|cited| &cited.source);
    sources.flat_map(|source| source.candidate.members())
}

/// Sources that answers have cited, as sources whose text is their facts, at most `facts_per_source`. `cited` has the newest
/// first; `passages` has the passages that the caller may read now.
///
/// A fact stays if a passage of the source still contains it or supplies it. A source without such a fact is left out.
/// Sources of the application belong to no corpus, so a filter leaves them out.
#[must_use]
pub fn remembered_facts(
    cited: Vec<QuotedSource>,
    passages: &BTreeMap<PassageId, Passage>,
    filtered: bool,
    settings: &Settings,
) -> Vec<ContextSource> {
    cited
        .into_iter()
        .filter_map(|cited| remembered(cited, passages, filtered, settings.facts_per_source))
        .collect()
}

/// The quotes that can be facts, then the facts, each text once.
fn quotes_and_facts(quotes: Vec<Fact>, facts: Vec<Fact>, start_in_row: u32) -> Vec<Fact> {
    let in_passage = |chars: CharRange| {
        let start = chars.start.checked_sub(start_in_row)?;
        let end = chars.end.checked_sub(start_in_row)?;
        Some(CharRange { start, end })
    };
    let short = quotes
        .into_iter()
        .filter(|quote| words::count(&quote.text) <= MOST_WORDS);
    let quotes = short.map(|quote| Fact {
        chars: quote.chars.and_then(in_passage),
        ..quote
    });
    let mut texts = BTreeSet::new();
    let all = quotes.chain(facts);
    all.filter(|fact| texts.insert(fact.text.clone())).collect()
}

fn remembered(
    cited: QuotedSource,
    passages: &BTreeMap<PassageId, Passage>,
    filtered: bool,
    most: usize,
) -> Option<ContextSource> {
    let ContextSource {
        marker,
        candidate,
        facts,
        ..
    } = cited.source;
    let mut facts = quotes_and_facts(cited.quotes, facts, candidate.passage.start_in_row());
    let mut passage = candidate.passage.clone();
    if passage.is_from_caller() {
        facts.retain(|_| !filtered);
    } else {
        let read: Option<Vec<&Passage>> = candidate
            .members()
            .map(|id| {
                let read = passages.get(&id)?;
                (read.doc_id == passage.doc_id).then_some(read)
            })
            .collect();
        let read = read?;
        let supplied: BTreeSet<String> = read
            .iter()
            .flat_map(|passage| supplied_facts(&passage.metadata))
            .collect();
        let holds = |fact: &Fact| {
            supplied.contains(&fact.text)
                || read.iter().any(|read| read.content.contains(&fact.text))
        };
        facts.retain(holds);
        let own = read.first()?;
        passage.title.clone_from(&own.title);
        passage.uri.clone_from(&own.uri);
        passage.published.clone_from(&own.published);
        passage.modified.clone_from(&own.modified);
        passage.text_config.clone_from(&own.text_config);
        passage.metadata.clone_from(&own.metadata);
    }
    facts.truncate(most);
    // In text order, those of the application last.
    facts.sort_by_key(|fact| fact.chars.map_or(u32::MAX, |chars| chars.start));
    if facts.is_empty() {
        return None;
    }
    let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
    passage.content = texts.join(FACT_BREAK);
    passage.tokens = u32::try_from(reground_tokens::count(&passage.content)).unwrap_or(u32::MAX);
    Some(ContextSource {
        marker,
        position: 0,
        candidate: Candidate {
            member_chunk_ids: candidate.member_chunk_ids,
            ..Candidate::bare(passage, Origin::Remembered)
        },
        facts,
        retrieval_no: 0,
    })
}

/// Between two facts in the text of a remembered source.
pub(crate) const FACT_BREAK: &str = "\n";

/// Appends remembered sources to a context, the newest first, as long as their lines in the prompt fit into the budget of
/// tokens.
///
/// A source whose marker or passage is in the context is left out. A candidate that the search found and that is now shown
/// by its facts is no longer dropped, and keeps its ranks.
pub(crate) fn append(
    context: &mut Vec<ContextSource>,
    remembered: Vec<ContextSource>,
    mut budget: usize,
    style: MarkerStyle,
    dropped: &mut Vec<Dropped>,
) {
    let mut markers: BTreeSet<String> = context.iter().map(|s| s.marker.clone()).collect();
    let mut shown: BTreeSet<PassageId> = context
        .iter()
        .flat_map(|source| source.candidate.members())
        .collect();
    let mut position = context.iter().map(|source| source.position).max();
    let mut count = 0;
    for mut source in remembered {
        let cost = remembered_tokens(&source, style);
        let ids: Vec<PassageId> = source.candidate.members().collect();
        let known = markers.contains(&source.marker) || ids.iter().any(|id| shown.contains(id));
        if count >= MAX_REMEMBERED || known || cost > budget {
            continue;
        }
        budget -= cost;
        count += 1;
        markers.insert(source.marker.clone());
        shown.extend(ids);
        source.candidate = with_ranks(source.candidate, dropped);
        source.position = position.map_or(1, |last| last + 1);
        position = Some(source.position);
        context.push(source);
    }
}

/// A remembered candidate with the ranks that its passage has in this turn. Removes the passage from the dropped candidates.
fn with_ranks(candidate: Candidate, dropped: &mut Vec<Dropped>) -> Candidate {
    let id = PassageId::of(&candidate.passage);
    // A source that was not carried has an entry of its own.
    let found = |dropped: &mut Dropped| {
        dropped.stage != Stage::Carry && PassageId::of(&dropped.candidate.passage) == id
    };
    let best = dropped.extract_if(.., found).max_by_key(|d| d.stage);
    match best {
        None => candidate,
        Some(best) => Candidate {
            passage: candidate.passage,
            member_chunk_ids: candidate.member_chunk_ids,
            origin: candidate.origin,
            ..best.candidate
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};
    use crate::passage::Reason;
    use crate::query::intent::Verdict;
    use serde_json::json;

    fn fact(text: &str) -> Fact {
        Fact {
            text: text.to_owned(),
            chars: Some(CharRange { start: 5, end: 9 }),
        }
    }

    fn cited(marker: &str, key: &str, facts: &[&str]) -> QuotedSource {
        let source = ContextSource {
            marker: marker.to_owned(),
            position: 1,
            candidate: candidate(passage("d", key, 0, 0, ""), 0.5),
            facts: facts.iter().map(|text| fact(text)).collect(),
            retrieval_no: 0,
        };
        QuotedSource {
            source,
            quotes: Vec::new(),
        }
    }

    fn shown(
        cited: Vec<QuotedSource>,
        readable: &BTreeMap<PassageId, Passage>,
        filtered: bool,
    ) -> Vec<ContextSource> {
        remembered_facts(cited, readable, filtered, &Settings::default())
    }

    fn now(key: &str, text: &str) -> (PassageId, Passage) {
        let passage = passage("d", key, 0, 0, text);
        (PassageId::of(&passage), passage)
    }

    fn markers(sources: &[ContextSource]) -> Vec<&str> {
        sources.iter().map(|source| &*source.marker).collect()
    }

    #[test]
    fn facts_are_shown_with_carry_over_unless_the_topic_is_new() {
        let settings = Settings::default();
        let without = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings
        };
        let on = |intent, settings: &Settings| {
            let judged = crate::query::intent::classify("x", &[], Some(Verdict::from(intent)));
            reuses_facts(&judged, settings)
        };
        assert!(on(Intent::DrillDown, &settings) && on(Intent::SameSources, &settings));
        assert!(!on(Intent::NewTopic, &settings));
        let off = without(|settings| settings.carry_over = false);
        assert!(!on(Intent::DrillDown, &off));
        let off = without(|settings| settings.facts_per_source = 0);
        assert!(!on(Intent::DrillDown, &off));
    }

    #[test]
    fn facts_stay_while_the_passage_contains_or_supplies_them() {
        let mut readable = BTreeMap::from([
            now("1", "Cows eat grass. Cows give milk."),
            now("2", "Sheep give wool."),
        ]);
        let supplying = readable.values_mut().next_back().unwrap();
        supplying.metadata = json!({"facts": ["Wool is warm"]});
        let sources = vec![
            cited("A1", "1", &["Cows give milk.", "Cows fly."]),
            cited("A2", "2", &["Wool is warm"]),
            cited("A3", "2", &["Sheep fly."]),
            cited("A4", "hidden", &["Cows give milk."]),
        ];
        let shown = shown(sources, &readable, true);
        assert_eq!(markers(&shown), ["A1", "A2"]);
        assert_eq!(shown[0].candidate.passage.content, "Cows give milk.");
        assert_eq!(shown[0].candidate.origin, Origin::Remembered);
        assert_eq!(shown[0].facts.len(), 1);
    }

    #[test]
    fn the_quotes_of_citations_come_before_the_facts() {
        let text = "Cows eat grass. Cows give milk. Cows have horns.";
        let at = |quote: &str| Fact {
            chars: text.find(quote).map(|at| CharRange {
                start: at as u32,
                end: (at + quote.len()) as u32,
            }),
            text: quote.to_owned(),
        };
        let readable = BTreeMap::from([now("1", text)]);
        let of = |quotes: &[&str]| {
            let quotes = quotes.iter().map(|quote| at(quote)).collect();
            let facts = ["Cows eat grass.", "Cows have horns."];
            let source = QuotedSource {
                quotes,
                ..cited("A1", "1", &facts)
            };
            let shown = shown(vec![source], &readable, false);
            shown[0].candidate.passage.content.clone()
        };
        assert_eq!(of(&[]), "Cows eat grass.\nCows have horns.");
        assert_eq!(of(&["Cows give milk."]), "Cows eat grass.\nCows give milk.");
        assert_eq!(
            of(&["Cows have horns.", "Cows have horns.", "Cows fly."]),
            "Cows eat grass.\nCows have horns."
        );
        let long = "moo ".repeat(MOST_WORDS + 1);
        assert_eq!(of(&[&long]), of(&[]));
    }

    #[test]
    fn a_candidate_that_is_shown_by_its_facts_is_not_dropped() {
        let readable = BTreeMap::from([now("1", "Cows give milk.")]);
        let dropped = |key: &str, stage| Dropped {
            candidate: Candidate {
                lexical_rank: Some(7),
                ..candidate(passage("d", key, 0, 0, "Cows give milk."), 0.5)
            },
            stage,
            reason: Reason::OverMaxSources,
            into: None,
        };
        let mut left = vec![
            dropped("1", Stage::Context),
            dropped("2", Stage::Context),
            dropped("1", Stage::Carry),
        ];
        let sources = shown(
            vec![cited("A1", "1", &["Cows give milk."])],
            &readable,
            false,
        );
        let mut context = Vec::new();
        append(
            &mut context,
            sources,
            1000,
            MarkerStyle::Lettered,
            &mut left,
        );
        assert_eq!(context[0].candidate.lexical_rank, Some(7));
        assert_eq!(context[0].candidate.origin, Origin::Remembered);
        let stages: Vec<_> = left.iter().map(|dropped| dropped.stage).collect();
        assert_eq!(stages, [Stage::Context, Stage::Carry]);
    }

    #[test]
    fn every_passage_of_a_merged_source_must_be_readable() {
        let mut merged = cited("A1", "1", &["Cows give milk."]);
        merged.source.candidate.member_chunk_ids = vec!["1".into(), "2".into()];
        let one = BTreeMap::from([now("1", "Cows give milk.")]);
        assert!(shown(vec![merged.clone()], &one, false).is_empty());
        let both = BTreeMap::from([now("1", "Cows eat."), now("2", "Cows give milk.")]);
        assert_eq!(shown(vec![merged], &both, false).len(), 1);
    }

    #[test]
    fn passages_of_the_application_are_left_out_under_a_filter() {
        let mut added = cited("A1", "1", &["Cows give milk."]);
        added.source.candidate.passage.corpus = String::new();
        let none = BTreeMap::new();
        assert_eq!(shown(vec![added.clone()], &none, false).len(), 1);
        assert!(shown(vec![added], &none, true).is_empty());
    }

    #[test]
    fn the_newest_are_appended_within_the_budget() {
        let readable: BTreeMap<_, _> = (0..20)
            .map(|key| now(&key.to_string(), "Cows give milk."))
            .collect();
        let of = |count: usize| -> Vec<ContextSource> {
            let sources = (0..count)
                .map(|key| cited(&format!("A{key}"), &key.to_string(), &["Cows give milk."]));
            shown(sources.collect(), &readable, false)
        };
        let style = MarkerStyle::Lettered;
        let each = remembered_tokens(&of(1)[0], style);
        let mut context = vec![
            cited("A0", "other", &[]).source,
            cited("B1", "1", &[]).source,
        ];
        append(&mut context, of(20), usize::MAX, style, &mut Vec::new());
        // A0 is a marker of the context, the passage of A1 is shown as B1.
        assert_eq!(
            markers(&context)[2..],
            ["A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9"]
        );
        assert_eq!(context.last().unwrap().position, 9);
        let mut small = Vec::new();
        append(&mut small, of(20), 2 * each + 1, style, &mut Vec::new());
        assert_eq!(markers(&small), ["A0", "A1"]);
        assert_eq!(small[0].position, 1);
    }
}
