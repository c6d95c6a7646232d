//! From evidence to verdict, score and decision.
#![allow(clippy::unwrap_used)] // in the functions that tests share too

use reground_citations::{
    Action, Contradiction, Cues, Detail, Diagnostic, DocumentRequest, Error, Evidence, Extraction,
    Factors, Families, Judgement, KnownMarker, Lexemes, LossStage, MessageScores, Mode,
    NamedDocument, NamedPassage, Objection, Pages, PolicyRules, Source, StageFacts, Status,
    SupportRules, Target, decide, document_requests, extract, judge, score,
};

const RULES: SupportRules = SupportRules {
    threshold: 0.5,
    other_source_margin: 0.2,
};

/// A stand-in for the server: lower-case words of more than three letters, and numbers.
fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    Lexemes::of(
        text,
        words.filter(|word| word.len() > 3).map(str::to_lowercase),
    )
}

fn source(marker: &str, doc_id: &str, pages: Option<(u32, u32)>, text: &str) -> Source {
    Source {
        marker: marker.to_owned(),
        corpus: "manual".to_owned(),
        doc_id: doc_id.to_owned(),
        passage: marker.to_lowercase(),
        title: Some(format!("The {doc_id} guide")),
        uri: Some(format!("https://docs.example/{doc_id}")),
        pages: pages.map(|(start, end)| Pages::new(start, end)),
        text: text.to_owned(),
        lexemes: lexemes(text),
        ..Source::default()
    }
}

fn context() -> Vec<Source> {
    vec![
        source(
            "A1",
            "install.md",
            Some((3, 4)),
            "Administrators open Settings. The server listens on port 5432.",
        ),
        source(
            "A2",
            "install.md",
            Some((9, 9)),
            "Backups run nightly and take 20 minutes.",
        ),
        Source {
            carried: true,
            ..source(
                "B1",
                "users.md",
                None,
                "Passwords expire after ninety days unless the policy differs.",
            )
        },
    ]
}

fn known() -> Vec<KnownMarker> {
    let known = |marker: &str, doc_id: &str, passage: &str| KnownMarker {
        marker: marker.to_owned(),
        corpus: "manual".to_owned(),
        doc_id: doc_id.to_owned(),
        passage: passage.to_owned(),
        pages: None,
    };
    vec![known("A1", "install.md", "a1"), known("C9", "old.md", "c9")]
}

fn passage(page: u32, text: &str) -> NamedPassage {
    NamedPassage {
        passage: format!("p{page}"),
        pages: Some(Pages::new(page, page)),
        text: text.to_owned(),
        lexemes: lexemes(text),
    }
}

/// Two documents outside the context, answering whatever asks for them.
fn look_up(requests: Vec<DocumentRequest>) -> Vec<NamedDocument> {
    let answer = |asked: DocumentRequest| {
        let (doc_id, page_count) = match &asked.target {
            Target::Name(name) if name == "faq.md" => ("faq.md", 7),
            Target::Document { doc_id, .. } if doc_id == "install.md" => ("install.md", 12),
            _ => return None,
        };
        Some(NamedDocument {
            corpus: "manual".to_owned(),
            doc_id: doc_id.to_owned(),
            title: None,
            uri: None,
            bounds: None,
            page_count: Some(page_count),
            passages: vec![
                passage(5, "Licences renew every spring."),
                passage(6, "Telephones ring loudly."),
            ],
            asked,
        })
    };
    requests.into_iter().filter_map(answer).collect()
}

fn judged_by(answer: &str, sources: &[Source]) -> (Extraction, Vec<Judgement>) {
    let extraction = extract(answer, &Families::ALL);
    let known = known();
    let named = look_up(document_requests(&extraction, sources, &known));
    let claims: Vec<_> = extraction
        .claims
        .iter()
        .map(|claim| lexemes(&claim.text))
        .collect();
    let evidence = Evidence {
        sources,
        known: &known,
        named: &named,
        claims: &claims,
        rules: RULES,
        cues: &Cues::LANGUAGE_FREE,
    };
    let judged = judge(&extraction, &evidence).unwrap();
    assert_eq!(judged.len(), extraction.citations.len());
    (extraction, judged)
}

fn statuses(answer: &str) -> Vec<Status> {
    judged_by(answer, &context())
        .1
        .iter()
        .map(|j| j.status)
        .collect()
}

fn only(answer: &str) -> Judgement {
    let mut judged = judged_by(answer, &context()).1;
    assert_eq!(judged.len(), 1, "{answer}");
    judged.remove(0)
}

#[test]
fn the_table_of_statuses() {
    let row = |s: Status| (s.holds(), s.score(), s.mode());
    let fabricated = Some(Mode::FabricatedCoordinate);
    let expected = [
        (Some(true), Some(1.0), None),
        (Some(true), Some(1.0), None),
        (Some(false), Some(1.0), Some(Mode::CrossTextConflation)),
        (Some(false), Some(1.0), Some(Mode::ParaphraseAttribution)),
        (Some(false), Some(1.0), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.3), None),
        (Some(false), Some(0.0), fabricated),
        (Some(false), Some(0.0), fabricated),
        (Some(true), Some(1.0), None),
        (None, None, None),
        (None, None, None),
    ];
    assert_eq!(Status::ALL.map(row), expected);
}

#[test]
fn in_the_context() {
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
    // Nothing to check: a claim without content.
    let bare = only("So it is [A1].");
    assert_eq!((bare.status, bare.support), (Status::ResolvedCurrent, None));
}

#[test]
fn content_that_is_not_there() {
    let invented = only("Quantum toasters hover above meadows [A1].");
    assert_eq!(
        (invented.status, invented.support),
        (Status::Unsupported, Some(0.0))
    );
    let conflated = only("Passwords expire after ninety days [A1].");
    assert_eq!(conflated.status, Status::WrongSource);
    let other = conflated.best_other.unwrap();
    assert_eq!((other.marker.as_str(), other.support), ("B1", 1.0));
    // Words of the right source do not make up for a number that it gives otherwise.
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

/// Each of three facts is held by its own source, and by no other.
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
    // What all cite together is judged whole, and so is what is cited once.
    let answer = "Paris is the capital of France, Berlin of Germany [S1][S2].";
    for judgement in judged_by(answer, &sources).1 {
        assert_eq!(segment(&judgement), None);
        assert_eq!(judgement.status, Status::ResolvedCurrent, "{judgement:?}");
    }
}

#[test]
fn pages() {
    let claim = "The server listens on port 5432";
    for (cited, status, fidelity, detail) in [
        ("[A1, p. 3]", Status::ResolvedCurrent, 1.0, None),
        (
            "[Source: install.md, pp. 3-4]",
            Status::ResolvedCurrent,
            1.0,
            None,
        ),
        (
            "[Source: install.md]",
            Status::ResolvedCurrent,
            0.5,
            Some(Detail::DocumentOnly),
        ),
        (
            "[Source: The install.md guide]",
            Status::ResolvedCurrent,
            0.5,
            Some(Detail::DocumentOnly),
        ),
        (
            "[Source: INSTALL, p. 4]",
            Status::ResolvedCurrent,
            1.0,
            None,
        ),
        (
            "[Source: install.md, pp. 4-5]",
            Status::ResolvedCurrent,
            0.5,
            Some(Detail::PagesPartlyInContext),
        ),
        ("[A1, p. 0]", Status::OutOfBounds, 0.0, None),
        ("[A1, p. 13]", Status::OutOfBounds, 0.0, None),
        (
            "[Source: install.md, pp. 4-13]",
            Status::OutOfBounds,
            0.0,
            None,
        ),
        (
            "[Source: install.md, p. 5]",
            Status::InvalidPage,
            0.0,
            Some(Detail::InvalidPage),
        ),
        (
            "[Source: faq.md, p. 5]",
            Status::InvalidPage,
            0.0,
            Some(Detail::InvalidPage),
        ),
        ("[Source: faq.md, p. 8]", Status::OutOfBounds, 0.0, None),
        ("[Source: nowhere.md, p. 1]", Status::UnknownId, 0.0, None),
    ] {
        let judged = only(&format!("{claim} {cited}."));
        assert_eq!(
            (judged.status, judged.coordinate_fidelity, judged.detail),
            (status, Some(fidelity), detail),
            "{cited}"
        );
    }
    let unretrieved = only("Licences renew every spring [Source: faq.md, p. 5].");
    assert_eq!(unretrieved.status, Status::Unretrieved);
    assert_eq!(unretrieved.place.unwrap().passage.as_deref(), Some("p5"));
    assert_eq!(
        statuses("Licences renew every spring [Source: faq.md, p. 6]."),
        [Status::InvalidPage]
    );
    // The page names the sibling: one fits, so it is followed.
    let sibling = only("Backups run nightly [A1, p. 9].");
    assert_eq!((sibling.source, sibling.repaired), (Some(1), true));
}

/// An address is a whole: another host's is another document's, whatever its path ends with.
#[test]
fn addresses() {
    let claim = "The server listens on port 5432";
    for (address, status, repaired) in [
        (
            "https://docs.example/install.md",
            Status::ResolvedCurrent,
            false,
        ),
        (
            "HTTPS://Docs.Example:443/x/../install.md?utm_source=mail#top",
            Status::ResolvedCurrent,
            true,
        ),
        ("docs.example/install.md", Status::ResolvedCurrent, true),
        ("install", Status::ResolvedCurrent, true),
        (
            "https://elsewhere.example/install.md",
            Status::UnknownId,
            false,
        ),
        (
            "https://elsewhere.example/install",
            Status::UnknownId,
            false,
        ),
        ("http://docs.example/install.md", Status::UnknownId, false),
        (
            "https://docs.example/old/install.md",
            Status::UnknownId,
            false,
        ),
        ("elsewhere.example/install.md", Status::UnknownId, false),
        ("old/install.md", Status::UnknownId, false),
    ] {
        let judged = only(&format!("{claim} [Source: {address}, p. 4]."));
        assert_eq!(
            (judged.status, judged.repaired),
            (status, repaired),
            "{address}"
        );
    }
}

#[test]
fn names_that_are_not_in_the_context() {
    assert_eq!(only("It is so [C9].").status, Status::StaleTurn);
    assert_eq!(only("It is so [Z1].").status, Status::UnknownId);
    // Numbers were not handed over.
    assert_eq!(only("It is so [1].").status, Status::UnknownId);
    assert_eq!(only("It is so [A1,].").status, Status::Malformed);
    assert_eq!(
        only("It is so (Smith et al., 2020).").status,
        Status::Unresolvable
    );
    let numbered: Vec<_> = context()
        .into_iter()
        .zip(1..)
        .map(|(s, n)| Source {
            ordinal: Some(n),
            ..s
        })
        .collect();
    assert_eq!(
        judged_by("Backups run nightly [2].", &numbered).1[0].source,
        Some(1)
    );
}

#[test]
fn a_merged_passage_is_found_by_its_earlier_marker() {
    let mut sources = context();
    sources[0].members = vec!["c9".to_owned()];
    sources[0].doc_id = "old.md".to_owned();
    assert_eq!(judged_by("It is so [C9].", &sources).1[0].source, Some(0));
}

#[test]
fn evidence_must_fit() {
    let extraction = extract("It is so [A1].", &Families::ALL);
    let evidence = Evidence {
        sources: &[],
        known: &[],
        named: &[],
        claims: &[],
        rules: RULES,
        cues: &Cues::LANGUAGE_FREE,
    };
    assert_eq!(
        judge(&extraction, &evidence),
        Err(Error::ClaimLexemes {
            claims: 1,
            given: 0
        })
    );
}

#[test]
fn factors_and_where_a_citation_was_lost() {
    let facts = |retrieved, reranked, in_context| {
        Some(StageFacts {
            coordinates: true,
            retrieved,
            reranked,
            in_context,
        })
    };
    for (status, facts, lost, product) in [
        (
            Status::ResolvedCurrent,
            facts(true, true, true),
            None,
            Some(1.0),
        ),
        (Status::InsufficientAttribution, None, None, Some(1.0)),
        (
            Status::Unsupported,
            facts(true, true, true),
            Some(LossStage::Generation),
            Some(0.0),
        ),
        (
            Status::StaleTurn,
            facts(true, true, false),
            Some(LossStage::Context),
            Some(0.0),
        ),
        (
            Status::Unretrieved,
            facts(true, false, false),
            Some(LossStage::Rerank),
            Some(0.0),
        ),
        (
            Status::InvalidPage,
            None,
            Some(LossStage::Retrieval),
            Some(0.0),
        ),
        (
            Status::UnknownId,
            None,
            Some(LossStage::Generation),
            Some(0.0),
        ),
        (Status::Malformed, None, None, None),
    ] {
        let factors = Factors::of(status, facts);
        assert_eq!(
            (factors.lost_at(), factors.product()),
            (lost, product),
            "{status:?}"
        );
    }
    assert_eq!(
        Factors::of(Status::UnknownId, None).0,
        [None, None, None, None, Some(false)]
    );
    assert_eq!(
        Factors::of(Status::Unretrieved, facts(true, false, false)).0,
        [Some(true), Some(true), Some(false), None, None]
    );
}

fn scored(answer: &str) -> (Vec<Judgement>, MessageScores) {
    let judged = judged_by(answer, &context()).1;
    let facts = vec![None; judged.len()];
    let scores = score(&judged, &facts, |_| 1.0).unwrap().0;
    (judged, scores)
}

#[test]
fn message_scores_and_decision() {
    let (judged, scores) = scored(
        "The server listens on port 5432 [A1]. Quantum toasters hover [A2]. It is so [C9]. Nothing else [Z1]. Or this [A1,].",
    );
    let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-12;
    assert_eq!(
        (
            scores.citations,
            scores.scored,
            scores.held,
            scores.malformed
        ),
        (5, 4, 1, 1)
    );
    assert!(near(scores.cfs, (1.0 + 1.0 + 0.3 + 0.0) / 4.0));
    assert!(near(scores.stage_cfs, 0.25));
    // The stale one has no support of its own and stays outside.
    assert!(near(scores.grounded_cfs, 1.0 / 3.0));
    assert!(near(scores.parse_failure_rate(false), 0.2));
    assert_eq!(
        judged[3].status.diagnostic(),
        Some(Diagnostic::HallucinatedDocumentId)
    );
    let rules = PolicyRules {
        min_cfs: Some(0.9),
        require_citations: true,
    };
    let decision = decide(&judged, &scores, &rules);
    assert_eq!(decision.action, Action::Regenerate);
    assert_eq!(decision.reasons, [Objection::UnknownId, Objection::LowCfs]);
    let (judged, scores) = scored("No citation at all.");
    assert_eq!(
        (scores.cfs, scores.stage_cfs, scores.diagnostic()),
        (None, None, Some("no_citations_found"))
    );
    assert_eq!(
        decide(&judged, &scores, &rules).reasons,
        [Objection::NoCitations]
    );
    assert_eq!(
        decide(&judged, &scores, &PolicyRules::default()).action,
        Action::Accept
    );
}

#[test]
fn ten_thousand_markers_are_judged() {
    let answer: String = (0..10_000)
        .map(|n| format!("Fact {n} about servers [A{}]. ", n % 3))
        .collect();
    let (_, judged) = judged_by(&answer, &context());
    assert_eq!(judged.len(), 10_000);
    let unknown = judged
        .iter()
        .filter(|j| j.status == Status::UnknownId)
        .count();
    assert_eq!(unknown, 3_334);
}
