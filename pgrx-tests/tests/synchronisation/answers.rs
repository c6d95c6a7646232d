//! Answers of two tenants that are returned again while the table changes.

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
    returned: i64,
    /// None was.
    withheld: i64,
}

/// One snapshot for all statements. With the lock, TRUNCATE waits, because it would empty the table in all snapshots.
const SNAPSHOT: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE texts IN ACCESS SHARE MODE";

/// The questions ($1), those with an answer, and the answers that are stale or foreign: a source is no row of the table, or is not what the
/// search finds now, or the answer is of another tenant than $2. No question while the corpus waits for a comparison with the table.
const ASKED_AGAIN: &str = "
    WITH asked AS (SELECT * FROM unnest($1::text[]) AS question
        WHERE NOT EXISTS (SELECT FROM reground.sync_queue AS q JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'now')),
    answers AS (SELECT a.question, r.turn_id FROM asked AS a CROSS JOIN LATERAL reground.reusable_answer('now', a.question) AS r),
    wrong AS (SELECT FROM answers AS a WHERE
        EXISTS (SELECT FROM reground.turn_sources(a.turn_id) AS s
            WHERE NOT EXISTS (SELECT FROM texts AS t WHERE (t.id::text, t.body) = (s.doc_id, s.content) AND t.headline IS NOT DISTINCT FROM s.title))
        OR ARRAY(SELECT s.chunk_id FROM reground.turn_sources(a.turn_id) AS s ORDER BY 1)
            <> ARRAY(SELECT d.chunk_id FROM reground.dry_run_turn(a.question, 'now') AS d WHERE d.in_context ORDER BY 1)
        OR NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = a.turn_id AND t.tenant = $2))
    SELECT (SELECT count(*) FROM asked), (SELECT count(*) FROM answers), (SELECT count(*) FROM wrong)";

/// Asks for texts of the table as a tenant and answers, and asks again, until the writers have ended.
pub fn ask(database: &Database, done: &AtomicBool, tenant: &str, seed: u64) -> Result<Reused> {
    let mut client = database.connect()?;
    client.batch_execute(&format!(
        "SET reground.tenant_from = 'app.tenant'; SET app.tenant = '{tenant}'; SET reground.reuse_answers = 'true'; SET reground.max_sources = '1'"
    ))?;
    let mut chance = Chance::of(seed);
    let mut questions: Vec<String> = Vec::new();
    let mut reused = Reused::default();
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
        let outcome = client.query_one(ASKED_AGAIN, &[&&questions[latest..], &tenant]);
        client.batch_execute("ROLLBACK")?;
        match outcome {
            Ok(row) => {
                let (asked, returned, wrong): (i64, i64, i64) =
                    (row.get(0), row.get(1), row.get(2));
                ensure!(wrong == 0, "{wrong} answers are stale or foreign");
                reused.returned += returned;
                reused.withheld += asked - returned;
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

/// Prints how often answers were returned. Fails if none was, or all were.
pub fn report(reused: &[Reused]) -> Result<()> {
    let returned: i64 = reused.iter().map(|tenant| tenant.returned).sum();
    let withheld: i64 = reused.iter().map(|tenant| tenant.withheld).sum();
    println!("{returned} answers were returned again, {withheld} were not");
    ensure!(
        returned > 0 && withheld > 0,
        "{returned} answers were returned, {withheld} were not"
    );
    Ok(())
}
