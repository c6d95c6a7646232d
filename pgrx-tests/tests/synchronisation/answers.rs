//! Answers of two tenants that are returned again while the table changes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::server::Database;

use crate::writers::allowed;

/// Questions that are asked again.
const REPEATED: usize = 10;

/// Rows of the table whose texts are asked for, so that the tenants ask the same questions.
const ROWS: usize = 5;

/// How often questions were asked again.
#[derive(Default)]
pub struct Reused {
    /// An answer was returned.
    returned: usize,
    /// None was, although one had been before.
    withheld: usize,
}

/// One snapshot for all statements. With the lock, TRUNCATE waits, because it would empty the table in all snapshots.
const SNAPSHOT: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE texts IN ACCESS SHARE MODE";

/// For each of the questions ($1), whether an answer is returned, and whether it is stale or foreign: it has no source, a source is no row of the
/// table, the search finds other sources now, or it is of another tenant than $2. No question while the corpus waits for a comparison with
/// the table.
const ASKED_AGAIN: &str = "
    SELECT a.question, r.turn_id IS NOT NULL, r.turn_id IS NOT NULL AND (
        NOT EXISTS (SELECT FROM reground.turn_sources(r.turn_id) AS s WHERE s.marker IS NOT NULL)
        OR EXISTS (SELECT FROM reground.turn_sources(r.turn_id) AS s
            WHERE NOT EXISTS (SELECT FROM texts AS t WHERE (t.id::text, t.body) = (s.doc_id, s.content) AND t.headline IS NOT DISTINCT FROM s.title))
        OR ARRAY(SELECT s.chunk_id FROM reground.turn_sources(r.turn_id) AS s ORDER BY 1)
            <> ARRAY(SELECT d.chunk_id FROM reground.dry_run_turn(a.question, 'now') AS d WHERE d.in_context ORDER BY 1)
        OR NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = r.turn_id AND t.tenant = $2))
    FROM unnest($1::text[]) AS a(question) LEFT JOIN LATERAL reground.reusable_answer('now', a.question) AS r ON true
    WHERE NOT EXISTS (SELECT FROM reground.sync_queue AS q JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'now')";

/// Asks for texts of the table as a tenant and answers, and asks again, until the writers have ended.
pub fn ask(database: &Database, done: &AtomicBool, tenant: &str, seed: u64) -> Result<Reused> {
    let mut client = database.connect()?;
    client.batch_execute(&format!(
        "SET reground.tenant_from = 'app.tenant'; SET app.tenant = '{tenant}'; SET reground.reuse_answers = 'true'; SET reground.max_sources = '3'"
    ))?;
    let mut chance = Chance::of(seed);
    let mut questions: Vec<String> = Vec::new();
    let (mut reused, mut known) = (Reused::default(), BTreeSet::new());
    for number in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let name = format!("{tenant}-{number}");
        match answer(&mut client, &name, chance.below(ROWS)) {
            Ok(question) => questions.extend(question),
            other => {
                allowed(other)?;
            }
        }
        let latest = questions.len().saturating_sub(REPEATED);
        client.batch_execute(SNAPSHOT)?;
        let outcome = client.query(ASKED_AGAIN, &[&&questions[latest..], &tenant]);
        client.batch_execute("ROLLBACK")?;
        match outcome {
            Ok(rows) => {
                for row in rows {
                    let (question, returned, wrong): (String, bool, bool) =
                        (row.get(0), row.get(1), row.get(2));
                    ensure!(!wrong, "the answer to {question} is stale or foreign");
                    reused.returned += usize::from(returned);
                    reused.withheld += usize::from(!returned && known.contains(&question));
                    if returned {
                        known.insert(question);
                    }
                }
            }
            Err(error) => {
                allowed::<()>(Err(error))?;
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(reused)
}

/// Asks for the text of a row and answers with it. Returns the question; `None` if there is no such row, or nothing is found.
fn answer(
    client: &mut Client,
    conversation: &str,
    row: usize,
) -> Result<Option<String>, postgres::Error> {
    let number = i64::try_from(row).unwrap_or(0);
    let texts = "SELECT body FROM texts WHERE body IS NOT NULL ORDER BY id OFFSET $1 LIMIT 1";
    let Some(found) = client.query_opt(texts, &[&number])? else {
        return Ok(None);
    };
    let question: String = found.get(0);
    let begun = client.query_one(
        "SELECT turn_id, marker, content FROM reground.begin_turn($1, $2, corpus => 'now') LIMIT 1",
        &[&conversation, &question],
    )?;
    let (turn, marker, content): (i64, Option<String>, Option<String>) =
        (begun.get(0), begun.get(1), begun.get(2));
    let Some((marker, content)) = marker.zip(content) else {
        return Ok(None);
    };
    let said = content.trim_end_matches('.');
    client.execute(
        "SELECT FROM reground.end_turn($1, $2)",
        &[&turn, &format!("{said} [{marker}].")],
    )?;
    Ok(Some(question))
}

/// Prints how often answers were returned. Fails if none was, or if none was withheld later.
pub fn report(reused: &[Reused]) -> Result<()> {
    let returned: usize = reused.iter().map(|tenant| tenant.returned).sum();
    let withheld: usize = reused.iter().map(|tenant| tenant.withheld).sum();
    println!("{returned} answers were returned again, {withheld} were not");
    ensure!(
        returned > 0 && withheld > 0,
        "{returned} answers were returned, {withheld} were not"
    );
    Ok(())
}
