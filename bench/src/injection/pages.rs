//! Citations of pages of documents with a known number of pages.

use std::collections::BTreeMap;

use anyhow::Result;
use postgres::GenericClient;
use serde_json::{Value, json};

use super::answers::ShownAnswer;
use super::case::{MarkerStyle, TestCase, answer};
use super::fault_kind::FaultKind;
use crate::statistics::random::SplitMix;

/// Corpus of the documents.
pub const CORPUS: &str = "injection_pages";

/// Documents by name. Their pages are their shown passages, in order of appearance.
type Documents<'a> = BTreeMap<&'a str, Vec<&'a str>>;

fn documents(all: &[ShownAnswer]) -> Documents<'_> {
    let mut documents = Documents::new();
    for passage in all.iter().flat_map(|shown| &shown.passages) {
        let pages = documents.entry(&passage.document).or_default();
        if !pages.contains(&passage.text.as_str()) {
            pages.push(&passage.text);
        }
    }
    documents
}

/// The page with this text, from 1; 0 if there is none.
fn page(documents: &Documents<'_>, document: &str, text: &str) -> usize {
    let pages = documents.get(document);
    let place = pages.and_then(|pages| pages.iter().position(|page| *page == text));
    place.map_or(0, |place| place + 1)
}

/// Loads the documents, with one page per passage.
///
/// # Errors
/// Errors of the server.
pub fn load(client: &mut impl GenericClient, all: &[ShownAnswer]) -> Result<()> {
    client.execute("SELECT reground.create_corpus($1)", &[&CORPUS])?;
    for (name, pages) in documents(all) {
        let passages: Value = pages
            .iter()
            .zip(1..)
            .map(|(text, page)| json!({"content": text, "page_start": page, "page_end": page}))
            .collect();
        client.execute(
            "SELECT reground.put_document($1, $2, passages => $3, page_count => $4)",
            &[&CORPUS, &name, &passages, &(pages.len() as i32)],
        )?;
    }
    Ok(())
}

/// Answers with one page citation each.
#[derive(Default)]
pub struct Cited {
    /// The true page of the sentence.
    pub truly: Vec<TestCase>,
    /// A page that the document does not have: beyond its last, or 0.
    pub beyond: Vec<TestCase>,
    /// The same, with no passage of the document shown.
    pub elsewhere: Vec<TestCase>,
}

/// Makes three answers for each citation: one true and two false.
pub fn cases(all: &[ShownAnswer], random: &mut SplitMix) -> Cited {
    let documents = documents(all);
    let mut places: Vec<(&ShownAnswer, usize)> = all
        .iter()
        .flat_map(|shown| shown.citing().map(move |place| (shown, place)))
        .collect();
    random.shuffle(&mut places);
    places.truncate(FaultKind::PageBeyond.injections());
    let mut cited = Cited::default();
    for (shown, place) in places {
        let Some((right, _)) = shown.sentences[place].supported_by else {
            continue;
        };
        let source = &shown.passages[right];
        let last = documents.get(source.document.as_str()).map_or(0, Vec::len);
        let beyond = match random.below(5) {
            0 => 0,
            _ => last + 1 + random.below(40),
        };
        let true_page = page(&documents, &source.document, &source.text);
        let with = |page, without| case(shown, place, &documents, page, without);
        cited.truly.push(with(true_page, None));
        cited.beyond.push(with(beyond, None));
        cited
            .elsewhere
            .push(with(beyond, Some(source.document.as_str())));
    }
    cited
}

/// The answer with a page citation in one sentence; passages of the document `without` are left out.
fn case(
    shown: &ShownAnswer,
    place: usize,
    documents: &Documents<'_>,
    cited: usize,
    without: Option<&str>,
) -> TestCase {
    let sentence = &shown.sentences[place];
    let source = sentence
        .supported_by
        .map_or("", |(right, _)| &shown.passages[right].document);
    let marker = format!("Source: {source}, p. {cited}");
    let (answer, citations) = answer(
        shown,
        MarkerStyle::Numbers,
        Some((place, &sentence.text, &marker)),
    );
    let passages = shown
        .passages
        .iter()
        .filter(|passage| without != Some(passage.document.as_str()));
    TestCase {
        answer,
        passages: passages
            .map(|passage| {
                let page = page(documents, &passage.document, &passage.text);
                json!({"content": passage.text, "doc_id": passage.document, "page_start": page, "page_end": page})
            })
            .collect(),
        corpus: Some(CORPUS.to_owned()),
        citations: citations.into_iter().filter(|(at, _)| *at == place).map(|(_, byte)| byte).collect(),
    }
}
