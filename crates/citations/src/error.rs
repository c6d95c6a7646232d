//! What can be wrong with what the caller hands over. Text never is.

/// Evidence that does not fit the answer it is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// One set of lexemes is needed for each claim.
    #[error("{given} sets of lexemes for {claims} claims")]
    ClaimLexemes {
        /// Claims of the extraction.
        claims: usize,
        /// Sets that were given.
        given: usize,
    },
    /// One set of lexemes is needed for each source of the context.
    #[error("{given} sets of lexemes for {sources} sources")]
    SourceLexemes {
        /// Sources of the context.
        sources: usize,
        /// Sets that were given.
        given: usize,
    },
    /// One set of stage facts is needed for each citation.
    #[error("{given} sets of stage facts for {citations} citations")]
    StageFacts {
        /// Judged citations.
        citations: usize,
        /// Sets that were given.
        given: usize,
    },
}
