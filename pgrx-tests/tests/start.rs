//! Runs the page "From a table to a cited chat" from top to bottom, with 5,000 rows in its table and three tenants, and compares what
//! it leaves behind with the table.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::pages::{rows, steps};
use reground_tests::server::Database;

/// Rows of the table, with those that the page inserts.
const ROWS: usize = 5_000;
const ROLE: &str = "chat_app";

const MAKES: [&str; 10] = [
    "Falcon", "Orchid", "Granite", "Meridian", "Juniper", "Tundra", "Harbor", "Cobalt", "Saffron",
    "Willow",
];
const KINDS: [&str; 10] = [
    "router",
    "printer",
    "scanner",
    "camera",
    "speaker",
    "monitor",
    "projector",
    "heater",
    "mixer",
    "drone",
];

/// An article about one subject of one device of one year: title, text, a question that only it answers, and the sentence that does.
struct Article {
    title: String,
    body: String,
    question: String,
    answer: String,
}

/// Article `number` of 5,000: ten makes, ten kinds, ten subjects, five years.
fn article(number: usize) -> Article {
    let pick = |list: &[&'static str; 10], n: usize| list.get(n % 10).copied().unwrap_or_default();
    let (make, kind) = (pick(&MAKES, number), pick(&KINDS, number / 10));
    let (subject, year) = (number / 100 % 10, 2019 + number / 1000);
    let device = format!("{make} {kind} {year}");
    let amount = 3 + number % 89;
    let (name, question, answer, more) = match subject {
        0 => (
            "warranty",
            "How long is the warranty of the",
            format!("The warranty of the {device} covers {amount} months."),
            "Keep the invoice. Damage by water is excluded.",
        ),
        1 => (
            "cleaning",
            "How often must I clean the",
            format!("Clean the {device} every {amount} days with a dry cloth."),
            "Do not use alcohol. Unplug it first.",
        ),
        2 => (
            "firmware",
            "How long does a firmware update take on the",
            format!("A firmware update of the {device} takes {amount} minutes."),
            "Do not switch the device off. It restarts twice.",
        ),
        3 => (
            "battery",
            "How many hours does the battery last in the",
            format!("The battery of the {device} lasts {amount} hours."),
            "A full charge takes two hours. Store it half full.",
        ),
        4 => (
            "noise",
            "What noise is made by the",
            format!("The {device} makes a noise of {amount} decibels at full load."),
            "At night it slows its fan. A filter lowers the noise.",
        ),
        5 => (
            "returns",
            "Within how many days can I return the",
            format!("You can return the {device} within {amount} days."),
            "Use the original box. The refund arrives after a week.",
        ),
        6 => (
            "weight",
            "What is the weight of the",
            format!("The {device} weighs {amount} hundred grams."),
            "The stand is not included. Two screws hold it.",
        ),
        7 => (
            "temperature",
            "Up to which temperature can I operate the",
            format!("Operate the {device} in rooms of up to {amount} degrees."),
            "Leave a hand of space on each side. Avoid direct sun.",
        ),
        8 => (
            "spare parts",
            "How long are spare parts made for the",
            format!("Spare parts of the {device} are made for {amount} years."),
            "Order them by the number on the back. Shops keep few of them.",
        ),
        _ => (
            "delivery",
            "How many days does the delivery take of the",
            format!("The delivery of the {device} takes {amount} working days."),
            "A courier calls before. Islands take longer.",
        ),
    };
    Article {
        title: format!("{device}: {name}"),
        body: format!("This article is about the {name} of one of our devices. {answer} {more}"),
        question: format!("{question} {device}?"),
        answer,
    }
}

/// Inserts the generated rows, in addition to those of the page.
fn fill(client: &mut Client) -> Result<()> {
    let inserted = client.query_one("SELECT count(*) FROM articles", &[])?;
    let missing = ROWS - usize::try_from(inserted.get::<_, i64>(0))?;
    let mut sql = String::from("INSERT INTO articles (title, body) VALUES ");
    for number in 0..missing {
        let Article { title, body, .. } = article(number);
        let comma = if number == 0 { "" } else { ", " };
        write!(sql, "{comma}('{title}', '{body}')")?;
    }
    client.batch_execute(&sql)?;
    Ok(())
}

/// The documents of the corpus are the rows of the table, and each passage is a part of its row.
fn corpus_equals_table(client: &mut Client) -> Result<()> {
    let row = client.query_one(
        "SELECT count(*), count(*) FILTER (WHERE a.title IS NOT DISTINCT FROM d.title),
                (SELECT count(*) FROM help AS p JOIN articles AS a ON a.id::text = p.doc_id
                 WHERE substr(a.body, p.char_start + 1, p.char_end - p.char_start) = p.content),
                (SELECT count(*) FROM help), (SELECT count(*) FROM articles)
         FROM articles AS a JOIN help_documents AS d ON d.doc_id = a.id::text AND d.replaced_at IS NULL",
        &[],
    )?;
    let found: Vec<i64> = (0..5).map(|column| row.get(column)).collect();
    let all = found.last().copied().unwrap_or_default();
    ensure!(
        found.iter().all(|count| *count == all) && usize::try_from(all)? >= ROWS,
        "documents, equal titles, exact passages, passages, rows: {found:?}"
    );
    Ok(())
}

/// Stores a vector for each passage, as a program of the application does.
fn embed(client: &mut Client) -> Result<()> {
    loop {
        let stored: i64 = client
            .query_one(
                "SELECT coalesce(sum(n), 0)::bigint FROM (SELECT reground.put_embeddings('help', array_agg(chunk_id),
                        array_agg((SELECT array_agg(1 / (1 + (ascii(substr(content, 1 + i % 60, 1)) + i) % 97)::real) FROM generate_series(1, 384) AS i)::vector)) AS n
                 FROM reground.pending_embeddings('help', max_results => 1000) HAVING count(*) > 0) AS s",
                &[],
            )?
            .get(0);
        if stored == 0 {
            break;
        }
    }
    let missing: i64 = client
        .query_one("SELECT count(*) FROM help WHERE embedding IS NULL", &[])?
        .get(0);
    ensure!(missing == 0, "{missing} passages have no vector");
    Ok(())
}

/// Asks for some articles and cites the answer: the first source is the article, and the citation holds and quotes the row exactly.
fn answers(
    client: &mut Client,
    conversation: &str,
    numbers: impl Iterator<Item = usize>,
) -> Result<usize> {
    let mut asked = 0;
    for number in numbers {
        let Article {
            title,
            question,
            answer,
            ..
        } = article(number);
        let conversation = format!("{conversation}-{number}");
        let turn = client.query_one(
            "SELECT turn_id, marker, title FROM reground.begin_turn($1, $2, corpus => 'help') LIMIT 1",
            &[&conversation, &question],
        )?;
        let found: Option<String> = turn.get("title");
        ensure!(
            found.as_ref() == Some(&title),
            "{question} {found:?} instead of {title}"
        );
        let (turn_id, marker): (i64, String) = (turn.get("turn_id"), turn.get("marker"));
        let text = format!("{} [{marker}].", answer.trim_end_matches('.'));
        let end = client.query_one(
            "SELECT message_id, status FROM reground.end_turn($1, $2)",
            &[&turn_id, &text],
        )?;
        let status: String = end.get("status");
        ensure!(status == "resolved_current", "{text} {status}");
        let evidence = client.query_one(
            "SELECT e.quote, e.source_state, substr(d.content, e.char_start + 1, e.char_end - e.char_start) AS cut
             FROM reground.citation_evidence($1) AS e
             JOIN help_documents AS d ON d.doc_id = e.doc_id AND d.replaced_at IS NULL",
            &[&end.get::<_, i64>("message_id")],
        )?;
        let (quote, cut): (Option<String>, Option<String>) =
            (evidence.get("quote"), evidence.get("cut"));
        ensure!(
            quote.as_ref() == Some(&answer) && cut == quote,
            "{answer} {quote:?} {cut:?}"
        );
        asked += 1;
    }
    Ok(asked)
}

/// Each tenant finds exactly its own rows, and answers from them.
fn tenants(database: &Database) -> Result<()> {
    let mut owner = database.connect()?;
    owner.batch_execute(&format!(
        "ALTER DATABASE {} SET reground.tenant_from = 'app.tenant'",
        database.name()
    ))?;
    for (place, tenant) in ["acme", "bolt", "cova"].into_iter().enumerate() {
        let mut app = database.connect_as(ROLE)?;
        app.execute("SELECT set_config('app.tenant', $1, false)", &[&tenant])?;
        let asked = answers(&mut app, "tenant", (place..ROWS - 3).step_by(3 * 131))?;
        ensure!(asked > 10, "{tenant} asked {asked} questions");
        // No question finds articles of the other tenants.
        for number in (0..ROWS - 3).step_by(97) {
            let found = app.query(
                "SELECT doc_id, title FROM reground.search('help', $1, max_results => 20)",
                &[&article(number).question],
            )?;
            ensure!(!found.is_empty(), "{tenant} finds nothing");
            for row in found {
                let id: String = row.get("doc_id");
                let org: String = owner
                    .query_one("SELECT org FROM articles WHERE id::text = $1", &[&id])?
                    .get(0);
                ensure!(org == tenant, "{tenant} finds row {id} of {org}");
            }
        }
        let others: i64 = app
            .query_one(
                "SELECT count(*) FROM reground.turns WHERE tenant <> $1",
                &[&tenant],
            )?
            .get(0);
        ensure!(others == 0, "{tenant} sees {others} turns of others");
    }
    Ok(())
}

fn drop_role(client: &mut Client) {
    // The role exists only after a test.
    let _ = client.batch_execute(&format!("DROP OWNED BY {ROLE}; DROP ROLE {ROLE}"));
}

#[test]
fn the_page_from_a_table_to_a_cited_chat_works_with_5000_rows_and_three_tenants() -> Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/start.md");
    let database = Database::empty("start")?;
    let mut client = database.connect()?;
    drop_role(&mut client);
    let mut checked = 0;
    for step in steps(&std::fs::read_to_string(page)?) {
        let place = format!("start.md:{}", step.line);
        let found = rows(&mut client, &step.sql).with_context(|| place.clone())?;
        if let Some(printed) = step.printed {
            ensure!(
                found == printed,
                "{place}: {found:?} instead of {printed:?}"
            );
        }
        if step.sql.contains("CREATE TABLE articles") {
            fill(&mut client)?;
            checked += 1;
        } else if step.sql.contains("sync_table") {
            corpus_equals_table(&mut client)?;
            checked += 1;
        } else if step.sql.contains("embedding_progress") {
            // Instead of the worker.
            client.batch_execute("SELECT reground.alter_corpus('help', embedding_model => '')")?;
            embed(&mut client)?;
            checked += 1;
        } else if step.sql.contains("ADD org") {
            client.batch_execute(
                "UPDATE articles SET org = (ARRAY['acme', 'bolt', 'cova'])[1 + (id - 4) % 3] WHERE id BETWEEN 4 AND 5000",
            )?;
            checked += 1;
        }
    }
    ensure!(checked == 5, "{checked} of 5 places of the page were found");
    client.batch_execute("RESET ROLE")?;
    tenants(&database)?;
    corpus_equals_table(&mut client)?;
    drop(client);
    drop_role(&mut database.connect()?);
    Ok(())
}
