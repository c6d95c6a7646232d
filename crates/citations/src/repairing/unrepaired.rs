//! What an answer is corrected by.

use crate::{Extraction, Grammar, Judgement, Source, StatementSupport};

/// A judged answer.
#[derive(Clone, Copy, Debug)]
pub struct Unrepaired<'a> {
    /// The answer.
    pub answer: &'a str,
    /// Whether it is a part of an answer that begins in a list of references.
    pub in_list: bool,
    /// Its citations and statements, from [`extract_with_statements`](crate::extract_with_statements).
    pub extraction: &'a Extraction,
    /// The verdict on each citation.
    pub judgements: &'a [Judgement],
    /// The support of each statement.
    pub statements: &'a [Option<StatementSupport>],
    /// The sources of the context.
    pub sources: &'a [Source],
    /// The grammar that reads the answer.
    pub grammar: &'a Grammar,
    /// Smallest support, in [0, 1], with which a source supports a statement.
    pub threshold: f64,
}
