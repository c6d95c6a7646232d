//! Conversions of the errors of the crates into [`Error`].

use reground_audit::error::AuditError;
use reground_bm25::Bm25Error;
use reground_bm25::index::IndexError;
use reground_bm25::query::clauses::SyntaxError;
use reground_documents::DocumentError;
use reground_grounding::error::GroundingError;
use reground_models::error::ModelError;
use reground_models::reading::UnusableAnswer;

use super::Error;

impl From<DocumentError> for Error {
    fn from(error: DocumentError) -> Self {
        Self::Document(error)
    }
}

impl From<GroundingError> for Error {
    fn from(error: GroundingError) -> Self {
        Self::Grounding(error)
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<UnusableAnswer> for Error {
    fn from(answer: UnusableAnswer) -> Self {
        Self::Model(answer.into())
    }
}

impl From<AuditError> for Error {
    fn from(error: AuditError) -> Self {
        Self::Audit(error)
    }
}

impl From<reground_citations::Error> for Error {
    fn from(error: reground_citations::Error) -> Self {
        Self::Citations(error)
    }
}

impl From<Bm25Error> for Error {
    fn from(error: Bm25Error) -> Self {
        Self::Tsvector(error)
    }
}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        Self::QuerySyntax(error)
    }
}

impl From<IndexError> for Error {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Stored(error.to_string())
    }
}
