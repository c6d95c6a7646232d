//! Citations that an API returns beside the text, read into the rows that [`extract`](crate::extract) gives: so they are
//! resolved and judged like any other, and believed no more.
//!
//! An API says where in the answer a citation stands, in its own unit, and of which source. Two kinds of place are told
//! apart: a mark in the text (`【4:0†source】`, a link), which is no part of what is claimed; and a stretch that is said to be
//! supported, whose claim is the sentences that it touches. What does not fit the answer becomes a [`Note`], never an error:
//! one bad offset must not lose the others.

mod anthropic;
mod bedrock;
mod chart;
mod cohere;
mod gemini;
mod openai;
mod rows;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::{Extraction, Pages, Reference};
use chart::Chart;

/// An API whose structured citations can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic Messages: `citations` of text blocks.
    Anthropic,
    /// Amazon Bedrock RetrieveAndGenerate: `citations` with `generatedResponsePart`.
    Bedrock,
    /// Cohere Chat, versions 1 and 2: `citations` with `start` and `end`.
    Cohere,
    /// Gemini and Vertex AI: `groundingMetadata`.
    Gemini,
    /// OpenAI Chat, Responses and Assistants: `annotations`.
    OpenAi,
}

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
    pub notes: Vec<Note>,
}

/// Something in the result that could not be read as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where in the result, as a JSON pointer; the entry, not the field.
    pub at: String,
    /// What is wrong.
    pub what: Irregular,
}

/// What does not fit, and what was made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Irregular {
    /// An offset beyond the answer, or an end before its start: moved to the nearest place.
    OutsideText,
    /// An offset within a character: widened to the whole of it.
    InsideCharacter,
    /// The answer has another text at this place than the API says.
    OtherText,
    /// No place is given: the citation stands for the whole answer.
    NoPlace,
    /// No source is given: no row.
    NoSource,
    /// An entry of a kind that is not known: no row.
    UnknownKind,
}

impl Irregular {
    /// What was made of it, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutsideText => "outside the text: moved to the nearest place",
            Self::InsideCharacter => "within a character: widened to the whole of it",
            Self::OtherText => "the answer has another text there",
            Self::NoPlace => "without a place: taken for the whole answer",
            Self::NoSource => "without a source: left out",
            Self::UnknownKind => "of an unknown kind: left out",
        }
    }
}

/// A result in which no structured citations of a known API were recognised, or a name that is none of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownApi {
    /// The shape says nothing.
    #[error(
        "the result has the shape of none of the APIs: anthropic, bedrock, cohere, gemini, openai"
    )]
    Shape,
    /// The name says nothing.
    #[error("the APIs are anthropic, bedrock, cohere, gemini, openai")]
    Name,
}

/// Reads the structured citations of `result`, a whole message or its list of citations, about the text of `answer`.
///
/// Without an `api`, its shape decides. Never fails on what it holds, and takes time linear in both.
///
/// # Errors
/// [`UnknownApi::Shape`] where no API is given and none is recognised.
pub fn import(result: &Value, answer: &str, api: Option<Api>) -> Result<Import, UnknownApi> {
    let api = api.or_else(|| Api::of(result)).ok_or(UnknownApi::Shape)?;
    let mut reader = Reader {
        answer,
        chart: Chart::new(answer),
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
    let (extraction, quotes) = rows::rows(answer, &reader.chart, api, reader.cited);
    Ok(Import {
        api,
        extraction,
        quotes,
        notes: reader.notes,
    })
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Bedrock,
        Self::Cohere,
        Self::Gemini,
        Self::OpenAi,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::Cohere => "cohere",
            Self::Gemini => "gemini",
            Self::OpenAi => "openai",
        }
    }

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

impl fmt::Display for Api {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(name: &str) -> Result<Self, UnknownApi> {
        Self::ALL
            .into_iter()
            .find(|api| api.as_str() == name)
            .ok_or(UnknownApi::Name)
    }
}

/// What an API counts an answer in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Chars,
    Utf16,
}

/// A citation with its place in the answer.
struct Cited {
    bytes: Range<usize>,
    /// Whether the place holds a mark, not what is claimed.
    is_mark: bool,
    reference: Reference,
    quote: Option<String>,
}

/// What is read so far, and the answer that it is about.
struct Reader<'a> {
    answer: &'a str,
    chart: Chart<'a>,
    cited: Vec<Cited>,
    notes: Vec<Note>,
}

impl Reader<'_> {
    fn note(&mut self, at: &str, what: Irregular) {
        self.notes.push(Note {
            at: at.to_owned(),
            what,
        });
    }

    /// The bytes from `start` to `end`, brought into the text. What the API says stands there decides: a unit under which it
    /// does is right, whatever the API counts in, and so is the length.
    fn place(
        &mut self,
        at: &str,
        unit: Unit,
        start: Option<u64>,
        end: Option<u64>,
        said: Option<&str>,
    ) -> Range<usize> {
        let (Some(start), Some(end)) = (start, end) else {
            self.note(at, Irregular::NoPlace);
            return 0..self.answer.len();
        };
        let said = said.filter(|said| !said.is_empty());
        if let Some(said) = said {
            for unit in [unit, Unit::Chars, Unit::Utf16, Unit::Bytes] {
                let from = self.chart.byte(unit, start).exact();
                if let Some(from) = from.filter(|from| self.answer[*from..].starts_with(said)) {
                    return from..from + said.len();
                }
            }
            self.note(at, Irregular::OtherText);
        }
        let (from, to) = (self.chart.byte(unit, start), self.chart.byte(unit, end));
        if from.is_outside || to.is_outside || end < start {
            self.note(at, Irregular::OutsideText);
        } else if from.floor != from.ceiling || to.floor != to.ceiling {
            self.note(at, Irregular::InsideCharacter);
        }
        from.floor..to.ceiling.max(from.floor)
    }

    fn cite(
        &mut self,
        bytes: Range<usize>,
        is_mark: bool,
        reference: Reference,
        quote: Option<&str>,
    ) {
        let quote = quote.filter(|quote| !quote.is_empty()).map(str::to_owned);
        self.cited.push(Cited {
            bytes,
            is_mark,
            reference,
            quote,
        });
    }
}

/// What the caller called a source: one of our markers, if it is spelled as one, or else a name.
fn named(name: &str, pages: Option<Pages>) -> Reference {
    let number = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = name.len() - number.len();
    let is_number =
        !number.is_empty() && number.len() <= 5 && number.bytes().all(|b| b.is_ascii_digit());
    if (1..=3).contains(&letters) && is_number {
        return Reference::Marker {
            marker: name.to_owned(),
            pages,
        };
    }
    Reference::Document {
        name: name.to_owned(),
        pages,
    }
}

/// A source by its position, from 0.
fn positioned(index: u64, pages: Option<Pages>) -> Reference {
    let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
    Reference::Ordinal { number, pages }
}

/// A text that says something, by key.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value
        .get(key)?
        .as_str()
        .filter(|text| !text.trim().is_empty())
}

/// The entries of a list, by key, with the pointer of each.
fn entries<'v>(value: &'v Value, at: &str, key: &str) -> impl Iterator<Item = (String, &'v Value)> {
    let list = value.get(key).and_then(Value::as_array).map(Vec::as_slice);
    let at = format!("{at}/{key}");
    checked(list.unwrap_or_default())
        .enumerate()
        .map(move |(number, entry)| (format!("{at}/{number}"), entry))
}

/// The entries of a value that is itself a list.
fn items(value: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    checked(list)
        .enumerate()
        .map(|(number, entry)| (format!("/{number}"), entry))
}
