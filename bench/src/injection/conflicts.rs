//! Conflicting sources. The second passage of a pair contains a sentence of the first with one change. Conflicts in the contexts of real
//! questions count as false alarms.

use std::collections::BTreeSet;

use anyhow::Result;
use postgres::GenericClient;
use reground_citations::{Cues, Lexemes, SourceConflict, Text, source_conflicts};
use unicode_segmentation::UnicodeSegmentation;

use super::answers::{CLEAR, Passage, ShownAnswer};
use super::conflicting_pair::Pair;
use super::fault_kind::FaultKind;
use super::faults;
use super::generated_facts;
use super::near_faults::NearFault;
use super::report::Figure;
use crate::attribution::marking::MIN_OVERLAP;
use crate::attribution::overlap::overlap;
use crate::data::corpus::Corpus;
use crate::data::queries::{Form, queries};
use crate::data::{Domain, Folder};
use crate::statistics::random::SplitMix;
use crate::support::stemmed;

/// Number of pairs of each kind.
const PAIRS: usize = 200;

/// Passages of a context.
const SHOWN: usize = 8;

/// Prints and returns the shares of conflicts that are found, and of contexts without a conflict.
///
/// # Errors
/// Missing data, errors of the server.
pub fn measure(
    client: &mut impl GenericClient,
    folder: &Folder,
    all: &[ShownAnswer],
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    println!("## Conflicting sources\n");
    println!("| changed statement | pairs | found |\n|---|---:|---:|");
    let number: Change = |said, source, _, random| faults::with_other_number(said, source, random);
    let denial: Change =
        |said, source, shown, random| NearFault::Denial.put_into(said, source, shown, random);
    let numbers = copied(all, number, random);
    let denials = copied(all, denial, random);
    let other_numbers = paraphrased(all, FaultKind::ChangedNumber, random);
    let other_denials = paraphrased(all, FaultKind::Negated, random);
    let mut figures = Vec::new();
    for (name, pairs) in [
        ("copied, number", numbers),
        ("copied, denial", denials),
        ("words of an answer, number", other_numbers),
        ("words of an answer, denial", other_denials),
        (
            "generated, number",
            generated_facts::conflicts(false, PAIRS, random),
        ),
        (
            "generated, denial",
            generated_facts::conflicts(true, PAIRS, random),
        ),
    ] {
        let share = found(client, &pairs)?;
        println!("| {name} | {} | {share:.3} |", pairs.len());
        figures.push((format!("conflicts, {name}"), share));
    }
    println!("\n| contexts | n | with a conflict |\n|---|---:|---:|");
    for domain in Domain::ALL {
        let (contexts, alarms) = alarms(client, folder, domain)?;
        let share = alarms as f64 / contexts as f64;
        println!("| {} | {contexts} | {share:.3} |", domain.name());
        figures.push((format!("conflicts, none in {}", domain.name()), 1.0 - share));
    }
    println!();
    Ok(figures)
}

/// Number of contexts of a domain, and of those with a conflict. A context has the passages that are nearest to the user's words.
fn alarms(
    client: &mut impl GenericClient,
    folder: &Folder,
    domain: Domain,
) -> Result<(usize, usize)> {
    let corpus = Corpus::read(folder, domain)?;
    let queries = queries(folder, domain, Form::LastTurn)?;
    let mut alarms = 0;
    for query in &queries {
        let found = conflicts(client, &nearest(&corpus, &query.embedding))?;
        alarms += usize::from(!found.is_empty());
    }
    Ok((queries.len(), alarms))
}

/// The texts nearest to an embedding, each once.
fn nearest<'a>(corpus: &'a Corpus, embedding: &[f32]) -> Vec<&'a str> {
    let product = |other: &[f32]| other.iter().zip(embedding).map(|(a, b)| a * b).sum::<f32>();
    let passages = corpus.embeddings.iter().zip(&corpus.passages);
    let mut scored: Vec<(f32, &str)> = passages
        .map(|(other, passage)| (product(other), passage.text.as_str()))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen = BTreeSet::new();
    let texts = scored.into_iter().map(|(_, text)| text);
    texts
        .filter(|text| seen.insert(*text))
        .take(SHOWN)
        .collect()
}

fn conflicts(client: &mut impl GenericClient, texts: &[&str]) -> Result<Vec<SourceConflict>> {
    let lexemes: Vec<Lexemes> = stemmed(client, "english", texts)?;
    let texts: Vec<Text<'_>> = texts
        .iter()
        .zip(&lexemes)
        .map(|(text, lexemes)| Text { text, lexemes })
        .collect();
    Ok(source_conflicts(&texts, &Cues::built_in("en")))
}

/// Share of the pairs whose changed statement is found.
fn found(client: &mut impl GenericClient, pairs: &[Pair]) -> Result<f64> {
    let mut found = 0;
    for pair in pairs {
        let conflicts = conflicts(client, &[&pair.one, &pair.other])?;
        let is_it = |conflict: &SourceConflict| {
            let text = conflict.other.text.as_str();
            text.contains(pair.changed.trim()) || pair.changed.contains(text)
        };
        found += usize::from(conflicts.iter().any(is_it));
    }
    Ok(found as f64 / pairs.len().max(1) as f64)
}

/// A way to change a sentence of a passage.
type Change = fn(&str, &Passage, &ShownAnswer, &mut SplitMix) -> Option<String>;

/// A changed copy of a sentence of one passage, in another passage.
fn copied(all: &[ShownAnswer], change: Change, random: &mut SplitMix) -> Vec<Pair> {
    let passages = all.iter().flat_map(|shown| {
        let passages = shown.passages.iter();
        passages.map(move |source| (shown, source))
    });
    let mut seen = BTreeSet::new();
    let pairs = shuffled(passages, random)
        .into_iter()
        .filter_map(|(shown, source)| {
            let sentences = source.text.split_sentence_bounds();
            let sentences: Vec<&str> = sentences.filter(|text| is_statement(text)).collect();
            let said = *random.choose(&sentences)?;
            let changed = change(said, source, shown, random)?;
            seen.insert(said)
                .then(|| pair(shown, source, said, changed, random))?
        });
    pairs.take(PAIRS).collect()
}

/// A changed sentence of an answer, whose source is a passage, in another passage.
fn paraphrased(all: &[ShownAnswer], kind: FaultKind, random: &mut SplitMix) -> Vec<Pair> {
    let sentences = all.iter().flat_map(|shown| {
        let citing = shown.citing();
        citing.map(move |place| (shown, place))
    });
    let pairs = shuffled(sentences, random)
        .into_iter()
        .filter_map(|(shown, place)| {
            let sentence = &shown.sentences[place];
            let (right, contained) = sentence.supported_by?;
            let changed = faults::fault(all, shown, place, kind, random)?.said;
            (contained >= CLEAR).then(|| {
                pair(
                    shown,
                    &shown.passages[right],
                    &sentence.text,
                    changed,
                    random,
                )
            })?
        });
    pairs.take(PAIRS).collect()
}

fn shuffled<T>(items: impl Iterator<Item = T>, random: &mut SplitMix) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    random.shuffle(&mut items);
    items
}

/// The passage, and another one with the changed sentence; `None` if no passage is suitable, or the changed text is no statement.
fn pair(
    shown: &ShownAnswer,
    source: &Passage,
    said: &str,
    changed: String,
    random: &mut SplitMix,
) -> Option<Pair> {
    let other = host(shown, source, said, random)?;
    is_statement(&changed).then(|| Pair {
        one: source.text.clone(),
        other: put(other, &changed, random),
        changed,
    })
}

/// Whether a text is a sentence, and no heading, table or code.
fn is_statement(text: &str) -> bool {
    let text = text.trim();
    let words = text.split_whitespace().count();
    text.starts_with(char::is_uppercase)
        && text.ends_with('.')
        && (8..=40).contains(&words)
        && !text.contains(['|', '`', '/', '_', '<', '\n', '*', '['])
}

/// Another passage that does not say the same.
fn host<'a>(
    shown: &'a ShownAnswer,
    source: &Passage,
    said: &str,
    random: &mut SplitMix,
) -> Option<&'a Passage> {
    let differs = |other: &&Passage| {
        other.text != source.text
            && overlap(said, &other.words).is_none_or(|contained| contained < MIN_OVERLAP)
    };
    let others: Vec<&Passage> = shown.passages.iter().filter(differs).collect();
    random.choose(&others).copied()
}

/// The passage with a sentence before or after one of its sentences.
fn put(host: &Passage, sentence: &str, random: &mut SplitMix) -> String {
    let mut sentences: Vec<&str> = host.text.split_sentence_bounds().collect();
    let sentence = format!("{} ", sentence.trim_end());
    let ends: Vec<usize> = (1..=sentences.len())
        .filter(|end| {
            sentences[end - 1].trim_end().ends_with(['.', '!']) && sentences[end - 1].ends_with(' ')
        })
        .chain([0])
        .collect();
    let place = ends[random.below(ends.len())];
    sentences.insert(place, &sentence);
    sentences.concat()
}
