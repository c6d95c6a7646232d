//! A sample of the citations with their context, for manual review.

use std::collections::BTreeSet;

use reground_citations::{ExtractedCitation, Families, extract};

use crate::statistics::random::SplitMix;

/// Characters shown on either side.
const AROUND: usize = 70;

/// Prints a sample of citation strings.
pub fn print(answers: &[String], count: usize, seed: u64) {
    if count == 0 {
        return;
    }
    let mut all: Vec<(usize, ExtractedCitation)> = Vec::new();
    for (number, answer) in answers.iter().enumerate() {
        let mut last = None;
        for citation in extract(answer, &Families::ALL).citations {
            if last != Some(citation.span.bytes.start) {
                last = Some(citation.span.bytes.start);
                all.push((number, citation));
            }
        }
    }
    let mut random = SplitMix(seed);
    let mut chosen = BTreeSet::new();
    while chosen.len() < count.min(all.len()) {
        chosen.insert(random.below(all.len()));
    }
    println!(
        "## {} of {} citation strings, seed {seed}\n",
        chosen.len(),
        all.len()
    );
    for (line, index) in chosen.into_iter().enumerate() {
        let (number, citation) = &all[index];
        let bytes = &citation.span.bytes;
        let text = &answers[*number];
        let before: String = text[..bytes.start].chars().rev().take(AROUND).collect();
        let before: String = before.chars().rev().collect();
        let after: String = text[bytes.end..].chars().take(AROUND).collect();
        let flat = |text: &str| text.replace('\n', "⏎");
        println!(
            "{:3} {:14} {}⟦{}⟧{}",
            line + 1,
            citation.form.to_string(),
            flat(&before),
            flat(citation.raw(text)),
            flat(&after)
        );
    }
}
