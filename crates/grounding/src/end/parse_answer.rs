//! How the answer of a turn is read: the settings' grammar, with what the context adds to it.

use reground_citations::{
    Extraction, Grammar, LONG_NUMBERS, LocatorRange, Locators, Note, extract, import,
};
use serde_json::Value;

use crate::error::GroundingError;
use crate::memory::ContextSource;
use crate::settings::{MarkerStyle, Settings};

/// The member of a passage's metadata that says where it stands by the corpus' locators: `"Genesis 1:1-5"`.
pub const LOCATOR: &str = "locator";

/// The grammar that an answer to this context is read by.
///
/// # Errors
/// [`GroundingError::InvalidSetting`] when the context has more titles than can be looked for.
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

/// Of [`LONG_NUMBERS`], those that are sources of the context. A conversation that counts its sources has all up to the largest, so
/// that one of an earlier turn is known for what it is.
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

/// What was read of an answer.
#[derive(Clone, Debug, Default)]
pub struct ParsedAnswer<'a> {
    /// The answer itself.
    pub answer: &'a str,
    /// Its citations.
    pub extraction: Extraction,
    /// By citation, what an API says that the source says; empty where the citations were read from the text.
    pub quotes: Vec<Option<String>>,
    /// What of the API's citations did not fit the answer.
    pub notes: Vec<Note>,
}

/// Reads an answer. Citations that the model's API returned beside the text stand in place of those in the text, which
/// are the same ones written out, where they are there at all.
///
/// # Errors
/// [`GroundingError::UnknownApi`] when it cannot be told whose citations these are.
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

/// Where a passage stands by the locators of its corpus: what its metadata say, in the work that they name, or else in the
/// one that the document is called by.
pub fn place(
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
