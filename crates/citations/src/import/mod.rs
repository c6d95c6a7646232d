//! Citations that an API returns beside the text, read into the rows that [`extract`](crate::extract) gives: so they are
//! resolved and judged like any other, and believed no more.
//!
//! An API says where in the answer a citation stands, in its own unit, and of which source. Two kinds of place are told
//! apart: a mark in the text (`【4:0†source】`, a link), which is no part of what is claimed; and a stretch that is said to be
//! supported, whose claim is the sentences that it touches. What does not fit the answer becomes a [`ImportNote`], never an error:
//! one bad offset must not lose the others.

mod anthropic;
mod api;
mod bedrock;
mod cohere;
mod gemini;
mod openai;
mod position_map;
mod reader;
mod rows;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Extraction;
pub use api::{Api, UnknownApi};
use position_map::PositionMap;
use reader::ImportReader;
pub use reader::{ImportNote, ImportProblem};

/// What was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The API that it was read as.
    pub api: Api,
    /// The rows. The raw text of a citation is the stretch of the answer that the API points at.
    pub extraction: Extraction,
    /// By citation, what the API says the source says; to be looked for in the source.
    pub quotes: Vec<Option<String>>,
    /// What did not fit.
    pub notes: Vec<ImportNote>,
}

/// Reads the structured citations of `result`, a whole message or its list of citations, about the text of `answer`.
///
/// Without an `api`, its shape decides. Never fails on what it holds, and takes time linear in both.
///
/// # Errors
/// [`UnknownApi::Shape`] where no API is given and none is recognised.
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
    /// The API by the shape of its result.
    pub fn of(result: &Value) -> Option<Self> {
        // Most telling first: Bedrock and Cohere both say `citations`, Anthropic and OpenAI both `content`.
        type Test = fn(&Value) -> bool;
        let tests: [(Api, Test); 5] = [
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
