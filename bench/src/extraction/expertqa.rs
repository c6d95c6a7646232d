//! Answers of ExpertQA with human labels: the references that each claim literally cites.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use reground_citations::{Extraction, Families, Reference, extract};
use serde::Deserialize;

use crate::data::json_lines;

/// An answer and its claims.
#[derive(Deserialize)]
pub struct Answer {
    answer: String,
    claims: Vec<Claim>,
}

#[derive(Deserialize)]
struct Claim {
    claim: String,
    gold_refs_literal: BTreeSet<u32>,
}

/// The answers of the dev split.
///
/// # Errors
/// A missing or malformed file.
pub fn answers(data: &Path) -> Result<Vec<Answer>> {
    json_lines(&data.join("extraction/expertqa_answers.dev.jsonl.gz"))
}

/// Prints precision, recall and F1 over pairs of claim and reference, and the places of markers outside claims; returns the F1.
pub fn print(answers: &[Answer]) -> f64 {
    let (mut claims, mut both, mut read, mut gold) = (0, 0, 0, 0);
    let mut outside = Outside::default();
    for answer in answers {
        for claim in &answer.claims {
            let extraction = extract(&claim.claim, &Families::ALL);
            let found: BTreeSet<u32> = numbers(&extraction).collect();
            claims += 1;
            both += found.intersection(&claim.gold_refs_literal).count();
            read += found.len();
            gold += claim.gold_refs_literal.len();
        }
        outside.add(answer);
    }
    let share = |of: usize| both as f64 / of as f64;
    let f1 = 2.0 * both as f64 / (read + gold) as f64;
    println!("## ExpertQA, claims of the dev split\n");
    println!(
        "{claims} claims cite {gold} references literally; {read} were extracted, {both} of them correctly."
    );
    println!(
        "Precision {:.3}, recall {:.3}, F1 {f1:.3}.\n",
        share(read),
        share(gold)
    );
    outside.print();
    f1
}

fn numbers(extraction: &Extraction) -> impl Iterator<Item = u32> {
    let number = |reference: &Reference| match reference {
        Reference::Ordinal { number, .. } => Some(*number),
        _ => None,
    };
    extraction
        .citations
        .iter()
        .filter_map(move |c| number(&c.reference))
}

/// Markers of the answers that are in no claim.
#[derive(Default)]
struct Outside {
    all: usize,
    in_claims: usize,
    by_place: BTreeMap<&'static str, usize>,
}

impl Outside {
    fn add(&mut self, answer: &Answer) {
        let extraction = extract(&answer.answer, &Families::ALL);
        self.all += numbers(&extraction).count();
        // Markers are identified by the letters before them, because the claims are sentences with changed white space.
        let mut in_claims: BTreeMap<(String, u32), usize> = BTreeMap::new();
        for claim in &answer.claims {
            let of_claim = extract(&claim.claim, &Families::ALL);
            for (context, number) in contexts(&claim.claim, &of_claim) {
                self.in_claims += 1;
                *in_claims.entry((context, number)).or_default() += 1;
            }
        }
        for ((context, number), citation) in contexts(&answer.answer, &extraction)
            .into_iter()
            .zip(&extraction.citations)
        {
            if let Some(left) = in_claims
                .get_mut(&(context, number))
                .filter(|left| **left > 0)
            {
                *left -= 1;
                continue;
            }
            let place = match (citation.sentence, citation.claim) {
                (None, _) => "on no sentence",
                (_, None) => "in a list of references",
                (Some(sentence), _) => {
                    let text = &answer.answer[extraction.sentences[sentence].clone()];
                    if text.starts_with(['#', '|']) {
                        "on a heading or in a table"
                    } else if text.starts_with(['-', '*', '•']) {
                        "on an item of a list"
                    } else {
                        "on a sentence that is not among the claims"
                    }
                }
            };
            *self.by_place.entry(place).or_default() += 1;
        }
    }

    fn print(&self) {
        let outside: usize = self.by_place.values().sum();
        println!(
            "The answers have {} markers, the claims {} of them; {outside} are outside the claims:",
            self.all, self.in_claims
        );
        for (place, count) in &self.by_place {
            println!("- {count} {place}");
        }
        println!();
    }
}

/// Each number with the letters before it, without markers and punctuation.
fn contexts(text: &str, extraction: &Extraction) -> Vec<(String, u32)> {
    /// Letters that identify a place.
    const LETTERS: usize = 8;
    let mut prose = String::new();
    let mut at = 0;
    let mut contexts = Vec::new();
    for (citation, number) in extraction.citations.iter().zip(numbers(extraction)) {
        let bytes = &citation.span.bytes;
        if bytes.start >= at {
            prose.extend(text[at..bytes.start].chars().filter(|c| c.is_alphabetic()));
            at = bytes.end;
        }
        let from = prose
            .char_indices()
            .rev()
            .nth(LETTERS - 1)
            .map_or(0, |(at, _)| at);
        contexts.push((prose[from..].to_owned(), number));
    }
    contexts
}
