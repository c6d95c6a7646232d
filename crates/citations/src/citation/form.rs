//! The forms of citations and their families.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The form of a citation string. Its name is stable: it is stored and shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Form {
    /// A reground marker: `[A1]`, `[A1, B2]`, `[A1-A3]`.
    Marker,
    /// `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `［1］`, `[١]`.
    Number,
    /// `[[1]]`.
    DoubleBracket,
    /// `[1](https://…)`, `[1](#id)`, `[[1]](https://…)`.
    LinkedNumber,
    /// `①`.
    CircledNumber,
    /// `¹²`.
    Superscript,
    /// `[ID:3]`, `(ID: 3)`, `【ID: 3】`, `[ID:0, ID:5]`; starts at 0.
    RagflowId,
    /// `ref3`, `[ref3]`; starts at 0.
    RagflowRef,
    /// `[e41ac2d]`: a prefix of an id.
    ShortId,
    /// `【12†source】`, `【85†L261-269】`.
    Dagger,
    /// `【4:0†source】`: a message and one of its sources; starts at 0.
    DaggerPair,
    /// `turn0search0` between U+E200 and U+E201; starts at 0.
    PrivateUse,
    /// The same without private-use characters: `citeturn0search0turn0search1`; starts at 0.
    TurnResult,
    /// `[cite: 1, 2]`.
    GeminiCite,
    /// `[span_1](start_span)fact[span_1](end_span)`.
    GeminiSpan,
    /// `[citation:1]`, `{{citation:1}}`, `[web:1]`, `[attached_file:1]`, `[Source: 1]`.
    LabelledNumber,
    /// `[doc1]`.
    DocNumber,
    /// `<co: 0,1>fact</co: 0,1>`; starts at 0.
    CohereSpan,
    /// `<source id="1">`.
    SourceTag,
    /// `<cite>fact</cite>`.
    CiteTag,
    /// `[^1]`.
    Footnote,
    /// `Source 1`, `[Source 1]`, `(Sources 1 and 3)`.
    SourceNumber,
    /// `[Source: report.pdf, p. 12]`, `(Source: …)`.
    NamedSource,
    /// `Citation: [p1, p2]` on the last line. It cites for the whole answer.
    TrailingList,
    /// `(Smith et al., 2020)`.
    AuthorYear,
    /// `Gen. 1:3`, as a locator schema defines it.
    Locator,
    /// The title of a document in prose.
    Mention,
    /// A pattern of the user, with its name.
    Custom(String),
}

/// A group of forms that is switched on or off together; see [`Families`](crate::Families).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// reground markers.
    Marker,
    /// Numbers in brackets.
    Ordinal,
    /// Circled and superscript numbers.
    Raised,
    /// RAGFlow.
    Ragflow,
    /// Prefixes of ids.
    ShortId,
    /// Dagger citations.
    Dagger,
    /// `turn0search0`, with or without private-use characters.
    Turn,
    /// Gemini.
    Gemini,
    /// Numbers after a label.
    Labelled,
    /// Markup around a fact.
    Tag,
    /// Footnotes.
    Footnote,
    /// `Source 1` in prose.
    SourceNumber,
    /// Documents by name.
    Document,
    /// Author and year.
    AuthorYear,
    /// Structured locators.
    Locator,
    /// Titles in prose.
    Mention,
    /// Patterns of the user.
    Custom,
}

impl Form {
    /// All forms except the patterns of the user.
    pub const ALL: [Self; 27] = [
        Self::Marker,
        Self::Number,
        Self::DoubleBracket,
        Self::LinkedNumber,
        Self::CircledNumber,
        Self::Superscript,
        Self::RagflowId,
        Self::RagflowRef,
        Self::ShortId,
        Self::Dagger,
        Self::DaggerPair,
        Self::PrivateUse,
        Self::TurnResult,
        Self::GeminiCite,
        Self::GeminiSpan,
        Self::LabelledNumber,
        Self::DocNumber,
        Self::CohereSpan,
        Self::SourceTag,
        Self::CiteTag,
        Self::Footnote,
        Self::SourceNumber,
        Self::NamedSource,
        Self::TrailingList,
        Self::AuthorYear,
        Self::Locator,
        Self::Mention,
    ];

    /// Returns the first number of the form in text, 0 or 1. A [`Reference`](crate::Reference) always starts at 1.
    pub fn counts_from(&self) -> u32 {
        match self {
            Self::RagflowId
            | Self::RagflowRef
            | Self::DaggerPair
            | Self::PrivateUse
            | Self::TurnResult
            | Self::CohereSpan => 0,
            _ => 1,
        }
    }

    /// Returns the family of the form.
    pub fn family(&self) -> Family {
        match self {
            Self::Marker => Family::Marker,
            Self::Number | Self::DoubleBracket | Self::LinkedNumber => Family::Ordinal,
            Self::CircledNumber | Self::Superscript => Family::Raised,
            Self::RagflowId | Self::RagflowRef => Family::Ragflow,
            Self::ShortId => Family::ShortId,
            Self::Dagger | Self::DaggerPair => Family::Dagger,
            Self::PrivateUse | Self::TurnResult => Family::Turn,
            Self::GeminiCite | Self::GeminiSpan => Family::Gemini,
            Self::LabelledNumber | Self::DocNumber => Family::Labelled,
            Self::CohereSpan | Self::SourceTag | Self::CiteTag => Family::Tag,
            Self::Footnote => Family::Footnote,
            Self::SourceNumber => Family::SourceNumber,
            Self::NamedSource | Self::TrailingList => Family::Document,
            Self::AuthorYear => Family::AuthorYear,
            Self::Locator => Family::Locator,
            Self::Mention => Family::Mention,
            Self::Custom(_) => Family::Custom,
        }
    }

    /// Converts a number of this form so that it starts at 1.
    pub(crate) fn counted_from_one(&self, written: u32) -> u32 {
        written.saturating_add(1 - self.counts_from())
    }

    fn name(&self) -> &str {
        match self {
            Self::Marker => "marker",
            Self::Number => "number",
            Self::DoubleBracket => "double_bracket",
            Self::LinkedNumber => "linked_number",
            Self::CircledNumber => "circled_number",
            Self::Superscript => "superscript",
            Self::RagflowId => "ragflow_id",
            Self::RagflowRef => "ragflow_ref",
            Self::ShortId => "short_id",
            Self::Dagger => "dagger",
            Self::DaggerPair => "dagger_pair",
            Self::PrivateUse => "private_use",
            Self::TurnResult => "turn_result",
            Self::GeminiCite => "gemini_cite",
            Self::GeminiSpan => "gemini_span",
            Self::LabelledNumber => "labelled_number",
            Self::DocNumber => "doc_number",
            Self::CohereSpan => "cohere_span",
            Self::SourceTag => "source_tag",
            Self::CiteTag => "cite_tag",
            Self::Footnote => "footnote",
            Self::SourceNumber => "source_number",
            Self::NamedSource => "named_source",
            Self::TrailingList => "trailing_list",
            Self::AuthorYear => "author_year",
            Self::Locator => "locator",
            Self::Mention => "mention",
            Self::Custom(name) => name,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::Custom(_)) {
            out.write_str(CUSTOM)?;
        }
        out.write_str(self.name())
    }
}

/// Prefix of the names of user-defined forms.
const CUSTOM: &str = "custom:";

impl From<Form> for String {
    fn from(form: Form) -> Self {
        form.to_string()
    }
}

impl TryFrom<String> for Form {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if let Some(custom) = name.strip_prefix(CUSTOM) {
            return Ok(Self::Custom(custom.to_owned()));
        }
        let known = Self::ALL.into_iter().find(|form| form.name() == name);
        known.ok_or_else(|| format!("unknown citation form {name:?}"))
    }
}

impl Family {
    /// The stable name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Ordinal => "ordinal",
            Self::Raised => "raised",
            Self::Ragflow => "ragflow",
            Self::ShortId => "short_id",
            Self::Dagger => "dagger",
            Self::Turn => "turn",
            Self::Gemini => "gemini",
            Self::Labelled => "labelled",
            Self::Tag => "tag",
            Self::Footnote => "footnote",
            Self::SourceNumber => "source_number",
            Self::Document => "document",
            Self::AuthorYear => "author_year",
            Self::Locator => "locator",
            Self::Mention => "mention",
            Self::Custom => "custom",
        }
    }
}
