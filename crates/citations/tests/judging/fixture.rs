//! A context of three sources, markers of earlier turns, and documents to look up.
#![allow(clippy::unwrap_used)] // only tests call it

use reground_citations::{
    Cues, DocumentRequest, Evidence, Extraction, Families, Interval, Judgement, KnownMarker,
    Lexemes, NamedDocument, NamedPassage, Source, Status, SupportRules, Target, document_requests,
    extract, judge,
};

pub const RULES: SupportRules = SupportRules {
    threshold: 0.5,
    other_source_margin: 0.2,
};

/// Replaces the server: lower-case words of more than three letters, and numbers.
pub fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    Lexemes::of(
        text,
        words.filter(|word| word.len() > 3).map(str::to_lowercase),
    )
}

pub fn source(marker: &str, doc_id: &str, pages: Option<(u32, u32)>, text: &str) -> Source {
    Source {
        marker: marker.to_owned(),
        corpus: "manual".to_owned(),
        doc_id: doc_id.to_owned(),
        chunk_id: marker.to_lowercase(),
        title: Some(format!("The {doc_id} guide")),
        uri: Some(format!("https://docs.example/{doc_id}")),
        pages: pages.map(|(start, end)| Interval::new(start, end)),
        content: text.to_owned(),
        lexemes: lexemes(text),
        ..Source::default()
    }
}

pub fn context() -> Vec<Source> {
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

pub fn known() -> Vec<KnownMarker> {
    let known = |marker: &str, doc_id: &str, passage: &str| KnownMarker {
        marker: marker.to_owned(),
        corpus: "manual".to_owned(),
        doc_id: doc_id.to_owned(),
        chunk_id: passage.to_owned(),
        pages: None,
        replaced: false,
    };
    vec![known("A1", "install.md", "a1"), known("C9", "old.md", "c9")]
}

pub fn passage(page: u32, text: &str) -> NamedPassage {
    NamedPassage {
        chunk_id: format!("p{page}"),
        pages: Some(Interval::new(page, page)),
        chars: None,
        locator: Some(format!("p. {page}")),
        content: text.to_owned(),
        lexemes: lexemes(text),
    }
}

/// Finds two documents outside the context for all requests.
pub fn look_up(requests: Vec<DocumentRequest>) -> Vec<NamedDocument> {
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
            version: None,
            place: None,
            passages: vec![
                passage(5, "Licences renew every spring."),
                passage(6, "Telephones ring loudly."),
            ],
            asked,
        })
    };
    requests.into_iter().filter_map(answer).collect()
}

pub fn judged_by(answer: &str, sources: &[Source]) -> (Extraction, Vec<Judgement>) {
    let extraction = extract(answer, &Families::ALL);
    let judged = judged_knowing(&extraction, sources, &known());
    (extraction, judged)
}

pub fn judged_knowing(
    extraction: &Extraction,
    sources: &[Source],
    known: &[KnownMarker],
) -> Vec<Judgement> {
    let named = look_up(document_requests(extraction, sources, known));
    let claims: Vec<_> = extraction.compared_texts().map(lexemes).collect();
    let evidence = Evidence {
        sources,
        known,
        named: &named,
        claims: &claims,
        rules: RULES,
        cues: &Cues::LANGUAGE_FREE,
    };
    let judged = judge(extraction, &evidence).unwrap();
    assert_eq!(judged.len(), extraction.citations.len());
    judged
}

pub fn statuses(answer: &str) -> Vec<Status> {
    judged_by(answer, &context())
        .1
        .iter()
        .map(|j| j.status)
        .collect()
}

pub fn only(answer: &str) -> Judgement {
    let mut judged = judged_by(answer, &context()).1;
    assert_eq!(judged.len(), 1, "{answer}");
    judged.remove(0)
}
