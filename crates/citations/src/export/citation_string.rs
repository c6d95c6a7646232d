//! The citation strings of an answer, as they are displayed.

use std::ops::Range;

use crate::import::is_openai_mark;
use crate::{Api, Form};

/// A citation string of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationString {
    /// Position in the answer, in bytes.
    pub bytes: Range<usize>,
    /// How it is displayed.
    pub kind: StringKind,
    /// Index of the sentence that it was assigned to; `None` for the one that contains it. A string after a full stop belongs to the
    /// sentence before it.
    pub sentence: Option<usize>,
}

/// How a citation string is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// It is removed, such as `[A1]`.
    Mark,
    /// It stays, because readers need it: a title in prose, author and year, a place in a work.
    Prose,
    /// It is the supported text itself, as an API returned it.
    Supported,
}

impl StringKind {
    /// The kind of a citation string by its form. `is_malformed` strings stay, because their ends are not known, except tags. `from_api`:
    /// an API returned the citation apart from the text.
    #[must_use]
    pub fn of(form: &Form, raw: &str, is_malformed: bool, from_api: bool) -> Self {
        let openai = matches!(form, Form::Custom(name) if name == Api::OpenAi.as_str());
        match form {
            _ if from_api && openai && is_openai_mark(raw) => Self::Mark,
            _ if from_api => Self::Supported,
            Form::CohereSpan | Form::GeminiSpan | Form::SourceTag | Form::CiteTag => Self::Mark,
            _ if is_malformed => Self::Prose,
            Form::Marker
            | Form::Number
            | Form::DoubleBracket
            | Form::LinkedNumber
            | Form::CircledNumber
            | Form::Superscript
            | Form::RagflowId
            | Form::RagflowRef
            | Form::ShortId
            | Form::Dagger
            | Form::DaggerPair
            | Form::PrivateUse
            | Form::TurnResult
            | Form::GeminiCite
            | Form::LabelledNumber
            | Form::DocNumber
            | Form::Footnote
            | Form::NamedSource => Self::Mark,
            Form::SourceNumber if raw.starts_with(['[', '(', '【']) => Self::Mark,
            Form::SourceNumber
            | Form::TrailingList
            | Form::AuthorYear
            | Form::Locator
            | Form::Mention
            | Form::Custom(_) => Self::Prose,
        }
    }
}
