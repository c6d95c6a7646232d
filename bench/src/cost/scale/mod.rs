//! The command `scale`: hybrid search over many passages. Their texts and vectors are derived from the data, because the data have fewer.

mod options;
mod passages;
mod report;

use std::time::Instant;

use anyhow::Result;
use postgres::Client;

use self::options::{Options, USAGE};
use self::passages::TABLE;
use self::report::{Built, Report};
use super::speed::hybrid::{HybridSearch, HybridSession, SEARCH};
use super::speed::workload::{self, Question};
use crate::data::Folder;
use crate::database::{machine, server};
use crate::progress::Progress;

/// Name of the corpus on the table.
const CORPUS: &str = "scale";
/// A copy that Citus distributes, and its corpus.
const SPREAD: &str = "lexical.spread";
const SPREAD_CORPUS: &str = "spread";
/// Number of questions.
const QUESTIONS: usize = 120;
/// `maintenance_work_mem` of the builds.
const MEMORY: &str = "4GB";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    client.execute(
        "SELECT reground.drop_corpus(corpus) FROM reground.corpora WHERE corpus = ANY ($1)",
        &[&[CORPUS, SPREAD_CORPUS].as_slice()],
    )?;
    let digest = passages::load(&mut client, &folder, options.passages)?;
    let (searches, built) = build(&mut client)?;
    let questions: Vec<Question> = workload::conversations(&folder, QUESTIONS)?
        .into_iter()
        .flat_map(|conversation| conversation.questions)
        .take(QUESTIONS)
        .collect();
    let mut session = HybridSession::connect(&address, &searches)?;
    let progress = Progress::new("questions", questions.len());
    let mut times = Vec::with_capacity(questions.len());
    for (turn, question) in questions.iter().enumerate() {
        times.push(session.run(question, turn)?);
        progress.step(1);
    }
    progress.finish();
    let report = Report {
        memory: MEMORY,
        machine: machine::describe(&mut client, &address)?,
        passages: options.passages,
        digest,
        built,
        searches,
        times,
    };
    print!("{}", report.markdown()?);
    Ok(())
}

/// Builds the indexes and registers the corpus. Returns the searches that the server can run, `search` first, and the indexes.
fn build(client: &mut Client) -> Result<(Vec<HybridSearch>, Vec<Built>)> {
    // An HNSW graph that does not fit into it is built several times slower.
    client.batch_execute(&format!("SET maintenance_work_mem = '{MEMORY}'"))?;
    let mut built = Vec::new();
    for (name, index, method) in [
        (
            "reground_bm25",
            "scale_reground",
            "reground_bm25 (content) WITH (text_config = 'english')",
        ),
        (
            "pgvector's HNSW",
            "scale_hnsw",
            "hnsw (embedding vector_cosine_ops)",
        ),
    ] {
        eprintln!("{name}: CREATE INDEX …");
        let begun = Instant::now();
        client.batch_execute(&format!("CREATE INDEX {index} ON {TABLE} USING {method}"))?;
        built.push(Built::of(client, name, index, begun)?);
    }
    client.batch_execute(&format!(
        "SELECT reground.add_corpus('{CORPUS}', '{TABLE}', 'chunk_id', 'content', embedding => 'embedding')"
    ))?;
    let mut searches = vec![
        HybridSearch::of_corpus(SEARCH, CORPUS),
        HybridSearch::of_reground(TABLE),
    ];
    searches.extend(distribute(client)?);
    let begun = Instant::now();
    if let Some(search) = HybridSearch::of_pg_textsearch(client, TABLE)? {
        built.push(Built::of(client, "pg_textsearch", "scale_bm25", begun)?);
        searches.push(search);
    }
    client.batch_execute(&format!("VACUUM ANALYZE {TABLE}"))?;
    Ok((searches, built))
}

/// Distributes a copy of the table, one shard per worker of Citus, and returns its search; `None` without Citus or without workers. The workers
/// have the `hnsw.ef_search` of their database.
fn distribute(client: &mut Client) -> Result<Option<HybridSearch>> {
    let has_citus = "SELECT FROM pg_extension WHERE extname = 'citus'";
    if client.query_opt(has_citus, &[])?.is_none() {
        return Ok(None);
    }
    let servers: i64 = client
        .query_one("SELECT count(*) FROM citus_get_active_worker_nodes()", &[])?
        .get(0);
    if servers == 0 {
        return Ok(None);
    }
    eprintln!("a copy on {servers} servers …");
    let statements = [
        format!(
            "CREATE TABLE {SPREAD} (LIKE {TABLE} INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (chunk_id))"
        ),
        format!(
            "SELECT create_distributed_table('{SPREAD}', 'chunk_id', shard_count => {servers})"
        ),
        format!("INSERT INTO {SPREAD} SELECT * FROM {TABLE}"),
        format!(
            "CREATE INDEX ON {SPREAD} USING reground_bm25 (content) WITH (text_config = 'english')"
        ),
        format!("CREATE INDEX ON {SPREAD} USING hnsw (embedding vector_cosine_ops)"),
        format!("VACUUM ANALYZE {SPREAD}"),
        format!(
            "SELECT reground.add_corpus('{SPREAD_CORPUS}', '{SPREAD}', 'chunk_id', 'content', embedding => 'embedding')"
        ),
    ];
    for statement in statements {
        client.batch_execute(&statement)?;
    }
    let name = "**search** of a copy that Citus distributes over other servers";
    Ok(Some(HybridSearch::of_corpus(name, SPREAD_CORPUS)))
}

impl Built {
    /// The index `index` of the schema `lexical`, whose build began at `begun`.
    fn of(client: &mut Client, name: &'static str, index: &str, begun: Instant) -> Result<Self> {
        let took = begun.elapsed();
        let index = format!("lexical.{index}");
        let row = client.query_one("SELECT pg_relation_size($1::text::regclass)", &[&index])?;
        Ok(Self {
            name,
            took,
            bytes: row.get(0),
        })
    }
}
