//! Reading and judging an answer can be given up, whatever it says.

use reground_citations::{
    Cues, Evidence, Families, Lexemes, Source, SupportRules, document_requests, extract, judge,
};
use reground_pulse::felt::{Felt, check};
use reground_pulse::{STRETCH, felt};

#[test]
fn extraction_beats() {
    check("extract", 2, |text| extract(text, &Families::ALL));
}

#[test]
fn lexemes_beat() {
    let text = "1 ".repeat(2 * STRETCH);
    let felt = felt::of(|| Lexemes::of(&text, []));
    assert!(felt.beats >= 2, "{felt:?}");
}

/// Beats of judging so many citations of a source of 16 stretches.
fn beats_of_judging(citations: usize, uri: Option<&str>) -> Felt {
    let extraction = extract(&"Rye [Source: rye.md]. ".repeat(citations), &Families::ALL);
    let lexemes = Lexemes::from(vec!["rye".to_owned()]);
    let sources = [Source {
        lexemes: lexemes.clone(),
        text: "Rye grows here. ".repeat(STRETCH),
        uri: uri.map(str::to_owned),
        ..Source::default()
    }];
    let claims = vec![lexemes; extraction.claims.len()];
    let evidence = Evidence {
        sources: &sources,
        known: &[],
        named: &[],
        claims: &claims,
        cues: &Cues::LANGUAGE_FREE,
        rules: SupportRules {
            threshold: 0.5,
            other_source_margin: 0.2,
        },
    };
    let asking = felt::of(|| document_requests(&extraction, &sources, &[]));
    assert_eq!(asking.beats >= 1, citations >= STRETCH, "{asking:?}");
    felt::of(|| judge(&extraction, &evidence))
}

#[test]
fn judging_many_citations_beats() {
    let judging = beats_of_judging(2 * STRETCH, None);
    assert!(judging.beats >= 1, "{judging:?}");
}

#[test]
fn reading_a_cited_source_beats() {
    let judging = beats_of_judging(1, Some("rye.md"));
    assert!(judging.beats >= 16, "{judging:?}");
}
