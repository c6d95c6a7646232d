//! Everything that can go wrong, and the one table from there to SQLSTATE, message, detail and hint.

use pgrx::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReport;
use reground_audit::error::AuditError;
use reground_bm25::index::IndexError;
use reground_documents::DocumentError;
use reground_grounding::error::GroundingError;
use reground_grounding::settings::hook::Hook;

/// Shorthand of every glue function.
pub type Result<T> = std::result::Result<T, Error>;

/// What the glue itself can find wrong, and what it passes on.
#[derive(Debug)]
pub enum Error {
    /// An argument that must be given is NULL.
    Null(&'static str),
    /// A value outside what is accepted: argument, what is wrong, what to do.
    Bad {
        argument: &'static str,
        fault: String,
        hint: String,
    },
    /// Nothing of that name or id is visible to this tenant: kind, name.
    Unknown(&'static str, String),
    /// No corpus of that name.
    UnknownCorpus(String),
    /// The corpus exists already with other arguments.
    CorpusExists(String),
    /// A relation that the corpus needs already exists.
    RelationExists(String),
    /// A relation that the corpus was registered with is gone.
    RelationGone(String),
    /// A mapped or filtered column that the relation does not have.
    NoColumn { column: String, relation: String },
    /// The corpus was not made by create_corpus.
    NotManaged(String),
    /// The corpus has no embedding column.
    NoEmbeddingColumn(String),
    /// The embedding column holds something else.
    NotEmbeddings { corpus: String, kind: String },
    /// An embedding of another size.
    Dimensions {
        corpus: String,
        expected: i32,
        given: usize,
    },
    /// `require_embedding` is on and none was given.
    EmbeddingRequired,
    /// The turn cannot do this in its state.
    WrongState {
        turn: i64,
        state: String,
        wanted: &'static str,
        hint: &'static str,
    },
    /// The same id came with other content: kind, id.
    Conflict(&'static str, String),
    /// Another transaction is in the way and this one cannot see it: kind, name.
    Retry(&'static str, String),
    /// No tenant is set.
    NoTenant(String),
    /// Writing on a standby or in a read-only transaction.
    ReadOnly(&'static str),
    /// A source to pin could be meant in several corpora, or in none.
    AmbiguousCorpus(String),
    /// A function of the application is not what the setting needs, or returned something else.
    Hook(Hook, String),
    /// From the document crate.
    Document(DocumentError),
    /// From the grounding crate.
    Grounding(GroundingError),
    /// From the audit crate.
    Audit(AuditError),
    /// From the citation crate.
    Citations(reground_citations::Error),
    /// A tsvector that cannot be read.
    Tsvector(reground_bm25::Bm25Error),
    /// A full-text index that cannot be read or written.
    Index(IndexError),
    /// A table whose text is searched without a full-text index.
    NoBm25Index(String),
    /// A table with more than one.
    SeveralBm25Indexes(String),
    /// Leaves of a partitioned table whose indexes make other words.
    PartitionsDiffer,
    /// An index scan with the query of another table.
    OtherIndex,
    /// An index scan without a query.
    NoQuery,
    /// An index scan in the order of several.
    SeveralOrders,
    /// An index scan that sees what is not committed.
    NoSnapshot,
    /// A table that the caller does not own.
    NotOwner(String),
    /// A corpus whose passages the caller may not write.
    MayNotWrite(String),
    /// A corpus whose passages the caller may not delete.
    MayNotDelete(String),
    /// A moment still to come, given by whoever is no superuser: the function.
    TooEarly(&'static str),
    /// A corpus whose relations run code of a role that is no superuser, searched by a superuser.
    UntrustedCode(String),
    /// A table that the caller may not read.
    Forbidden(String),
    /// Not an index of our access method.
    NotBm25Index(String),
    /// The text of a `bm25query` has another form.
    QueryForm(String),
    /// The text of a `bm25text` has another form.
    TextForm(String),
    /// No text search configuration of that name.
    UnknownTextConfig(String),
    /// `weights` of an index that are none.
    Weights(String),
    /// `weights` of an index on a single text.
    WeightsWithoutFields,
    /// The server has no random bytes.
    NoRandomness,
    /// What we stored cannot be read back.
    Stored(String),
    /// SPI refused a call that we made.
    Spi(String),
}

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
impl From<reground_bm25::Bm25Error> for Error {
    fn from(error: reground_bm25::Bm25Error) -> Self {
        Self::Tsvector(error)
    }
}
impl From<IndexError> for Error {
    fn from(fault: IndexError) -> Self {
        Self::Index(fault)
    }
}
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Stored(error.to_string())
    }
}

/// Warns the client: what was degraded, and what to do about it.
pub fn warn(message: impl Into<String>, hint: &str) {
    report(Code::ERRCODE_WARNING, message.into(), hint).report(pgrx::PgLogLevel::WARNING);
}

/// Tells the client what would be better, and the command that makes it so.
pub fn notice(message: impl Into<String>, hint: &str) {
    report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message.into(), hint)
        .report(pgrx::PgLogLevel::NOTICE);
}

/// A report with an optional hint.
fn report(code: Code, message: String, hint: impl Into<String>) -> ErrorReport {
    let hint = hint.into();
    let report = ErrorReport::new(code, message, "");
    if hint.is_empty() {
        report
    } else {
        report.set_hint(hint)
    }
}

impl From<Error> for ErrorReport {
    fn from(error: Error) -> Self {
        use Error as E;
        match error {
            E::Null(argument) => report(
                Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
                format!("{argument} must not be null"),
                "",
            ),
            E::Bad {
                argument,
                fault,
                hint,
            } => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("invalid {argument}: {fault}"),
                hint,
            ),
            E::Unknown(kind, name) => report(
                Code::ERRCODE_NO_DATA_FOUND,
                format!("{kind} {name} does not exist"),
                match kind {
                    // Alerts are over all tenants.
                    "alert" => "SELECT alert_id FROM reground.alerts lists them.",
                    "tenant" => "Nothing is stored of it.",
                    _ => {
                        "Another tenant's is reported the same way: see reground.current_tenant()."
                    }
                },
            ),
            E::UnknownCorpus(name) => report(
                Code::ERRCODE_NO_DATA_FOUND,
                format!("corpus \"{name}\" does not exist"),
                "SELECT corpus FROM reground.corpora lists those that you can use; reground.create_corpus and reground.add_corpus make one.",
            ),
            E::CorpusExists(name) => report(
                Code::ERRCODE_DUPLICATE_OBJECT,
                format!("corpus \"{name}\" already exists with other arguments"),
                "Change it with reground.alter_corpus, or remove it with reground.drop_corpus first.",
            ),
            E::RelationExists(name) => report(
                Code::ERRCODE_DUPLICATE_TABLE,
                format!("relation {name} already exists"),
                "Choose another corpus name or schema, or register the table with reground.add_corpus.",
            ),
            E::RelationGone(name) => report(
                Code::ERRCODE_UNDEFINED_TABLE,
                format!("a relation of corpus \"{name}\" no longer exists"),
                format!("Register it anew after SELECT reground.drop_corpus('{name}')."),
            ),
            E::NoColumn { column, relation } => report(
                Code::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{column}\" of relation {relation} does not exist"),
                "SELECT * FROM reground.check_corpus(…) shows the mapping.",
            ),
            E::NotManaged(name) => report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!(
                    "corpus \"{name}\" was registered with add_corpus: its tables are written by the application"
                ),
                "Insert into the table directly; reground sees it at once.",
            ),
            E::NoEmbeddingColumn(name) => report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("corpus \"{name}\" has no embedding column"),
                "Create it with dimensions => …, or map one with reground.alter_corpus.",
            ),
            E::NotEmbeddings { corpus, kind } => report(
                Code::ERRCODE_DATATYPE_MISMATCH,
                format!("the embedding column of corpus \"{corpus}\" is of type {kind}"),
                "It must be of pgvector's type vector or halfvec: SELECT * FROM reground.check_corpus(…) shows the command.",
            ),
            E::Dimensions {
                corpus,
                expected,
                given,
            } => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("corpus \"{corpus}\" has embeddings of {expected} dimensions, not {given}"),
                "Embed with the model that the corpus was embedded with.",
            ),
            E::EmbeddingRequired => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "no embedding was given, and require_embedding is on".into(),
                "Pass embedding => $1::vector, or turn the setting off.",
            ),
            E::WrongState {
                turn,
                state,
                wanted,
                hint,
            } => report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("turn {turn} is {state}: it cannot be {wanted}"),
                hint,
            ),
            E::Conflict(kind, id) => report(
                Code::ERRCODE_UNIQUE_VIOLATION,
                format!("{kind} \"{id}\" was used before with other content"),
                "Use a new id for new content; the same id is for repeating the same call.",
            ),
            E::Retry(kind, name) => report(
                Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
                format!("{kind} \"{name}\" was made by a concurrent transaction"),
                "Retry the transaction.",
            ),
            E::NoTenant(setting) => report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("no tenant: the setting {setting} is empty"),
                format!(
                    "SET {setting} = '…' in each transaction, as reground.tenant_from names it."
                ),
            ),
            E::ReadOnly(function) => report(
                Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
                format!("{function} writes, and this transaction is read-only"),
                "On a standby use reground.search, which writes nothing.",
            ),
            E::AmbiguousCorpus(fault) => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                fault,
                "Name it with corpus => '…'.",
            ),
            E::Hook(hook, fault) => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                fault,
                hook.expectation(),
            ),
            E::Document(error) => {
                let hint = error.hint();
                report(
                    Code::ERRCODE_INVALID_PARAMETER_VALUE,
                    error.to_string(),
                    hint,
                )
            }
            E::Grounding(error) => {
                let hint = error.hint();
                report(
                    Code::ERRCODE_INVALID_PARAMETER_VALUE,
                    error.to_string(),
                    hint,
                )
            }
            E::Audit(error) => {
                let hint = error.hint();
                report(
                    Code::ERRCODE_INVALID_PARAMETER_VALUE,
                    error.to_string(),
                    hint,
                )
            }
            E::Citations(error) => report(
                Code::ERRCODE_INTERNAL_ERROR,
                error.to_string(),
                "Please report this as a bug.",
            ),
            E::Tsvector(error) => report(
                Code::ERRCODE_DATA_CORRUPTED,
                format!("a tsvector cannot be read: {error}"),
                "",
            ),
            E::Index(fault) => {
                let (code, hint) = match fault {
                    IndexError::Corrupt { .. } => (
                        Code::ERRCODE_INDEX_CORRUPTED,
                        "REINDEX INDEX rebuilds it from the table.",
                    ),
                    IndexError::Reused { .. } => (
                        Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
                        "Retry the transaction.",
                    ),
                    IndexError::Full { .. } => (
                        Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                        "Partition the table: each partition has an index of its own.",
                    ),
                };
                report(code, fault.to_string(), hint)
            }
            E::NoBm25Index(table) => report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("\"{table}\" has no reground_bm25 index"),
                "Create one: CREATE INDEX ON … USING reground_bm25 (…).",
            ),
            E::SeveralBm25Indexes(table) => report(
                Code::ERRCODE_AMBIGUOUS_ALIAS,
                format!("\"{table}\" has several reground_bm25 indexes"),
                "Name the index in place of the table: reground.bm25_query('red shoes', 'docs_body_idx').",
            ),
            E::PartitionsDiffer => report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "the indexes of the partitions were made with different text search configurations"
                    .into(),
                "Create them through the partitioned table, with the same options.",
            ),
            E::OtherIndex => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "the query names another table or index than the one that is searched".into(),
                "Name the table that the query stands in, or its index where it has several.",
            ),
            E::NoQuery => report(
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "a reground_bm25 index is not read without a query".into(),
                "",
            ),
            E::SeveralOrders => report(
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "a reground_bm25 index gives rows in the order of one query only".into(),
                "",
            ),
            E::NoSnapshot => report(
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "a reground_bm25 index is read under an MVCC snapshot only".into(),
                "",
            ),
            E::NotBm25Index(name) => report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a reground_bm25 index"),
                "SELECT index FROM reground.bm25_indexes lists those of your tables.",
            ),
            E::NotOwner(table) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("must be owner of table {table}"),
                "",
            ),
            E::MayNotWrite(corpus) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied to write the edges of corpus \"{corpus}\""),
                "INSERT or UPDATE on the table of its passages is needed.",
            ),
            E::MayNotDelete(corpus) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied to delete the documents of corpus \"{corpus}\""),
                "DELETE on its tables is needed.",
            ),
            E::TooEarly(function) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied to call {function} for a moment that is still to come"),
                "How long evidence is kept is a superuser's to say: reground.trace_retention_days, reground.archive_retention_days.",
            ),
            E::UntrustedCode(corpus) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("corpus \"{corpus}\" runs functions of a role that is not a superuser"),
                "They would run with the rights of a superuser. Use SET ROLE to search as an ordinary role.",
            ),
            E::Forbidden(table) => report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied to search table {table}"),
                "SELECT on the table, or on one of its columns, is needed.",
            ),
            E::QueryForm(text) => report(
                Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
                format!("invalid input syntax for type bm25query: \"{text}\""),
                "Write the table, a colon and the query, as in 'public.docs: red shoes', or call reground.bm25_query.",
            ),
            E::TextForm(text) => report(
                Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
                format!("invalid input syntax for type reground.bm25text: \"{text}\""),
                "Write reground.in_language('Rote Schuhe', 'german').",
            ),
            E::Weights(text) => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("weights \"{text}\" are none"),
                "Whole numbers from 1 to 100, at most sixteen, as in weights = '3,1'.",
            ),
            E::WeightsWithoutFields => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "a single text has no weights".into(),
                "Index an array of texts: USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '3,1').",
            ),
            E::UnknownTextConfig(name) => report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("text search configuration \"{name}\" does not exist"),
                "\\dF lists them; one outside pg_catalog is named with its schema, as in 'public.mine'.",
            ),
            E::NoRandomness => report(
                Code::ERRCODE_INTERNAL_ERROR,
                "could not generate random values".into(),
                "",
            ),
            E::Stored(fault) => report(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("reground stored what it cannot read: {fault}"),
                "Please report this as a bug.",
            ),
            E::Spi(error) => report(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("SPI: {error}"),
                "Please report this as a bug.",
            ),
        }
    }
}
