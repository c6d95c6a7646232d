//! Reads the citations that an API returns in addition to the text of an answer. The result has the type of
//! [`extract`](crate::extract), so these citations are resolved and judged like all others.
//!
//! An API gives the position of a citation in the answer, in its own unit, and the source. There are two kinds of
//! positions. A mark in the text (`【4:0†source】`, a link) is not part of the claim. A supported range is one; its
//! claim is the sentences that it overlaps. Entries that do not match the answer become an [`ImportNote`], not an
//! error: one bad offset must not lose the other citations.

mod anthropic;
mod api;
mod bedrock;
mod cohere;
mod extension;
mod gemini;
mod openai;
mod position_map;
mod reader;
mod rows;
mod vercel;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Extraction;
pub use api::{Api, UnknownApi};
pub(crate) use extension::EXTENSION;
pub(crate) use openai::is_mark as is_openai_mark;
pub(crate) use position_map::PositionMap;
use reader::ImportReader;
pub use reader::{ImportNote, ImportProblem};

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The API.
    pub api: Api,
    /// The citations. The citation string is the range of the answer that the API gives.
    pub extraction: Extraction,
    /// For each citation, the quote from the source that the API returned. [`crate::check_quotes`] looks for it in
    /// the source.
    pub quotes: Vec<Option<String>>,
    /// The problems.
    pub notes: Vec<ImportNote>,
}

/// Reads the structured citations of `result`, a whole message or its list of citations. `answer` is the text of the
/// message.
///
/// Without an `api`, the shape of the result decides. The time is linear in both arguments.
///
/// # Errors
/// [`UnknownApi::Shape`] if no API is given and none is recognised.
pub fn import(result: &Value, answer: &str, api: Option<Api>) -> Result<Import, UnknownApi> {
    let api = api.or_else(|| Api::of(result)).ok_or(UnknownApi::Shape)?;
    let mut reader = ImportReader {
        answer,
        positions: PositionMap::new(answer),
        cited: Vec::new(),
        notes: Vec::new(),
    };
    match api {
        Api::Anthropic => anthropic::read(result, &mut reader),
        Api::Bedrock => bedrock::read(result, &mut reader),
        Api::Cohere => cohere::read(result, &mut reader),
        Api::Gemini => gemini::read(result, &mut reader),
        Api::OpenAi => openai::read(result, &mut reader),
        Api::Vercel => vercel::read(result, &mut reader),
    }
    let (extraction, quotes) = rows::rows(answer, &reader.positions, api, reader.cited);
    Ok(Import {
        api,
        extraction,
        quotes,
        notes: reader.notes,
    })
}

impl Api {
    /// Returns the API that a result comes from, by its shape.
    pub fn of(result: &Value) -> Option<Self> {
        // The order matters: Bedrock and Cohere both have `citations`, Anthropic and OpenAI both have `content`; a list of Vercel
        // and a list of Anthropic both have texts.
        type Test = fn(&Value) -> bool;
        let tests: [(Api, Test); 6] = [
            (Self::Vercel, vercel::is_this),
            (Self::Gemini, gemini::is_this),
            (Self::Bedrock, bedrock::is_this),
            (Self::Cohere, cohere::is_this),
            (Self::OpenAi, openai::is_this),
            (Self::Anthropic, anthropic::is_this),
        ];
        tests
            .into_iter()
            .find(|(_, is_this)| is_this(result))
            .map(|(api, _)| api)
    }
}
