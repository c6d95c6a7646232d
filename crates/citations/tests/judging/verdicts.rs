//! Verdicts on citations of sources of the context.

use reground_citations::{Contradiction, Judgement, Status};

use crate::fixture::{RULES, context, judged_by, only, source, statuses};

#[test]
fn verdicts_on_sources_of_the_context() {
    let held = only("The server listens on port 5432 [A1].");
    assert_eq!(held.status, Status::ResolvedCurrent);
    assert_eq!(
        (held.support, held.coordinate_fidelity),
        (Some(1.0), Some(1.0))
    );
    let quote = held.quote.unwrap();
    assert_eq!(
        (quote.text.as_str(), quote.chars),
        ("The server listens on port 5432.", 30..62)
    );
    assert_eq!(
        statuses("Passwords expire after ninety days [b1]."),
        [Status::ResolvedCarried]
    );
    assert!(only("Passwords expire after ninety days [b1].").repaired);
    // A claim without content cannot be checked.
    let bare = only("So it is [A1].");
    assert_eq!((bare.status, bare.support), (Status::ResolvedCurrent, None));
}

/// A citation of a hidden source has no verdict, and the source supports no other citation.
#[test]
fn hidden_sources_are_not_compared() {
    let claim = "Passwords expire after ninety days";
    let mut sources = context();
    sources[2] = sources[2].clone().hide();
    let judged = |answer: String| judged_by(&answer, &sources).1.remove(0);
    let cited = judged(format!("{claim} [B1]."));
    assert_eq!(
        (cited.status, cited.coordinate_fidelity, cited.support),
        (Status::Unresolvable, None, None)
    );
    assert!(cited.parts.is_none() && cited.quote.is_none());
    assert_eq!(cited.place.unwrap().doc_id, "users.md");
    for answer in [format!("{claim} [A1]."), format!("{claim} [A1] [B1].")] {
        let other = judged(answer);
        assert_eq!(
            (other.status, other.support, other.best_other),
            (Status::Unsupported, Some(0.0), None)
        );
    }
}

#[test]
fn unsupported_content() {
    let invented = only("Quantum toasters hover above meadows [A1].");
    assert_eq!(
        (invented.status, invented.support),
        (Status::Unsupported, Some(0.0))
    );
    let conflated = only("Passwords expire after ninety days [A1].");
    assert_eq!(conflated.status, Status::WrongSource);
    let other = conflated.best_other.unwrap();
    assert_eq!((other.marker.as_str(), other.support), ("B1", 1.0));
    // Words of the right source do not outweigh a contradicted number.
    let other_number = only("Backups take 90 minutes [A2].");
    assert_eq!(other_number.status, Status::Unsupported);
    let parts = other_number.parts.unwrap();
    assert_eq!(
        (parts.coverage, parts.numbers_missing),
        (0.75, vec!["90".to_owned()])
    );
    assert_eq!(
        parts.numbers_contradicted,
        [Contradiction {
            claimed: "90".to_owned(),
            found: "20".to_owned(),
            of: "minutes".to_owned()
        }]
    );
}

#[test]
fn claims_over_several_sources() {
    let both = "Administrators open settings, backups nightly minutes";
    assert_eq!(
        statuses(&format!("{both} [A1][A2].")),
        [Status::ResolvedCurrent, Status::ResolvedCurrent]
    );
    let spanning = "Administrators open settings, backups nightly, passwords ninety days";
    assert_eq!(
        statuses(&format!("{spanning} [A1].")),
        [Status::InsufficientAttribution]
    );
    // The second citation adds nothing, so it is judged alone.
    assert_eq!(
        statuses("The server listens on port 5432 [A1][B1]."),
        [Status::ResolvedCurrent, Status::Unsupported]
    );
}

/// The words of each source are enough for the claim, but it states a second fact of another source.
#[test]
fn two_facts_under_one_citation() {
    let sources = [
        source(
            "S1",
            "S1",
            None,
            "Ordinary visitors receive printed tickets before concerts begin.",
        ),
        source(
            "S2",
            "S2",
            None,
            "Elderly gardeners water tropical flowers every evening.",
        ),
    ];
    let answer = |markers: &str| {
        let claim = "Visitors receive printed tickets before concerts begin, and gardeners water tropical flowers every evening";
        let judged = judged_by(&format!("{claim} {markers}."), &sources).1;
        judged
            .iter()
            .map(|judgement| judgement.status)
            .collect::<Vec<_>>()
    };
    assert_eq!(answer("[S1]"), [Status::InsufficientAttribution]);
    assert_eq!(answer("[S2]"), [Status::InsufficientAttribution]);
    assert_eq!(answer("[S1][S2]"), [Status::ResolvedCurrent; 2]);
    let alone = "Visitors receive printed tickets before concerts begin [S1].";
    assert_eq!(
        judged_by(alone, &sources).1[0].status,
        Status::ResolvedCurrent
    );
}

/// Each of three facts is supported by its own source only.
#[test]
fn facts_of_one_sentence() {
    let capitals = [
        ("S1", "Paris has been the capital of France since 987."),
        (
            "S2",
            "Berlin is the capital of Germany and its largest city.",
        ),
        ("S3", "Rome became the capital of Italy in 1871."),
    ];
    let sources = capitals.map(|(marker, text)| source(marker, marker, None, text));
    let judged = |markers: [&str; 3]| {
        let [a, b, c] = markers;
        let answer = format!(
            "Paris is the capital of France [{a}], Berlin of Germany [{b}], and Rome of Italy [{c}]."
        );
        judged_by(&answer, &sources).1
    };
    let right = judged(["S1", "S2", "S3"]);
    for judgement in &right {
        assert_eq!(judgement.status, Status::ResolvedCurrent, "{judgement:?}");
        assert_eq!(judgement.detail, None);
        assert!(judgement.support.unwrap() > RULES.threshold);
    }
    let segment = |judgement: &Judgement| judgement.parts.clone().unwrap().segment;
    assert_eq!(segment(&right[1]).as_deref(), Some(", Berlin of Germany"));
    for judgement in judged(["S2", "S3", "S1"]) {
        assert_eq!(judgement.status, Status::WrongSource, "{judgement:?}");
    }
    // A claim is judged as a whole if all sources are cited at one place.
    let answer = "Paris is the capital of France, Berlin of Germany [S1][S2].";
    for judgement in judged_by(answer, &sources).1 {
        assert_eq!(segment(&judgement), None);
        assert_eq!(judgement.status, Status::ResolvedCurrent, "{judgement:?}");
    }
}
