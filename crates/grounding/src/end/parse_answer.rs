//! Parses the answer of a turn, with the grammar of the settings and the context.

use reground_citations::{
    Extraction, Grammar, ImportNote, LONG_NUMBERS, LocatorRange, Locators, extract,
    extract_with_statements, import,
};
use serde_json::Value;

use crate::error::GroundingError;
use crate::memory::ContextSource;
use crate::passage::{Passage, ends_of};
use crate::settings::{MarkerStyle, Settings};

/// The grammar for an answer to this context.
///
/// # Errors
/// [`GroundingError::InvalidSetting`] if the context has too many titles.
pub fn grammar(settings: &Settings, context: &[ContextSource]) -> Result<Grammar, GroundingError> {
    let Some(rules) = &settings.citation_forms else {
        let grammar = Grammar::default().numbering(numbers(settings, context));
        return Ok(grammar.naming(names(context)));
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
    let grammar = grammar.numbering(numbers(settings, context));
    Ok(grammar.naming(names(context)))
}

/// The ids and titles of the documents of the context.
fn names(context: &[ContextSource]) -> impl Iterator<Item = &str> {
    context.iter().flat_map(|source| {
        let passage = &source.candidate.passage;
        [Some(passage.doc_id.as_str()), passage.title.as_deref()]
            .into_iter()
            .flatten()
    })
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
    /// Whether each statement is compared with all sources, so that the answer can be repaired.
    pub compares_statements: bool,
    /// Whether the text is a part of an answer that begins in a list of references.
    pub in_list: bool,
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
        ..ParsedAnswer::default()
    })
}

/// Parses an answer that is to be repaired, or a part of it. Its statements are compared with all sources. `in_list` tells whether a part
/// begins in a list of references.
#[must_use]
pub fn parse_statements<'a>(answer: &'a str, grammar: &Grammar, in_list: bool) -> ParsedAnswer<'a> {
    ParsedAnswer {
        answer,
        extraction: extract_with_statements(answer, grammar, in_list),
        compares_statements: true,
        in_list,
        ..ParsedAnswer::default()
    }
}

/// The place of a passage in the locators of its corpus. The work is the one that its structured locator names, else the
/// one that the title or the document key names. A merged passage reaches from the place of its first part to that of its
/// last.
pub fn locator_range(locators: &Locators, passage: &Passage) -> Option<LocatorRange> {
    let place = passage.structured_locator.as_deref()?;
    let mut range = match locators.read(place) {
        Some(range) => range,
        None => {
            let (start, end) = ends_of(place);
            let (start, end) = (locators.read(start)?, locators.read(end)?);
            let one_work = start.same_work(&end);
            let range = LocatorRange::new(start.work.or(end.work), start.start, end.end);
            range.filter(|_| one_work)?
        }
    };
    if range.work.is_none() {
        let names = passage.title.as_deref().into_iter();
        let names = names.chain([passage.doc_id.as_str()]);
        range.work = names
            .filter_map(|name| locators.work(name))
            .map(str::to_owned)
            .next();
    }
    Some(range)
}
