//! The errors of a call. Only the arguments of the caller cause them, never the text of an answer.

/// An argument whose length does not match the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There must be one set of lexemes for each claim.
    #[error("{given} sets of lexemes for {claims} claims")]
    ClaimLexemes {
        /// Number of claims.
        claims: usize,
        /// Number of sets.
        given: usize,
    },
    /// There must be one set of lexemes for each source of the context.
    #[error("{given} sets of lexemes for {sources} sources")]
    SourceLexemes {
        /// Number of sources.
        sources: usize,
        /// Number of sets.
        given: usize,
    },
    /// There must be one set of stage facts for each citation.
    #[error("{given} sets of stage facts for {citations} citations")]
    StageFacts {
        /// Number of citations.
        citations: usize,
        /// Number of sets.
        given: usize,
    },
}
