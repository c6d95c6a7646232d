//! Parses the answer of a turn, with the grammar of the settings and the context.

use reground_citations::{
    Extraction, Grammar, ImportNote, LONG_NUMBERS, LocatorRange, Locators, extract, import,
};
use serde_json::Value;

use crate::error::GroundingError;
use crate::memory::ContextSource;
use crate::settings::{MarkerStyle, Settings};

/// The metadata key with a passage's place in the corpus' locators: `"Genesis 1:1-5"`.
pub const LOCATOR: &str = "locator";

/// The grammar for an answer to this context.
///
/// # Errors
/// [`GroundingError::InvalidSetting`] if the context has too many titles.
pub fn grammar(settings: &Settings, context: &[ContextSource]) -> Result<Grammar, GroundingError> {
    let Some(rules) = &settings.citation_forms else {
        return Ok(Grammar::default().numbering(numbers(settings, context)));
    };
    let titles = context
        .iter()
        .filter_map(|source| source.candidate.passage.title.as_deref());
    let grammar = Grammar::new(&rules.with_context(titles));
    let grammar = grammar.map_err(|error| GroundingError::InvalidSetting {
        layer: "turn".to_owned(),
        setting: "citation_forms".to_owned(),
        value: "the titles of the context".to_owned(),
        expected: error.to_string(),
    })?;
    Ok(grammar.numbering(numbers(settings, context)))
}

/// Those of [`LONG_NUMBERS`] that are sources of the context. A conversation with numbered markers has all of them up
/// to the largest, so that a source of an earlier turn is recognised.
fn numbers(settings: &Settings, context: &[ContextSource]) -> Vec<u32> {
    let own = context
        .iter()
        .filter_map(|source| source.marker.parse().ok());
    let own: Vec<u32> = own.filter(|number| LONG_NUMBERS.contains(number)).collect();
    match (settings.marker_style, own.iter().max()) {
        (MarkerStyle::Numbered, Some(&last)) => (*LONG_NUMBERS.start()..=last).collect(),
        _ => own,
    }
}

/// A parsed answer.
#[derive(Clone, Debug, Default)]
pub struct ParsedAnswer<'a> {
    /// The answer itself.
    pub answer: &'a str,
    /// Its citations.
    pub extraction: Extraction,
    /// For each citation, the quote of the source that an API returned. Empty if the citations were parsed from the
    /// text.
    pub quotes: Vec<Option<String>>,
    /// The parts of the API's citations that did not fit the answer.
    pub notes: Vec<ImportNote>,
}

/// Parses an answer. Citations that the model's API returned beside the text replace those in the text, which at most
/// repeat them.
///
/// # Errors
/// [`GroundingError::UnknownApi`] if the API cannot be identified.
pub fn parse_answer<'a>(
    answer: &'a str,
    grammar: &Grammar,
    structured: Option<&Value>,
) -> Result<ParsedAnswer<'a>, GroundingError> {
    let Some(structured) = structured else {
        return Ok(ParsedAnswer {
            answer,
            extraction: extract(answer, grammar),
            ..ParsedAnswer::default()
        });
    };
    let import = import(structured, answer, None)
        .map_err(|error| GroundingError::UnknownApi(error.to_string()))?;
    Ok(ParsedAnswer {
        answer,
        extraction: import.extraction,
        quotes: import.quotes,
        notes: import.notes,
    })
}

/// The place of a passage in the locators of its corpus, from its metadata. The work is the one that the metadata name,
/// else the one that the title or the document key names.
pub fn locator_range(
    locators: &Locators,
    metadata: &Value,
    doc_id: &str,
    title: Option<&str>,
) -> Option<LocatorRange> {
    let mut range = locators.read(metadata.get(LOCATOR)?.as_str()?)?;
    if range.work.is_none() {
        let names = title.into_iter().chain([doc_id]);
        range.work = names
            .filter_map(|name| locators.work(name))
            .map(str::to_owned)
            .next();
    }
    Some(range)
}
