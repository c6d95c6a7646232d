//! Long rows of a registered table: a turn shows the window that fits the question, with exact offsets.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use postgres::Client;
use reground_tests::server::Database;
use serde_json::{Value, json};

const TOLL: &str =
    "Der Schleusenwärter Žofie Müller erhöhte 1783 den Zoll für Getreide auf 14 Groschen.";
const BRIDGE: &str =
    "Die steinerne Brücke über die Óder wurde 1851 nach einem Hochwasser abgetragen.";

/// An article of about 42 kB with two facts.
fn article() -> String {
    let mut text = String::from("Geschichte der Stadt Łužin. ");
    for year in 0..460 {
        match year {
            230 => text.push_str(TOLL),
            430 => text.push_str(BRIDGE),
            _ => {
                _ = write!(
                    text,
                    "Im Jahr der {year}. Zählung lebten dort „viele“ Handwerker, Händler und Bürger in Łužin."
                )
            }
        }
        text.push_str(if year % 7 == 6 { "\n\n" } else { " " });
    }
    text
}

/// A corpus with the article and short rows, and an open connection.
fn articles(client: &mut Client) -> Result<()> {
    client.batch_execute("CREATE TABLE articles (id int PRIMARY KEY, title text, body text)")?;
    client.execute(
        "INSERT INTO articles VALUES (1, 'Łužin', $1), (2, 'Abgaben', 'Ein Zoll ist eine Abgabe.')",
        &[&article()],
    )?;
    client.batch_execute(
        "SELECT reground.add_corpus('wiki', relation => 'articles', chunk_id => 'id', content => 'body', title => 'title', text_config => 'german')",
    )?;
    Ok(())
}

struct Turn {
    turn_id: i64,
    marker: String,
    content: String,
}

/// Begins a turn; returns the source that is a part of the article.
fn ask(client: &mut Client, query: &str, settings: &Value) -> Result<Turn> {
    let rows = client.query(
        "SELECT turn_id, marker, content, tokens FROM reground.begin_turn('talk', $1, 'wiki', settings => $2) WHERE chunk_id = '1'",
        &[&query, settings],
    )?;
    let row = rows.first().context("the article is not a source")?;
    assert!(row.get::<_, i32>("tokens") <= 1024);
    Ok(Turn {
        turn_id: row.get("turn_id"),
        marker: row.get("marker"),
        content: row.get("content"),
    })
}

/// The present state of the passages of a turn.
fn states(client: &mut Client, turn_id: i64) -> Result<Vec<String>> {
    let rows = client.query(
        "SELECT content_state FROM reground.verify_turn($1) WHERE chunk_id = '1'",
        &[&turn_id],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Asks about another part of the article of a turn, and again about the first one.
fn another_part_is_another_source(client: &mut Client, turn: &Turn, hashed: &Value) -> Result<()> {
    // Another part of the same row is another source, and the row has not changed.
    let other = ask(
        client,
        "Wann wurde die steinerne Brücke über die Óder abgetragen?",
        hashed,
    )?;
    assert!(other.content.contains(BRIDGE) && !other.content.contains(TOLL));
    assert_ne!(other.marker, turn.marker);
    assert!(!warnings(client, other.turn_id)?.contains(&"source_changed".to_owned()));
    let answer = format!(
        "Die Brücke wurde 1851 abgetragen. [{}] Der Zoll stieg auf 14 Groschen. [{}]",
        other.marker, turn.marker
    );
    let cited = client.query(
        "SELECT marker, holds, diagnostic FROM reground.end_turn($1, $2)",
        &[&other.turn_id, &answer],
    )?;
    assert!(cited[0].get::<_, bool>("holds"));
    let diagnostic: Option<String> = cited[1].get("diagnostic");
    assert!(!diagnostic.unwrap_or_default().contains("replaced"));

    // The same question again gets the same window under its marker.
    let again = ask(client, "Wer erhöhte den Zoll für Getreide?", hashed)?;
    assert_eq!(
        (&again.marker, &again.content),
        (&turn.marker, &turn.content)
    );
    client.execute(
        "SELECT reground.end_turn($1, 'Das war Žofie Müller.')",
        &[&again.turn_id],
    )?;
    Ok(())
}

fn warnings(client: &mut Client, turn_id: i64) -> Result<Vec<String>> {
    let row = client.query_one(
        "SELECT warnings FROM reground.turns WHERE turn_id = $1",
        &[&turn_id],
    )?;
    Ok(row.get(0))
}

#[test]
fn a_question_about_the_middle_of_a_long_article_is_answered_and_cited() -> Result<()> {
    let database = Database::create("windows")?;
    let mut client = database.connect()?;
    articles(&mut client)?;
    let length: i32 = client
        .query_one("SELECT octet_length(body) FROM articles WHERE id = 1", &[])?
        .get(0);
    assert!(length > 42_000, "{length}");

    let hashed = json!({"provenance": "hash"});
    let turn = ask(&mut client, "Wer erhöhte den Zoll für Getreide?", &hashed)?;
    assert!(turn.content.contains(TOLL) && turn.content.len() < 8000);
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn.turn_id])?
        .get(0);
    assert!(
        prompt.contains(TOLL) && prompt.len() < 12_000,
        "{}",
        prompt.len()
    );

    // The quote is in the article at the offsets of the citation, also behind characters of several bytes.
    let answer = format!(
        "Der Zoll für Getreide wurde 1783 von Žofie Müller auf 14 Groschen erhöht. [{}]",
        turn.marker
    );
    let cited = client.query_one(
        "SELECT holds, quote FROM reground.end_turn($1, $2)",
        &[&turn.turn_id, &answer],
    )?;
    assert_eq!((cited.get(0), cited.get(1)), (true, TOLL));
    let there = client.query_one(
        "SELECT c.quote, substring(a.body FROM c.quote_start + 1 FOR c.quote_end - c.quote_start), c.source_hash
         FROM reground.message_citations AS c JOIN articles AS a ON a.id::text = c.chunk_id WHERE c.turn_id = $1",
        &[&turn.turn_id],
    )?;
    assert_eq!(there.get::<_, &str>(0), there.get::<_, &str>(1));
    let facts = client.query(
        "SELECT f.fact, substring(a.body FROM f.fact_start + 1 FOR f.fact_end - f.fact_start)
         FROM reground.source_facts AS f, articles AS a WHERE f.turn_id = $1 AND f.marker = $2 AND a.id = 1",
        &[&turn.turn_id, &turn.marker],
    )?;
    assert!(!facts.is_empty());
    for fact in facts {
        assert_eq!(fact.get::<_, &str>(0), fact.get::<_, &str>(1));
    }
    assert_eq!(states(&mut client, turn.turn_id)?, ["unchanged"]);

    another_part_is_another_source(&mut client, &turn, &hashed)?;
    // A changed row is stale, wherever the change is.
    client.batch_execute("UPDATE articles SET body = body || ' Ende.' WHERE id = 1")?;
    assert_eq!(states(&mut client, turn.turn_id)?, ["changed"]);
    let changed = ask(&mut client, "Und der Zoll für Getreide?", &hashed)?;
    assert!(warnings(&mut client, changed.turn_id)?.contains(&"source_changed".to_owned()));
    Ok(())
}

/// Markers with the texts of their windows.
type Windows = Vec<(String, String)>;

#[test]
fn a_question_that_names_windows_gets_them() -> Result<()> {
    let database = Database::create("windows_named")?;
    let mut client = database.connect()?;
    articles(&mut client)?;
    let settings = json!({});
    let mut shown = Windows::new();
    for query in [
        "Wer erhöhte den Zoll für Getreide?",
        "Wann wurde die steinerne Brücke über die Óder abgetragen?",
    ] {
        let turn = ask(&mut client, query, &settings)?;
        client.execute(
            "SELECT reground.end_turn($1, 'Das steht hier.')",
            &[&turn.turn_id],
        )?;
        shown.push((turn.marker, turn.content));
    }
    let mut windows = |query: &str| -> Result<(Windows, Vec<String>)> {
        let rows = client.query(
            "SELECT turn_id, marker, content FROM reground.begin_turn('talk', $1, 'wiki') WHERE chunk_id = '1' AND origin <> 'remembered'",
            &[&query],
        )?;
        let turn_id: i64 = client
            .query_one("SELECT max(turn_id) FROM reground.turns", &[])?
            .get(0);
        let found = rows.iter().map(|row| (row.get(1), row.get(2))).collect();
        let warnings = warnings(&mut client, turn_id)?;
        client.execute("SELECT reground.abandon_turn($1)", &[&turn_id])?;
        if query.starts_with("Und nun") {
            client.batch_execute("DELETE FROM articles WHERE id = 1")?;
        }
        Ok((found, warnings))
    };
    let (toll, bridge) = (&shown[0], &shown[1]);
    let ask_for = format!("Was stand in {}?", toll.0);
    let (found, _) = windows(&ask_for)?;
    assert_eq!(found, std::slice::from_ref(toll));
    let (mut found, warned) = windows(&format!("Vergleiche {} und {}", toll.0, bridge.0))?;
    found.sort();
    let mut expected = shown.clone();
    expected.sort();
    assert_eq!(found, expected);
    assert!(!warned.contains(&"named_gone".to_owned()));
    windows(&format!("Und nun {}?", bridge.0))?;
    let (found, warned) = windows(&ask_for)?;
    assert!(found.is_empty());
    assert!(warned.contains(&"named_gone".to_owned()), "{warned:?}");
    Ok(())
}

#[test]
fn rerankers_searches_and_reused_contexts_get_windows() -> Result<()> {
    let database = Database::create("windows_paths")?;
    let mut client = database.connect()?;
    articles(&mut client)?;
    let query = "Wer erhöhte den Zoll für Getreide?";
    let found = client.query(
        "SELECT turn_id, content FROM reground.begin_turn('deferred', $1, 'wiki', settings => '{\"reranker\": \"deferred\"}')",
        &[&query],
    )?;
    let turn_id: i64 = found[0].get(0);
    let texts: Vec<&str> = found.iter().map(|row| row.get(1)).collect();
    assert!(texts.iter().any(|text| text.contains(TOLL)));
    assert!(texts.iter().all(|text| text.len() < 8000));
    // A reranker returns the texts that it got.
    let results: Vec<Value> = texts
        .iter()
        .map(|text| json!({"text": text, "score": 0.5}))
        .collect();
    let reranked = client.query(
        "SELECT content FROM reground.apply_rerank($1, $2)",
        &[&turn_id, &Value::from(results)],
    )?;
    assert_eq!(reranked.len(), texts.len());

    // A second window of the row in one turn, under its own marker.
    let more = client.query(
        "SELECT marker, content FROM reground.retrieve($1, 'Wann wurde die steinerne Brücke abgetragen?') WHERE chunk_id = '1'",
        &[&turn_id],
    )?;
    assert!(more[0].get::<_, &str>("content").contains(BRIDGE));
    let markers: i64 = client
        .query_one(
            "SELECT count(DISTINCT marker) FROM reground.conversation_markers WHERE chunk_id = '1'",
            &[],
        )?
        .get(0);
    assert_eq!(markers, 2);

    // A turn that does not search shows the same window.
    let first = json!({"strategy": "first_turn"});
    let shown = ask(&mut client, query, &first)?;
    client.execute(
        "SELECT reground.end_turn($1, 'Das war Žofie Müller.')",
        &[&shown.turn_id],
    )?;
    let reused = ask(
        &mut client,
        "Wann wurde die steinerne Brücke abgetragen?",
        &first,
    )?;
    assert_eq!(
        (reused.marker, reused.content),
        (shown.marker, shown.content)
    );

    let dry = client.query_one(
        "SELECT in_context FROM reground.dry_run_turn($1, 'wiki') WHERE chunk_id = '1'",
        &[&query],
    )?;
    assert!(dry.get::<_, bool>(0));
    Ok(())
}

/// The first passage is shortened to a small budget, and is reported if it leaves.
#[test]
fn the_first_passage_does_not_leave_silently() -> Result<()> {
    let database = Database::create("windows_budget")?;
    let mut client = database.connect()?;
    articles(&mut client)?;
    for (max_tokens, text, warning) in [
        (400, TOLL, ""),
        (200, TOLL, ""),
        (3, "", "budget_too_small"),
    ] {
        let settings = json!({"max_tokens": max_tokens});
        let rows = client.query(
            "SELECT turn_id, coalesce(content, '') FROM reground.begin_turn('budget', 'Wer erhöhte 1783 den Zoll für Getreide auf 14 Groschen?', 'wiki', settings => $1)",
            &[&settings],
        )?;
        let (turn_id, content): (i64, &str) = (rows[0].get(0), rows[0].get(1));
        assert!(content.contains(text), "{max_tokens}: {content}");
        let row = client.query_one(
            "SELECT array_to_string(warnings, ' '), context_tokens FROM reground.turns WHERE turn_id = $1",
            &[&turn_id],
        )?;
        assert!(row.get::<_, &str>(0).contains(warning));
        assert!(row.get::<_, i32>(1) <= max_tokens);
        client.execute("SELECT reground.abandon_turn($1)", &[&turn_id])?;
    }
    // Pins take all places.
    client.batch_execute("SELECT reground.pin('pinned', chunk_id => '2', corpus => 'wiki')")?;
    client.execute(
        "SELECT reground.begin_turn('pinned', 'steinerne Brücke', 'wiki', settings => '{\"max_sources\": 1}')",
        &[],
    )?;
    let row = client.query_one(
        "SELECT warnings FROM reground.turns ORDER BY turn_id DESC LIMIT 1",
        &[],
    )?;
    assert!(
        row.get::<_, Vec<String>>(0)
            .contains(&"first_dropped".to_owned())
    );
    Ok(())
}

#[test]
fn a_window_at_the_end_of_a_row_of_a_megabyte() -> Result<()> {
    let database = Database::create("windows_large")?;
    let mut client = database.connect()?;
    client.batch_execute("CREATE TABLE books (id int PRIMARY KEY, body text)")?;
    let body = format!("{}{TOLL}", article().replace(TOLL, "").repeat(24));
    client.execute("INSERT INTO books VALUES (1, $1)", &[&body])?;
    client.batch_execute("SELECT reground.add_corpus('books', relation => 'books', chunk_id => 'id', content => 'body', text_config => 'german');
        CREATE INDEX ON books USING reground_bm25 (body) WITH (text_config = 'german')")?;
    let row = client.query_one(
        "SELECT content, locator FROM reground.begin_turn('book', 'Wer erhöhte den Zoll für Getreide?', 'books')",
        &[],
    )?;
    assert!(row.get::<_, &str>(0).ends_with(TOLL));
    let end = body.chars().count();
    assert!(row.get::<_, &str>(1).ends_with(&format!("–{end}")));
    Ok(())
}

#[test]
fn check_corpus_reports_long_rows_and_repeated_addresses() -> Result<()> {
    let database = Database::create("windows_check")?;
    let mut client = database.connect()?;
    articles(&mut client)?;
    let finding =
        |client: &mut Client, corpus: &str, item: &str| -> Result<Option<(String, String)>> {
            let rows = client.query(
                "SELECT status, detail FROM reground.check_corpus($1) WHERE item = $2",
                &[&corpus, &item],
            )?;
            Ok(rows.first().map(|row| (row.get(0), row.get(1))))
        };
    let (status, detail) = finding(&mut client, "wiki", "content")?.context("no finding")?;
    assert_eq!(status, "warning");
    assert!(
        detail.starts_with("1 of 2 texts have more than 1024 tokens"),
        "{detail}"
    );
    client.batch_execute(
        "SELECT reground.alter_corpus('wiki', settings => '{\"max_passage_tokens\": 100000}')",
    )?;
    assert_eq!(finding(&mut client, "wiki", "content")?, None);

    client.batch_execute(
        "SELECT reground.create_corpus('help');
         SELECT reground.put_document('help', 'a', content => 'Cows give milk.', uri => 'https://example.com/cows?utm_source=mail');
         SELECT reground.put_document('help', 'b', content => 'Cows give milk daily.', uri => 'https://example.com/cows')",
    )?;
    let (status, detail) = finding(&mut client, "help", "uri")?.context("no finding")?;
    assert_eq!(status, "warning");
    assert_eq!(
        detail,
        "1 addresses belong to several documents, such as https://example.com/cows: \"a\", \"b\""
    );
    client.batch_execute("SELECT reground.delete_document('help', 'b')")?;
    assert_eq!(finding(&mut client, "help", "uri")?, None);
    Ok(())
}

#[test]
fn near_duplicates_take_one_place() -> Result<()> {
    let database = Database::create("near_twins")?;
    let mut client = database.connect()?;
    client.batch_execute("SELECT reground.create_corpus('help')")?;
    let text = "Administrators change the limit of uploads in the settings of a workspace. The limit is 5 MB for a file, and it is \
        checked when a member adds the file to a page. Larger files are kept in the archive of the workspace, where members \
        find them under the name of the page that they belong to.";
    let variants = [
        ("original", text.to_owned()),
        ("edited", text.replace("are kept in", "are stored in")),
        ("reworded", text.replace("checked when", "tested when")),
        ("other_limit", text.replace("5 MB", "50 MB")),
        (
            "denied",
            text.replace("Larger files are kept", "Larger files are not kept"),
        ),
    ];
    for (doc_id, content) in &variants {
        client.execute(
            "SELECT reground.put_document('help', $1, content => $2)",
            &[doc_id, content],
        )?;
    }
    let rows = client.query(
        "SELECT turn_id, doc_id FROM reground.begin_turn('limits', 'What is the limit of uploads?', 'help') ORDER BY doc_id",
        &[],
    )?;
    let shown: Vec<&str> = rows.iter().map(|row| row.get(1)).collect();
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown.contains(&"other_limit") && shown.contains(&"denied"));
    let turn_id: i64 = rows[0].get(0);
    let dropped: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.turn_candidates WHERE turn_id = $1 AND drop_reason = 'near_twin' AND replaced_by IS NOT NULL",
            &[&turn_id],
        )?
        .get(0);
    assert_eq!(dropped, 2);
    Ok(())
}
