//! The errors of the extension, each with the SQLSTATE, the message and the hint that the client gets.

mod convert;
mod report;
#[macro_use]
mod table;

use pgrx::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::spi::quote_literal;
use reground_audit::error::AuditError;
use reground_bm25::Bm25Error;
use reground_bm25::index::IndexError;
use reground_bm25::query::clauses::SyntaxError;
use reground_documents::DocumentError;
use reground_grounding::error::GroundingError;
use reground_grounding::settings::hook::Hook;
use reground_models::error::ModelError;

pub use report::{is_first, notice, warn};

use report::{denied, internal, invalid, report, wrong_state};

/// Result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

error_table! {
    // Arguments.

    /// A required argument is NULL.
    Null(argument: &'static str) => report(
        Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
        format!("{argument} must not be null"),
        "",
    );
    /// The value of an argument is invalid.
    Bad { argument: &'static str, fault: String, hint: String }
        => invalid(format!("invalid {argument}: {fault}"), hint);
    /// A function named by a setting has another signature, or returned an invalid value.
    Hook(hook: Hook, problem: String) => invalid(problem, hook.expectation());
    /// A retention function was called with a time in the future by a role that is not a superuser.
    TooEarly(function: &'static str) => denied(
        format!("permission denied to call {function} with a time in the future"),
        "Only the owner of the database and a superuser set how long evidence is kept: reground.conversation_retention_days, reground.trace_retention_days, reground.archive_retention_days.",
    );

    // Keys.

    /// A value is sealed with a key that the session cannot open.
    Sealed => denied(
        "the sources of this tenant are encrypted, and this session has no master key that opens them",
        "A superuser names the file of the master key in reground.master_key_file. Or the session sets it: SELECT set_config('reground.master_key', $1, false).",
    );
    /// A text is no master key.
    NoMasterKey => invalid(
        "the master key is not 64 hexadecimal digits",
        "openssl rand -hex 32 makes one.",
    );
    /// The file of the master key cannot be read.
    MasterKeyFile { path: String, problem: String } => report(
        Code::ERRCODE_UNDEFINED_FILE,
        format!("cannot read the master key from {path}: {problem}"),
        "The file of reground.master_key_file must be readable by the operating system's user of the server, and by nobody else.",
    );
    /// ALTER ROLE or ALTER DATABASE has stored the master key.
    StoredMasterKey => invalid(
        "the setting reground.master_key of a role or a database stores the master key, where everyone can read it",
        "ALTER ROLE … RESET reground.master_key, or ALTER DATABASE …. Then change the key with reground.change_master_key.",
    );
    /// The session has set a master key, and no key was made with it.
    NoFirstKey => denied(
        "no tenant of this database has a key yet",
        "A member of reground_admin makes the first one, which binds the database to the master key: SELECT reground.rotate_tenant_key(…).",
    );
    /// Another transaction has made or changed keys, and the snapshot of this transaction is older.
    OtherKeys => report(
        Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
        "could not serialize access due to concurrent changes of keys",
        "Run the transaction again.",
    );
    /// The function must see what others have committed.
    NeedsReadCommitted(function: &'static str) => report(
        Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
        format!("{function} cannot run in a transaction with this isolation level"),
        "Use READ COMMITTED.",
    );
    /// The tenant has no key.
    NoTenantKey(tenant: String) => report(
        Code::ERRCODE_NO_DATA_FOUND,
        format!("tenant \"{tenant}\" has no key"),
        "SELECT key_id, tenant FROM reground.tenant_keys WHERE destroyed_at IS NULL lists the keys.",
    );

    // Objects by name or id.

    /// No such object is visible to the tenant: kind, name.
    Unknown(kind: &'static str, name: String) => report(
        Code::ERRCODE_NO_DATA_FOUND,
        format!("{kind} {name} does not exist"),
        match kind {
            // Alerts belong to no tenant.
            "alert" => "SELECT alert_id FROM reground.alerts lists the alerts.",
            "tenant" => "No data of this tenant is stored.",
            "extension" => "Install it with CREATE EXTENSION.",
            "relation" | "table" | "table or view" | "table or index" | "reground_bm25 index"
            | "text search configuration" => "",
            _ => "It may belong to another tenant: see reground.current_tenant().",
        },
    );
    /// No text search configuration of that name exists.
    UnknownTextConfig(name: String) => report(
        Code::ERRCODE_UNDEFINED_OBJECT,
        format!("text search configuration \"{name}\" does not exist"),
        "\\dF lists the configurations. One outside pg_catalog is named with its schema, as in 'public.mine'.",
    );
    /// The tenant of the session is not set: the setting that should name it.
    NoTenant(setting: String) => wrong_state(
        format!("no tenant is set: the setting {setting} is empty"),
        match setting.as_str() {
            "reground.tenant" => "The owner of the database or a superuser sets it for a role: ALTER ROLE … SET reground.tenant = '…'.".to_owned(),
            _ => format!("SET {setting} = '…' in each transaction. reground.tenant_from names this setting."),
        },
    );

    // Corpora.

    /// No corpus of that name is visible to the tenant.
    UnknownCorpus(corpus: String) => report(
        Code::ERRCODE_NO_DATA_FOUND,
        format!("corpus \"{corpus}\" does not exist"),
        "SELECT corpus FROM reground.corpora lists the corpora of the tenant. Create one with reground.create_corpus or reground.add_corpus.",
    );
    /// The corpus exists with other arguments.
    CorpusExists(corpus: String) => report(
        Code::ERRCODE_DUPLICATE_OBJECT,
        format!("corpus \"{corpus}\" already exists with other arguments"),
        "Change it with reground.alter_corpus, or remove it with reground.drop_corpus first.",
    );
    /// A table of a new corpus exists.
    RelationExists(relation: String) => report(
        Code::ERRCODE_DUPLICATE_TABLE,
        format!("relation {relation} already exists"),
        "Choose another corpus name or schema, or register the table with reground.add_corpus.",
    );
    /// A relation of the corpus was dropped.
    RelationGone(corpus: String) => report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("a relation of corpus \"{corpus}\" no longer exists"),
        format!("Run SELECT reground.drop_corpus({}), then register the corpus again.", quote_literal(&corpus)),
    );
    /// The tables of a corpus cannot be distributed without Citus.
    NoCitus => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "this database cannot distribute tables: it does not have the extension citus",
        "CREATE EXTENSION citus; on all servers, or omit distribute.",
    );
    /// Citus runs no triggers on a distributed table.
    DistributedSource(table: String) => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("{table} cannot be synchronised: it is distributed, so no trigger sees its changes"),
        "Register it with reground.add_corpus, or store its rows with reground.put_document.",
    );
    /// A column that a corpus maps was renamed or dropped.
    MappedColumn { column: String, relation: String, hint: String } => report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("column \"{column}\" of relation {relation} does not exist"),
        hint,
    );
    /// A filtered column, or one to be mapped, does not exist.
    NoColumn { column: String, relation: String } => report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("column \"{column}\" of relation {relation} does not exist"),
        "The column mapping of reground.corpora lists the mapped columns. A filter can name any column of the relation.",
    );
    /// A filter names a column that the corpus of a synchronised table does not have.
    NoFilterColumn { column: String, relation: String } => report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("column \"{column}\" of relation {relation} does not exist"),
        "The other columns of a synchronised table are not copied to its corpus. A jsonb column given as metadata can contain them: a filter is then {\"metadata\": {\"key\": \"value\"}}.",
    );
    /// A synchronised table does not have a mapped column.
    NoSourceColumn { column: String, table: String } => report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("column \"{column}\" of table {table} does not exist"),
        "Name columns of the table. Columns without a name are not copied to the corpus; a jsonb column given as metadata can contain them.",
    );
    /// A synchronised table was dropped.
    SourceGone(corpus: String) => report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("the synchronised table of corpus \"{corpus}\" no longer exists"),
        format!("SELECT reground.stop_sync({}); ends the synchronisation.", quote_literal(&corpus)),
    );
    /// A column of a synchronised table has a type that cannot be converted.
    ColumnType { column: String, table: String, meaning: &'static str, kind: String, accepted: &'static str } => report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{column}\" of table {table} cannot be used as {meaning}: it is of type {kind}"),
        format!("Name a column of type {accepted}."),
    );
    /// The corpus was registered with add_corpus.
    NotManaged(corpus: String) => wrong_state(
        format!("corpus \"{corpus}\" was not created with create_corpus"),
        "Write to its table directly. Searches read the current rows.",
    );
    /// The documents of the corpus are the rows of a table.
    Synchronised { corpus: String, table: String } => wrong_state(
        format!("the documents of corpus \"{corpus}\" are the rows of {table}"),
        format!("Write to the table, or end the synchronisation with SELECT reground.stop_sync({}).", quote_literal(&corpus)),
    );
    /// The corpus has no synchronised table.
    NotSynchronised(corpus: String) => wrong_state(
        format!("corpus \"{corpus}\" has no synchronised table"),
        "Register one with reground.sync_table.",
    );
    /// A table cannot be synchronised: its name, and why.
    CannotSynchronise { table: String, problem: &'static str, hint: &'static str } => report(
        Code::ERRCODE_WRONG_OBJECT_TYPE,
        format!("{table} cannot be synchronised: {problem}"),
        hint,
    );
    /// A corpus cannot be synchronised with a table.
    CannotBeSynchronised { corpus: String, problem: String, hint: String }
        => wrong_state(format!("corpus \"{corpus}\" cannot be synchronised: {problem}"), hint);
    /// A trigger of the synchronisation is on another table than the registered one.
    WrongTrigger => wrong_state(
        "the trigger function _sync_rows is not for this table",
        "Register the table with reground.sync_table, which creates the triggers, and drop this trigger.",
    );
    /// The caller has not the rights of the owner.
    MayNotSynchronise(relation: String) => denied(
        format!("must be owner of {relation}"),
        "The owner registers the table, or grants membership in its role.",
    );
    /// The row of a document still exists in the synchronised table.
    RowExists { table: String, doc_id: String } => wrong_state(
        format!("document \"{doc_id}\" is a row of {table}"),
        "Delete the row first, or set its content to NULL. Otherwise the document would be stored again.",
    );
    /// The corpus was registered with add_corpus, so only its current rows exist.
    NoVersions(corpus: String) => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("corpus \"{corpus}\" has no earlier versions: create_corpus did not make it"),
        "Omit as_of, or search by a column with a filter, for example on published.",
    );
    /// Another tenant has stored a document with this id: corpus, document.
    DocumentOfOtherTenant { corpus: String, doc_id: String } => report(
        Code::ERRCODE_UNIQUE_VIOLATION,
        format!("document \"{doc_id}\" of corpus \"{corpus}\" belongs to another tenant"),
        "A doc_id is unique within a corpus. Put the tenant in front of it, or give each tenant a corpus of its own.",
    );
    /// The principals of the session may not read the document that it replaces.
    DocumentOfOtherPrincipals { corpus: String, doc_id: String } => denied(
        format!("permission denied to replace document \"{doc_id}\" of corpus \"{corpus}\""),
        "None of the principals of this session may read it. A program that stores documents for all sets no principals.",
    );
    /// The table of earlier passages was dropped.
    NoHistory(corpus: String) => wrong_state(
        format!("the table of earlier passages of corpus \"{corpus}\" no longer exists"),
        "Omit as_of. A new corpus has such a table.",
    );
    /// Row-level security hides passages from the caller, but not those of earlier versions: corpus, table.
    OpenHistory { corpus: String, history: String } => denied(
        format!("row-level security of corpus \"{corpus}\" does not cover its earlier passages"),
        format!("ALTER TABLE {history} ENABLE ROW LEVEL SECURITY, with the same policies as for the passages."),
    );
    /// The corpus has no embedding column.
    NoEmbeddingColumn(corpus: String) => wrong_state(
        format!("corpus \"{corpus}\" has no embedding column"),
        "Create it with dimensions => …, or map one with reground.alter_corpus.",
    );
    /// The embedding column has a type that is not pgvector's.
    NotEmbeddings { corpus: String, kind: String } => report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("the embedding column of corpus \"{corpus}\" is of type {kind}"),
        "It must be of pgvector's type vector or halfvec: SELECT * FROM reground.check_corpus(…) shows the command.",
    );
    /// An embedding has another number of dimensions than the corpus.
    Dimensions { corpus: String, expected: i32, given: usize } => invalid(
        format!("corpus \"{corpus}\" has embeddings of {expected} dimensions, not {given}"),
        "Use the embedding model of the corpus.",
    );
    /// The setting `require_embedding` is on and no embedding was given.
    EmbeddingRequired => invalid(
        "no embedding was given, and require_embedding is on",
        "Pass embedding => $1::vector, or turn the setting off.",
    );
    /// The corpus of a source is not unique, or there is none: the message.
    AmbiguousCorpus(problem: String) => invalid(problem, "Name the corpus: corpus => '…'.");
    /// A superuser searches relations that run code of a role that is not a superuser.
    UntrustedCode(corpus: String) => denied(
        format!("corpus \"{corpus}\" runs functions of a role that is not a superuser"),
        "They could use the rights of the superuser who opened this session. Connect as an ordinary role.",
    );
    /// A statement in the session of a superuser reads a view that runs code of a role that is not a superuser.
    UntrustedView(view: String) => denied(
        format!("view \"{view}\" runs functions of a role that is not a superuser"),
        "They could use the rights of the superuser who opened this session. Connect as an ordinary role.",
    );
    /// A row of our tables names a role, or a relation of a role, whose rights the owner of the database does not have.
    UntrustedRole(role: String) => denied(
        format!("the owner of the database may not act as role \"{role}\""),
        format!("A corpus, a conversation, a turn or a probe uses this role. Set it again as the owner of the database. If the role is not a superuser, GRANT \"{role}\" TO the owner also helps. After a change of the owner, see the guide: managed servers."),
    );
    /// The caller may not write the passages of a corpus.
    MayNotWrite(corpus: String) => denied(
        format!("permission denied to write the edges of corpus \"{corpus}\""),
        "This requires INSERT or UPDATE on the table of its passages.",
    );
    /// The caller may not delete the passages of a corpus.
    MayNotDelete(corpus: String) => denied(
        format!("permission denied to delete the documents of corpus \"{corpus}\""),
        "This requires DELETE on its tables.",
    );

    // Models.

    /// No model of that name is registered.
    UnknownModel(model: String) => report(
        Code::ERRCODE_NO_DATA_FOUND,
        format!("model \"{model}\" does not exist"),
        "Register it with reground.set_model.",
    );
    /// The model has another task than is needed: model, its task, the needed task.
    OtherTask { model: String, task: &'static str, needed: &'static str } => invalid(
        format!("model \"{model}\" has the task {task}, not {needed}"),
        "A model is registered for one task. Register it again under another name.",
    );
    /// A corpus uses the model, so it cannot be dropped, nor changed so that its embeddings differ.
    ModelInUse { model: String, corpus: String } => wrong_state(
        format!("corpus \"{corpus}\" has embeddings of model \"{model}\""),
        "Register another model, and change the corpus to it with reground.alter_corpus(embedding_model => …).",
    );
    /// The embedding of a call is of another model than those of the corpus.
    OtherEmbeddingModel { corpus: String, expected: String, given: String } => invalid(
        format!("corpus \"{corpus}\" has embeddings of model \"{expected}\", not \"{given}\""),
        "Embed the question with the model of the corpus: the column embedding_model of reground.corpora names it.",
    );
    /// A corpus cannot have an embedding model: the problem, and the remedy.
    NotEmbeddable { corpus: String, problem: String, hint: String }
        => wrong_state(format!("corpus \"{corpus}\" cannot be embedded: {problem}"), hint);
    /// Maintenance does not read the positions of a registered corpus.
    NotRecordable { corpus: String, problem: String, hint: String }
        => wrong_state(format!("positions of corpus \"{corpus}\" are not checked: {problem}"), hint);
    /// The lease of a task has ended, or is of another worker.
    LeaseEnded(task_id: i64) => wrong_state(
        format!("the lease of task {task_id} has ended"),
        "Drop the result. Another worker does the task, or it is done.",
    );
    /// No model may judge the citations of the tenant, or not the named one.
    NoJudging(tenant: String) => wrong_state(
        format!("judging is not enabled for tenant \"{tenant}\""),
        "An administrator enables it with reground.set_judging. Claims, questions and cited passages are then sent to the model.",
    );
    /// An answer whose text was not stored cannot be sent to a model.
    AnswerNotStored(message_id: i64) => wrong_state(
        format!("the text of answer {message_id} is not stored"),
        "The setting store_answers of its turn was hash.",
    );
    /// The statements of an evaluation are not there yet.
    NotDecomposed(evaluation_id: i64) => wrong_state(
        format!("evaluation {evaluation_id} has no statements yet"),
        "Wait for the worker: the column outcome of reground.factuality shows the state.",
    );
    /// The scores of a model are not there yet.
    NotReranked { turn: i64, problem: String } => wrong_state(
        format!("turn {turn} has no scores yet: {problem}"),
        "Wait for the worker, or pass results => '[]' to go on in the order of the search.",
    );
    /// From the model crate.
    Model(error: ModelError) => invalid(error.to_string(), error.hint());

    // Turns.

    /// The state of the turn does not permit the operation.
    WrongState { turn: i64, state: String, wanted: &'static str, hint: &'static str }
        => wrong_state(format!("turn {turn} is {state}: it cannot be {wanted}"), hint);
    /// The id was used with other content: kind, id.
    Conflict(kind: &'static str, id: String) => report(
        Code::ERRCODE_UNIQUE_VIOLATION,
        format!("{kind} \"{id}\" was used before with other content"),
        "Use a new id for new content. Use the same id only to repeat the same call.",
    );
    /// A concurrent transaction created a row that this one cannot see: kind, name.
    Retry(kind: &'static str, name: String) => report(
        Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
        format!("{kind} \"{name}\" was created by a concurrent transaction"),
        "Retry the transaction.",
    );
    /// The objects of the extension in this database are of a version that this library does not serve.
    CatalogVersion { objects: String, library: &'static str } => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("the objects of reground in this database have version {objects}, and the library of this session has version {library}"),
        "If the objects are older, run ALTER EXTENSION reground UPDATE. If they are newer, start a new session, or restart the server if it preloads reground.",
    );
    /// A function that writes was called on a standby or in a read-only transaction.
    ReadOnly(function: &'static str) => report(
        Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
        format!("cannot execute {function} in a read-only transaction"),
        "On a standby use reground.search, which writes nothing.",
    );

    // Full-text indexes.

    /// The table has no reground_bm25 index.
    NoBm25Index(table: String) => report(
        Code::ERRCODE_UNDEFINED_OBJECT,
        format!("\"{table}\" has no reground_bm25 index"),
        "Create one: CREATE INDEX ON … USING reground_bm25 (…).",
    );
    /// The table has several reground_bm25 indexes.
    SeveralBm25Indexes(table: String) => report(
        Code::ERRCODE_AMBIGUOUS_ALIAS,
        format!("\"{table}\" has several reground_bm25 indexes"),
        "Name the index in place of the table: reground.bm25_query('red shoes', 'docs_body_idx').",
    );
    /// The object is not a reground_bm25 index.
    NotBm25Index(name: String) => report(
        Code::ERRCODE_WRONG_OBJECT_TYPE,
        format!("\"{name}\" is not a reground_bm25 index"),
        "SELECT index FROM reground.bm25_indexes lists the indexes of your tables.",
    );
    /// The partitions or shards of a table have indexes with different options.
    PartitionsDiffer => wrong_state(
        "the indexes of the partitions or shards have different options",
        "Create the indexes through the table itself, with the same text_config, weights, k1 and b.",
    );
    /// The rows of the table are in shards, and the query has no statistics of theirs.
    Distributed(table: String) => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("\"{table}\" is distributed, and its servers do not know the statistics of all shards"),
        "Read them in a statement of its own, SELECT reground.bm25_with_statistics(query), and pass the result as a parameter.",
    );
    /// A shard could not be asked.
    Shard(message: String) => report(
        Code::ERRCODE_CONNECTION_EXCEPTION,
        format!("the statistics of a shard cannot be read: {message}"),
        "Repeat the search when all servers answer, and after COMMIT if this transaction has created the table.",
    );
    /// Row-level security hides rows that count in the statistics.
    HiddenStatistics => denied(
        "row-level security hides rows of the table, and the statistics count them",
        "Use the query as it is. If the table is distributed, set lexical_statistics of the corpus to visible.",
    );
    /// The query of an index scan names another table.
    OtherIndex => invalid(
        "the query names another table or index than the one that is searched",
        "Name the table that is searched, or its index if it has several.",
    );
    /// The index makes other words or scores than those of the statistics of the query.
    OtherSettings => invalid(
        "the query has the statistics of an index with other options than the one that is searched",
        "Read the statistics of the table that is searched, or build its index with the same text_config, weights, k1 and b.",
    );
    /// An index scan has neither a query nor a value of a filter column.
    NoCondition => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "a reground_bm25 index cannot be scanned without a query",
        "",
    );
    /// An index scan is ordered by several queries.
    SeveralOrders => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "a scan of a reground_bm25 index cannot be ordered by several queries",
        "",
    );
    /// An index scan uses a snapshot that sees uncommitted rows.
    NoSnapshot => report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "a reground_bm25 index cannot be scanned without an MVCC snapshot",
        "",
    );
    /// The caller is not the owner of the table.
    NotOwner(table: String) => denied(format!("must be owner of table {table}"), "");
    /// The caller may not read the table.
    Forbidden(table: String) => denied(
        format!("permission denied to search table {table}"),
        "This requires SELECT on the table, or on its indexed columns.",
    );
    /// The text form of a `bm25query` is malformed.
    QueryForm(text: String) => report(
        Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type bm25query: \"{text}\""),
        "Write the table, a colon and the query, as in 'public.docs: red shoes', or call reground.bm25_query.",
    );
    /// A query does not follow the syntax.
    QuerySyntax(error: SyntaxError) => report(
        Code::ERRCODE_SYNTAX_ERROR,
        format!("invalid query: {error}"),
        error.hint(),
    );
    /// The text form of a `bm25text` is malformed.
    TextForm(text: String) => report(
        Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type reground.bm25text: \"{text}\""),
        "Write reground.in_language('Rote Schuhe', 'german').",
    );
    /// The option `weights` of an index is malformed.
    Weights(text: String) => invalid(
        format!("invalid weights \"{text}\""),
        "Write at most sixteen whole numbers from 1 to 100, as in weights = '3,1'.",
    );
    /// The option `weights` is set for an index on a single text.
    WeightsWithoutFields => invalid(
        "weights require an array of texts",
        "Index an array of texts: USING reground_bm25 ((ARRAY[title, body])) WITH (weights = '3,1').",
    );
    /// The first column of an index is not a text.
    FirstColumn => invalid(
        "the first column of a reground_bm25 index must be a text",
        "Put filter columns after it: USING reground_bm25 (body, tenant_id).",
    );
    /// The operator class of a filter column has no function that hashes its values.
    FilterColumn(column: u16) => invalid(
        format!("column {column} of a reground_bm25 index cannot be a filter column"),
        "For several texts: USING reground_bm25 ((ARRAY[title, body])). For a filter on a text: USING reground_bm25 (body, tenant reground.bm25_filter_ops).",
    );
    /// A page of an index cannot be read or written.
    Index(error: IndexError) => index_report(&error);

    // Errors of the crates, and internal errors.

    /// From the document crate.
    Document(error: DocumentError) => invalid(error.to_string(), error.hint());
    /// From the grounding crate.
    Grounding(error: GroundingError) => invalid(error.to_string(), error.hint());
    /// From the audit crate.
    Audit(error: AuditError) => invalid(error.to_string(), error.hint());
    /// From the citation crate.
    Citations(error: reground_citations::Error) => internal(error.to_string());
    /// The bytes of a tsvector are invalid.
    Tsvector(error: Bm25Error) => report(
        Code::ERRCODE_DATA_CORRUPTED,
        format!("cannot read a tsvector: {error}"),
        "",
    );
    /// The server returned no random bytes.
    NoRandomness => report(Code::ERRCODE_INTERNAL_ERROR, "could not generate random values", "");
    /// A stored value cannot be read.
    Stored(problem: String) => internal(format!("cannot read a stored value: {problem}"));
    /// A call of SPI failed.
    Spi(error: String) => internal(format!("SPI: {error}"));
}

fn index_report(error: &IndexError) -> ErrorReport {
    let (code, hint) = match error {
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
    report(code, error.to_string(), hint)
}
