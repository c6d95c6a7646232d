//! Reading and judging an answer can be given up, whatever it says.

use reground_citations::{
    Evidence, Families, Lexemes, Source, SupportRules, document_requests, extract, judge,
};
use reground_pulse::felt::check;
use reground_pulse::{STRETCH, felt};

#[test]
fn extraction_beats() {
    check("extract", 4, |text| extract(text, &Families::ALL));
}

#[test]
fn lexemes_beat() {
    let text = "1 ".repeat(2 * STRETCH);
    let felt = felt::of(|| Lexemes::of(&text, []));
    assert!(felt.beats >= 2, "{felt:?}");
}

/// As many citations as are listed, each of a claim of its own.
#[test]
fn judging_beats() {
    let extraction = extract(
        &"Rye [Source: rye.md]. ".repeat(2 * STRETCH),
        &Families::ALL,
    );
    let lexemes = Lexemes::from(vec!["rye".to_owned()]);
    let source = |text: String| Source {
        lexemes: lexemes.clone(),
        text,
        ..Source::default()
    };
    let sources = [source("Rye grows here. ".repeat(STRETCH))];
    let claims = vec![lexemes.clone(); extraction.claims.len()];
    let evidence = Evidence {
        sources: &sources,
        known: &[],
        named: &[],
        claims: &claims,
        rules: SupportRules {
            threshold: 0.5,
            other_source_margin: 0.2,
        },
    };
    let asking = felt::of(|| document_requests(&extraction, &sources, &[]));
    assert!(asking.beats >= 1, "{asking:?}");
    let judging = felt::of(|| judge(&extraction, &evidence));
    // One beat a stretch of the source's text, and one for the citations.
    assert!(judging.beats >= 17, "{judging:?}");
}
