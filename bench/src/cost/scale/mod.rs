//! The command `scale`: hybrid search over many passages. Their texts and vectors are derived from the data, because the data have fewer.

mod options;
mod passages;
mod report;

use std::time::Instant;

use anyhow::{Context, Result};
use postgres::Client;

use self::options::{Options, USAGE};
use self::passages::TABLE;
use self::report::{Built, Report};
use super::speed::hybrid::{HybridSearch, HybridSession};
use super::speed::workload::{self, Question};
use crate::data::Folder;
use crate::database::machine;
use crate::database::server;
use crate::progress::Progress;

/// Name of the corpus on the table.
const CORPUS: &str = "scale";
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
        "SELECT reground.drop_corpus(corpus) FROM reground.corpora WHERE corpus = $1",
        &[&CORPUS],
    )?;
    let digest = passages::load(&mut client, &folder, options.passages)?;
    let (searches, built) = build(&mut client)?;
    let questions: Vec<Question> = workload::conversations(&folder, options.questions)?
        .into_iter()
        .flat_map(|conversation| conversation.questions)
        .take(options.questions)
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
    let text = report.markdown()?;
    print!("{text}");
    if let Some(out) = &options.out {
        std::fs::write(out, &text).with_context(|| out.display().to_string())?;
    }
    Ok(())
}

/// Builds the indexes and registers the corpus. Returns the searches that the server can run, `search` first, and the indexes.
fn build(client: &mut Client) -> Result<(Vec<HybridSearch>, Vec<Built>)> {
    let ours = format!(
        "CREATE INDEX scale_reground ON {TABLE} USING reground_bm25 (content) WITH (text_config = 'english')"
    );
    let vectors =
        format!("CREATE INDEX scale_hnsw ON {TABLE} USING hnsw (embedding vector_cosine_ops)");
    // An HNSW graph that does not fit into it is built several times slower.
    client.batch_execute(&format!("SET maintenance_work_mem = '{MEMORY}'"))?;
    let mut built = vec![
        index(client, "reground_bm25", "scale_reground", &ours)?,
        index(client, "pgvector's HNSW", "scale_hnsw", &vectors)?,
    ];
    client.batch_execute(&format!(
        "SELECT reground.add_corpus('{CORPUS}', '{TABLE}', 'chunk_id', 'content', embedding => 'embedding')"
    ))?;
    let mut searches = vec![
        HybridSearch::of_corpus(CORPUS),
        HybridSearch::in_plain_sql(
            "BM25 (`reground_bm25`) + pgvector, the same two indexes",
            TABLE,
            &format!(
                "SELECT chunk_id FROM {TABLE} ORDER BY content <@> reground.bm25_query($1::text, 'lexical.scale_reground')"
            ),
        ),
    ];
    if server::has_pg_textsearch(client)? {
        client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_textsearch")?;
        let theirs = format!(
            "CREATE INDEX scale_textsearch ON {TABLE} USING bm25 (content) WITH (text_config = 'english')"
        );
        built.push(index(client, "pg_textsearch", "scale_textsearch", &theirs)?);
        searches.push(HybridSearch::in_plain_sql(
            "pg_textsearch + pgvector",
            TABLE,
            &format!("SELECT chunk_id FROM {TABLE} ORDER BY content <@> to_bm25query($1::text, 'lexical.scale_textsearch')"),
        ));
    }
    client.batch_execute(&format!("VACUUM ANALYZE {TABLE}"))?;
    Ok((searches, built))
}

/// Builds an index.
fn index(client: &mut Client, name: &'static str, index: &str, statement: &str) -> Result<Built> {
    eprintln!("{name}: CREATE INDEX …");
    let begun = Instant::now();
    client.batch_execute(statement)?;
    let took = begun.elapsed();
    let index = format!("lexical.{index}");
    let row = client.query_one("SELECT pg_relation_size($1::text::regclass)", &[&index])?;
    Ok(Built {
        name,
        took,
        bytes: row.get(0),
    })
}
