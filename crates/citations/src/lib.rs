#![forbid(unsafe_code)]
//! Citations in what a model wrote: read every format, believe none.
//!
//! 1. [`extract`] reads an answer into citations, sentences and claims, by a [`Grammar`].
//! 2. [`document_requests`] says which documents have to be looked up; the caller also has the server stem each claim.
//! 3. [`judge`] resolves, verifies and weighs each citation; its [`Status`] is one of thirteen.
//! 4. [`score`] adds them up, [`decide`] says whether the answer may stand.
//!
//! Nothing here does I/O, and nothing fails on text, whatever it holds.

mod cited_text;
mod claims;
mod decoding;
mod error;
mod extract;
mod families;
mod form;
mod forms;
mod grammar;
mod import;
mod judge;
mod lexemes;
mod listing;
mod locators;
mod mentions;
mod names;
mod offsets;
mod patterns;
mod policy;
mod quote;
mod reference;
mod resolve;
mod scan;
mod score;
mod skip;
mod sources;
mod status;
mod stream;
mod support;
mod word_set;
mod written;

pub use cited_text::check_quotes;
pub use decoding::{GrammarFormat, NoMarker, UnknownGrammar, citation_grammar};
pub use error::Error;
pub use extract::{Claim, Extracted, Extraction, MAX_CITATIONS, extract};
pub use families::Families;
pub use form::{Family, Form};
pub use grammar::{Grammar, GrammarError, GrammarRules, LONG_NUMBERS};
pub use import::{Api, Import, Irregular, Note, UnknownApi, import};
pub use judge::{BestOther, Detail, Evidence, Judgement, Place, judge};
pub use lexemes::Lexemes;
pub use locators::{
    Bounds, Extent, Level, LocatorRange, LocatorSchema, Locators, SchemaError, Values, Work,
};
pub use mentions::Titled;
pub use offsets::Span;
pub use patterns::{PatternError, PatternRule};
pub use policy::{Action, Decision, Objection, PolicyRules, decide};
pub use quote::Quote;
pub use reference::{Malformed, Pages, Reference};
pub use resolve::{document_requests, registry_names};
pub use score::{Factors, LossStage, MessageScores, NO_CITATIONS_FOUND, StageFacts, score};
pub use sources::{DocumentRequest, KnownMarker, NamedDocument, NamedPassage, Source, Target};
pub use status::{Diagnostic, Mode, Status};
pub use stream::{Fed, feed};
pub use support::{
    Contradiction, Cues, Quotation, SUPPORT_CUES, Stretch, SupportCue, SupportParts, SupportRules,
    Text, configuration, measures, support,
};
pub use written::{Written, excerpt};
