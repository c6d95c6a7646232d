//! Generates the answers of ninety days: copies of real turns of a small corpus, over times, conversations, tenants and models.

use anyhow::{Result, ensure};
use postgres::Client;

use crate::progress::Progress;

/// Citations per answer.
const CITATIONS: i64 = 10;
/// Turns per conversation.
const TURNS: i64 = 10;
/// Answers per statement.
const BATCH: i64 = 50_000;
/// Real turns that are copied; some have bad citations.
const TEMPLATES: usize = 20;
/// Subjects of the documents.
const SUBJECTS: [&str; 10] = [
    "rye", "oats", "barley", "wheat", "maize", "millet", "rice", "spelt", "teff", "sorghum",
];

/// Generates answers up to this number of citations. Keeps existing ones if there are enough.
///
/// # Errors
/// Errors of the server; a database with fewer answers.
pub fn fill(client: &mut Client, citations: i64) -> Result<()> {
    let answers = citations / CITATIONS;
    let there: i64 = client
        .query_one("SELECT count(*) FROM reground.messages", &[])?
        .get(0);
    if there >= answers {
        return Ok(());
    }
    ensure!(
        there == 0,
        "the database has {there} answers: drop it first"
    );
    templates(client)?;
    let last: i64 = client
        .query_one("SELECT max(turn_id) FROM reground.turns", &[])?
        .get(0);
    let progress = Progress::new("answers", usize::try_from(answers)?);
    let mut done = 0;
    while done < answers {
        let upto = (done + BATCH).min(answers);
        copy(client, last, done, upto, answers)?;
        progress.step(usize::try_from(upto - done)?);
        done = upto;
    }
    // Remove the conversations of the templates.
    client.execute(
        "DELETE FROM reground.conversations WHERE conversation_ref LIKE 'template-%'",
        &[],
    )?;
    for table in [
        "conversations.conversation_id",
        "turns.turn_id",
        "messages.message_id",
    ] {
        let (table, column) = table.split_once('.').unwrap_or_default();
        client.batch_execute(&format!(
            "SELECT setval(pg_get_serial_sequence('reground.{table}', '{column}'), max({column})) FROM reground.{table}"
        ))?;
    }
    client.batch_execute("DELETE FROM reground.rollup_queue")?;
    client.batch_execute("VACUUM (ANALYZE)")?;
    Ok(())
}

/// Runs the conversations that are copied.
fn templates(client: &mut Client) -> Result<()> {
    client.batch_execute("SELECT reground.create_corpus('grain')")?;
    let sentence = |subject: &str, place: usize| {
        format!("Field {place} of {subject} was sown in week {place} and gave {place}0 sacks.")
    };
    for (number, subject) in SUBJECTS.iter().enumerate() {
        let text: Vec<String> = (1..=40).map(|place| sentence(subject, place)).collect();
        let kind = ["md", "pdf", "html"][number % 3];
        client.execute(
            "SELECT reground.put_document('grain', $1, content => $2, uri => $3)",
            &[
                subject,
                &text.join(" "),
                &format!("https://grain.example/{subject}.{kind}"),
            ],
        )?;
    }
    for number in 0..TEMPLATES {
        let [one, other] = [number, number + 1].map(|n| SUBJECTS[n % SUBJECTS.len()]);
        let rows = client.query(
            "SELECT turn_id, marker, doc_id FROM reground.begin_turn($1, $2, 'grain')",
            &[
                &format!("template-{number}"),
                &format!("When was {one} sown, and how many sacks did {other} give?"),
            ],
        )?;
        let turn: i64 = rows[0].get(0);
        let marker = rows[0].get::<_, Option<&str>>(1).unwrap_or("A1");
        let subject = rows[0].get::<_, Option<&str>>(2).unwrap_or(one);
        // Every tenth template has bad citations.
        let answer: Vec<String> = (1..=CITATIONS as usize)
            .map(|place| match (number % 10, place % 3) {
                (9, 0) => format!("Field {place} of {subject} was never sown [Z{place}]."),
                (9, 1) => format!("Field {place} of {subject} gave nothing [Source: nowhere.md]."),
                _ => format!(
                    "{} [{marker}].",
                    sentence(subject, place).trim_end_matches('.')
                ),
            })
            .collect();
        client.query(
            "SELECT count(*) FROM reground.end_turn($1, $2)",
            &[&turn, &answer.join(" ")],
        )?;
    }
    Ok(())
}

/// Copies templates into the answers with these numbers, in order of time.
fn copy(client: &mut Client, last: i64, from: i64, upto: i64, all: i64) -> Result<()> {
    let moment = format!("now() - interval '90 days' + interval '90 days' * (n::float8 / {all})");
    let numbers = format!("generate_series({from}::bigint, {}) AS n", upto - 1);
    let columns = |client: &mut Client, table: &str, given: &[&str]| -> Result<String> {
        let rows = client.query(
            "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL ($2) ORDER BY attnum",
            &[&format!("reground.{table}"), &given],
        )?;
        let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        Ok(names.join(", "))
    };
    let prefixed = |list: &str| {
        list.split(", ")
            .map(|name| format!("x.{name}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let tenant = format!("'tenant-' || (n / {TURNS}) % 10");
    let mut transaction = client.transaction()?;
    transaction.batch_execute(&format!(
        "INSERT INTO reground.conversations (conversation_id, tenant, conversation_ref, corpus, turn_count, created_at) OVERRIDING SYSTEM VALUE
         SELECT {last} + 1 + n / {TURNS}, {tenant}, 'talk-' || n / {TURNS}, 'grain', {TURNS}, {moment} FROM {numbers} WHERE n % {TURNS} = 0"
    ))?;
    transaction.commit()?;
    let template = format!("1 + n % {TEMPLATES}");
    let turns = columns(
        client,
        "turns",
        &[
            "turn_id",
            "tenant",
            "conversation_id",
            "turn_no",
            "request_id",
            "begun_at",
            "ended_at",
        ],
    )?;
    let messages = columns(
        client,
        "messages",
        &[
            "message_id",
            "tenant",
            "conversation_id",
            "turn_id",
            "model",
            "tags",
            "created_at",
        ],
    )?;
    let citations = columns(
        client,
        "message_citations",
        &[
            "citation_id",
            "tenant",
            "conversation_id",
            "turn_id",
            "message_id",
            "created_at",
        ],
    )?;
    let conversation = format!("{last} + 1 + n / {TURNS}");
    client.batch_execute(&format!(
        "INSERT INTO reground.turns (turn_id, tenant, conversation_id, turn_no, begun_at, ended_at, {turns}) OVERRIDING SYSTEM VALUE
         SELECT {last} + 1 + n, {tenant}, {conversation}, 1 + n % {TURNS}, {moment}, {moment}, {} FROM {numbers} JOIN reground.turns AS x ON x.turn_id = {template};
         INSERT INTO reground.messages (message_id, tenant, conversation_id, turn_id, model, tags, created_at, {messages}) OVERRIDING SYSTEM VALUE
         SELECT {last} + 1 + n, {tenant}, {conversation}, {last} + 1 + n, (ARRAY['small', 'medium', 'large'])[1 + n % 3], jsonb_build_object('team', 'team-' || n % 7), {moment}, {} FROM {numbers} JOIN reground.messages AS x ON x.turn_id = {template};
         INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, created_at, {citations})
         SELECT {tenant}, {conversation}, {last} + 1 + n, {last} + 1 + n, {moment}, {} FROM {numbers} JOIN reground.message_citations AS x ON x.turn_id = {template}",
        prefixed(&turns), prefixed(&messages), prefixed(&citations)
    ))?;
    Ok(())
}
