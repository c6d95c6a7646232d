//! The place that a citation names: pages, lines, addresses, names, markers of earlier turns.
#![allow(clippy::unwrap_used)] // for the shared functions of tests

use reground_citations::{
    Cues, Detail, DocumentRequest, Evidence, Families, Interval, KnownMarker, NamedDocument,
    NamedPassage, Source, Status, document_requests, judge,
};
use reground_documents::{NumberedPlace, NumberedText};

use crate::fixture::{RULES, context, judged_by, judged_knowing, lexemes, only, passage, statuses};

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
    assert_eq!(unretrieved.place.unwrap().chunk_id.as_deref(), Some("p5"));
    assert_eq!(
        statuses("Licences renew every spring [Source: faq.md, p. 6]."),
        [Status::InvalidPage]
    );
    // The page belongs to one other passage of the document, which is used.
    let sibling = only("Backups run nightly [A1, p. 9].");
    assert_eq!((sibling.source, sibling.repaired), (Some(1), true));
}

#[test]
fn paragraphs_and_lines_do_not_hide_the_document() {
    let claim = "The server listens on port 5432";
    for cited in [
        "[Source: install.md, p. 3, para 1]",
        "[Source: install.md, page 4, lines 1-2]",
        "[install.md, p. 4]",
        "[Source install.md, p. 4]",
        "[A1, p. 3, line 2]",
    ] {
        let judged = only(&format!("{claim} {cited}."));
        assert_eq!(judged.status, Status::ResolvedCurrent, "{cited}");
        assert_eq!(judged.coordinate_fidelity, Some(1.0), "{cited}");
    }
    assert_eq!(
        statuses(&format!("{claim} [Source: install.md, p. 13, para 1].")),
        [Status::OutOfBounds]
    );
}

const NOTES: &str = "Administrators open Settings.\nThe server listens on port 5432.\n\nBackups run nightly.\nLicences renew every spring.";

fn chars_in_notes(part: &str) -> Option<std::ops::Range<usize>> {
    let start = NOTES.find(part)?;
    Some(start..start + part.len())
}

/// The document of the notes as the server finds it.
fn notes(asked: DocumentRequest) -> NamedDocument {
    let interval = |interval: Option<Interval>| interval.map(|i| (i.start, i.end));
    let place = NumberedPlace {
        pages: interval(asked.at.pages),
        paragraphs: interval(asked.at.paragraphs),
        lines: interval(asked.at.lines),
    };
    let second = "Backups run nightly.\nLicences renew every spring.";
    NamedDocument {
        corpus: "manual".to_owned(),
        doc_id: "notes.txt".to_owned(),
        title: None,
        uri: None,
        page_count: None,
        version: None,
        place: NumberedText::new(NOTES).place(&place),
        bounds: None,
        passages: vec![NamedPassage {
            pages: None,
            chars: chars_in_notes(second),
            ..passage(1, second)
        }],
        asked,
    }
}

/// The status and fidelity of a citation of the notes, whose first paragraph is in the context.
fn in_notes(claim: &str, cited: &str) -> (Status, f64) {
    let mut sources = context();
    sources[0].doc_id = "notes.txt".to_owned();
    sources[0].pages = None;
    sources[0].chars =
        chars_in_notes("Administrators open Settings.\nThe server listens on port 5432.");
    let answer = format!("{claim} {cited}.");
    let extraction = reground_citations::extract(&answer, &Families::ALL);
    let requests = document_requests(&extraction, &sources, &[]);
    let named: Vec<_> = requests.into_iter().map(notes).collect();
    let claims: Vec<_> = extraction.compared_texts().map(lexemes).collect();
    let evidence = Evidence {
        sources: &sources,
        known: &[],
        named: &named,
        claims: &claims,
        cues: &Cues::LANGUAGE_FREE,
        rules: RULES,
    };
    let judged = judge(&extraction, &evidence).unwrap().remove(0);
    (judged.status, judged.coordinate_fidelity.unwrap())
}

/// The lookup finds the claimed lines in the text of the document.
#[test]
fn lines_are_checked_against_the_document() {
    let port = "The server listens on port 5432";
    for (claim, cited, status, fidelity) in [
        (
            port,
            "[Source: notes.txt, line 2]",
            Status::ResolvedCurrent,
            1.0,
        ),
        (port, "[A1, lines 1-2]", Status::ResolvedCurrent, 1.0),
        (
            port,
            "[Source: notes.txt, para 1]",
            Status::ResolvedCurrent,
            1.0,
        ),
        (
            "Licences renew every spring",
            "[notes.txt, line 5]",
            Status::Unretrieved,
            0.0,
        ),
        (
            port,
            "[Source: notes.txt, line 4]",
            Status::InvalidPage,
            0.0,
        ),
        (port, "[A1, paragraph 2]", Status::InvalidPage, 0.0),
        (
            port,
            "[Source: notes.txt, line 6]",
            Status::OutOfBounds,
            0.0,
        ),
        (port, "[A1, line 0]", Status::OutOfBounds, 0.0),
        (port, "[A1, para 3]", Status::OutOfBounds, 0.0),
        // A blank line, and pages of a text that has none: only the document can be checked.
        (
            port,
            "[Source: notes.txt, line 3]",
            Status::ResolvedCurrent,
            0.5,
        ),
        (
            port,
            "[Source: notes.txt, p. 1, line 2]",
            Status::ResolvedCurrent,
            0.5,
        ),
    ] {
        assert_eq!(in_notes(claim, cited), (status, fidelity), "{cited}");
    }
    let (status, fidelity) = in_notes(port, "[A1, lines 2-4]");
    assert_eq!(status, Status::ResolvedCurrent);
    // 32 of 54 characters, two newlines among them.
    assert!((fidelity - 32.0 / 54.0).abs() < 1e-9, "{fidelity}");
}

/// A marker of the context wins, then a document of the context, then a marker of an earlier turn, then other documents.
#[test]
fn documents_with_the_name_of_a_marker() {
    let claim = "The server listens on port 5432";
    let named = |doc_id: &str| {
        let mut sources = context();
        sources[0].doc_id = doc_id.to_owned();
        sources[0].title = Some("Numbers".to_owned());
        sources
    };
    for (cited, sources, status, source) in [
        (
            "[Source: Q3]",
            named("Q3"),
            Status::ResolvedCurrent,
            Some(0),
        ),
        (
            "[Source: q3]",
            named("q3"),
            Status::ResolvedCurrent,
            Some(0),
        ),
        (
            "[Source: Q3, p. 3]",
            named("Q3"),
            Status::ResolvedCurrent,
            Some(0),
        ),
        ("[Q3]", named("Q3"), Status::ResolvedCurrent, Some(0)),
        (
            "[Source: A1]",
            named("A2"),
            Status::ResolvedCurrent,
            Some(0),
        ),
        ("[Source: A2]", named("A2"), Status::WrongSource, Some(1)),
        (
            "[Source: C9]",
            named("C9"),
            Status::ResolvedCurrent,
            Some(0),
        ),
        ("[C9]", named("C9"), Status::StaleTurn, None),
        ("[Source: Q3]", context(), Status::UnknownId, None),
        ("[Q3]", context(), Status::UnknownId, None),
    ] {
        let judged = judged_by(&format!("{claim} {cited}."), &sources).1;
        assert_eq!(
            (judged[0].status, judged[0].source),
            (status, source),
            "{cited}"
        );
    }
    // Documents outside the context are only looked up by an announced name.
    let requests = |answer: &str| {
        let extraction = reground_citations::extract(answer, &Families::ALL);
        reground_citations::document_requests(&extraction, &context(), &[]).len()
    };
    assert_eq!((requests("So [Source: Q3]."), requests("So [Q3].")), (1, 0));
}

/// An address is compared as a whole: an equal path on another host is another document.
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
fn a_marker_whose_passage_was_replaced_is_stale() {
    let answer = "The server listens on port 5432 [C3].";
    let extraction = reground_citations::extract(answer, &Families::ALL);
    for (replaced, status) in [(false, Status::ResolvedCurrent), (true, Status::StaleTurn)] {
        let source = &context()[0];
        let known = KnownMarker {
            marker: "C3".to_owned(),
            corpus: source.corpus.clone(),
            doc_id: source.doc_id.clone(),
            chunk_id: source.chunk_id.clone(),
            pages: None,
            replaced,
        };
        let judged = judged_knowing(&extraction, &context(), &[known]);
        assert_eq!(judged[0].status, status);
    }
}

#[test]
fn names_that_are_not_in_the_context() {
    assert_eq!(only("It is so [C9].").status, Status::StaleTurn);
    assert_eq!(only("It is so [Z1].").status, Status::UnknownId);
    // The passages have no numbers.
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
    sources[0].member_chunk_ids = vec!["c9".to_owned()];
    sources[0].doc_id = "old.md".to_owned();
    assert_eq!(judged_by("It is so [C9].", &sources).1[0].source, Some(0));
}
