//! Extraction and judging check for interrupts on any input.

use reground_citations::{
    Cues, Evidence, Families, Lexemes, Source, SupportRules, document_requests, extract, judge,
};
use reground_interrupt::CHECK_INTERVAL;
use reground_interrupt::test_support::{self, Checks, assert_checked};

#[test]
fn extraction_checks_for_interrupts() {
    assert_checked("extract", 2, |text| extract(text, &Families::ALL));
}

#[test]
fn lexemes_check_for_interrupts() {
    let text = "1 ".repeat(2 * CHECK_INTERVAL);
    let checks = test_support::measure(|| Lexemes::of(&text, []));
    assert!(checks.count >= 2, "{checks:?}");
}

/// The interrupt checks of judging this number of citations of a source of 16 intervals.
fn checks_while_judging(citations: usize, uri: Option<&str>) -> Checks {
    let extraction = extract(&"Rye [Source: rye.md]. ".repeat(citations), &Families::ALL);
    let lexemes = Lexemes::from(vec!["rye".to_owned()]);
    let sources = [Source {
        lexemes: lexemes.clone(),
        content: "Rye grows here. ".repeat(CHECK_INTERVAL),
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
    let asking = test_support::measure(|| document_requests(&extraction, &sources, &[]));
    assert_eq!(asking.count >= 1, citations >= CHECK_INTERVAL, "{asking:?}");
    test_support::measure(|| judge(&extraction, &evidence))
}

#[test]
fn judging_many_citations_checks_for_interrupts() {
    let judging = checks_while_judging(2 * CHECK_INTERVAL, None);
    assert!(judging.count >= 1, "{judging:?}");
}

#[test]
fn reading_a_cited_source_checks_for_interrupts() {
    let judging = checks_while_judging(1, Some("rye.md"));
    assert!(judging.count >= 16, "{judging:?}");
}
