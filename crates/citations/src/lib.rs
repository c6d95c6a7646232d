#![forbid(unsafe_code)]
//! Citations in model output: extracted in every known format, resolved, judged and scored.
//!
//! | module | step |
//! |---|---|
//! | `citation` | data types: a citation string, the form that it has, and the thing that it names |
//! | `text` | lexemes of a text, names of documents |
//! | `locators` | places of a work, such as book, chapter and verse |
//! | `reading` | text → citations, sentences, claims: [`extract`] |
//! | `stream` | the same for an unfinished answer: [`feed`], [`feed_from`] |
//! | `import` | the same for citations that an API returns as JSON: [`import`](fn@import) |
//! | `export` | a judged answer → the JSON shapes of APIs: [`answer_parts`] |
//! | `resolving` | citation → source or document: [`document_requests`] lists the documents to look up |
//! | `support` | claim and source → [`support`](fn@support), in [0, 1], without a model |
//! | `conflicting` | passages → statements that contradict each other: [`source_conflicts`] |
//! | `judging` | citation → [`Status`], one of thirteen: [`judge`] |
//! | `scoring` | statuses → scores of the answer: [`score`]; advice: [`decide`] |
//! | `repairing` | a judged answer → the same with corrected citations: [`repair`](fn@repair) |
//! | `decoding` | a grammar for constrained decoding: [`citation_grammar`] |
//! | `error` | the errors of a call |
//!
//! Nothing here does I/O, and no text causes an error.

mod citation;
mod conflicting;
mod decoding;
mod error;
mod export;
mod import;
mod judging;
mod locators;
mod reading;
mod repairing;
mod resolving;
mod scoring;
mod stream;
mod support;
mod text;

pub use citation::{
    CitationColumns, CitationScope, Claim, ExtractedCitation, Extraction, Families, Family, Form,
    Interval, LocatorRange, MAX_CITATIONS, MAX_STATEMENTS, Malformed, Position, Reference, Span,
    excerpt,
};
pub use conflicting::{
    ConflictingStatement, SourceConflict, SourceConflictKind, is_one_sided, source_conflicts,
};
pub use decoding::{GrammarFormat, InvalidMarker, UnknownGrammarFormat, citation_grammar};
pub use error::Error;
pub use export::{
    CitationString, DisplayedAnswer, ExportedCitation, ExportedSource, Markup, PartsFormat,
    StringKind, UnknownPartsFormat, answer_parts,
};
pub use import::{Api, Import, ImportNote, ImportProblem, UnknownApi, import};
pub use judging::{
    AnswerSupport, BestOther, Detail, Diagnostic, Evidence, FailureMode, Judgement, Place,
    StatementSupport, Status, check_quotes, judge, judge_statements,
};
pub use locators::{Bounds, Extent, Level, LocatorSchema, Locators, SchemaError, Values, Work};
pub use reading::{
    DocumentTitle, Grammar, GrammarError, GrammarRules, LONG_NUMBERS, PatternError, PatternRule,
    extract, extract_with_statements,
};
pub use repairing::{
    Change, ChangeKind, RepairMode, RepairedAnswer, UnknownRepairMode, Unrepaired, repair,
};
pub use resolving::{
    DocumentRequest, KnownMarker, NamedDocument, NamedPassage, Source, Target, document_requests,
    registry_names,
};
pub use scoring::{
    Action, Decision, Factors, LossStage, MessageScores, NO_CITATIONS_FOUND, PolicyRules,
    RefusalReason, StageFacts, decide, score,
};
pub use stream::{InvalidResume, PartialExtraction, Resume, feed, feed_from};
pub use support::{
    ANSWER_SUPPORT, Conflict, Contradiction, Cues, Quotation, Quote, SUPPORT_CUES, SupportCue,
    SupportParts, SupportRules, Text, TextRange, configuration, measures, support,
};
pub use text::Lexemes;
