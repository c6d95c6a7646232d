//! Failure modes of citations, each injected on purpose: the alert fires, listeners are notified, and the
//! diagnosis names the stage, the corpus, the hour and the change.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use reground_tests::server::Database;

/// Answers before and after the fault: slightly more than a rule needs.
const TURNS: i32 = 55;

/// A conversation of one turn.
struct Talk<'a> {
    corpus: &'a str,
    /// Prefix of the names of the conversations.
    name: &'a str,
    query: &'a str,
    settings: &'a str,
    /// The call arguments of apply_rerank with a deferred reranker; `$1` is the turn.
    rerank: Option<&'a str>,
    answer: &'a str,
}

/// Runs the conversation [`TURNS`] times and dates its rows back by `hours_ago` hours.
fn run_conversations(client: &mut Client, talk: &Talk<'_>, hours_ago: i32) -> Result<()> {
    run_some_conversations(client, talk, hours_ago, TURNS)
}

fn run_some_conversations(
    client: &mut Client,
    talk: &Talk<'_>,
    hours_ago: i32,
    turns: i32,
) -> Result<()> {
    let latest: i64 = client
        .query_one("SELECT coalesce(max(turn_id), 0) FROM reground.turns", &[])?
        .get(0);
    for number in 0..turns {
        let turn: i64 = client
            .query_one(
                "SELECT DISTINCT turn_id FROM reground.begin_turn($1, $2, $3, settings => $4::text::jsonb)",
                &[&format!("{}-{number}", talk.name), &talk.query, &talk.corpus, &talk.settings],
            )?
            .get(0);
        if let Some(rerank) = talk.rerank {
            client.query(
                &format!("SELECT count(*) FROM reground.apply_rerank($1, {rerank})"),
                &[&turn],
            )?;
        }
        client.query(
            "SELECT count(*) FROM reground.end_turn($1, $2, model => 'm')",
            &[&turn, &talk.answer],
        )?;
    }
    // The test moves the timestamps instead of waiting.
    for (table, moment) in [
        ("turns", "begun_at"),
        ("messages", "created_at"),
        ("message_citations", "created_at"),
    ] {
        client.execute(
            &format!("UPDATE reground.{table} SET {moment} = {moment} - make_interval(hours => $2) WHERE turn_id > $1"),
            &[&latest, &hours_ago],
        )?;
    }
    Ok(())
}

/// Runs check_alerts; returns rule and event of the alerts of a corpus.
fn check(client: &mut Client, corpus: &str) -> Result<Vec<(String, String)>> {
    let rows = client.query(
        "SELECT rule, event FROM reground.check_alerts() WHERE corpus = $1 ORDER BY rule",
        &[&corpus],
    )?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// A row of diagnose.
#[derive(Debug)]
struct Clue {
    step: i32,
    clue: String,
    stage: Option<String>,
    corpus: Option<String>,
    document_type: Option<String>,
    hours_ago: f64,
    severity: Option<String>,
    component: Option<String>,
}

fn diagnose(client: &mut Client, corpus: &str, rule: &str) -> Result<Vec<Clue>> {
    let rows = client.query(
        "SELECT d.step, d.clue, d.stage, d.corpus, d.document_type, \
                date_part('epoch', date_bin('1 hour', clock_timestamp(), 'epoch') - d.hour)::float8 / 3600, d.severity, d.details ->> 'component' \
         FROM reground.alerts AS a, reground.diagnose(a.alert_id) AS d WHERE a.corpus = $1 AND a.rule = $2 AND a.state = 'firing'",
        &[&corpus, &rule],
    )?;
    let clues = rows.iter().map(|row| Clue {
        step: row.get(0),
        clue: row.get(1),
        stage: row.get(2),
        corpus: row.get(3),
        document_type: row.get(4),
        hours_ago: row.get(5),
        severity: row.get(6),
        component: row.get(7),
    });
    let clues: Vec<Clue> = clues.collect();
    ensure!(!clues.is_empty(), "{rule} of {corpus} is not firing");
    Ok(clues)
}

/// Returns the conclusion; fails unless it names this corpus and the current hour.
fn conclusion<'a>(clues: &'a [Clue], corpus: &str) -> Result<&'a Clue> {
    let first = clues.first().context("no clue")?;
    ensure!(
        (first.step, first.clue.as_str()) == (0, "conclusion"),
        "{first:?}"
    );
    ensure!(first.corpus.as_deref() == Some(corpus), "{first:?}");
    // A test that crosses the full hour finds the hour before.
    ensure!((0.0..=1.0).contains(&first.hours_ago), "{first:?}");
    Ok(first)
}

fn fired(alerts: &[(String, String)], rule: &str) -> bool {
    alerts
        .iter()
        .any(|(fired, event)| fired == rule && event == "fired")
}

/// Three documents on bread, two of them of one type.
const BREAD: &str = "
    SELECT reground.create_corpus('CORPUS');
    SELECT reground.put_document('CORPUS', 'rye.md', content => 'Rye bread rises slowly in a cold kitchen.', uri => 'https://bread.example/rye.md');
    SELECT reground.put_document('CORPUS', 'oat.pdf', passages => '[{\"content\": \"Oat bread takes an hour in the oven.\", \"page_start\": 2}]', page_count => 9,
        uri => 'https://bread.example/oat.pdf');
    SELECT reground.put_document('CORPUS', 'corn.md', content => 'Corn bread needs no yeast at all.', uri => 'https://bread.example/corn.md');";

fn bread(name: &str) -> Result<(Database, Client)> {
    let database = Database::create(&format!("mode_{name}"))?;
    let mut client = database.connect()?;
    client.batch_execute(&BREAD.replace("CORPUS", name))?;
    Ok((database, client))
}

/// An answer whose citations all hold.
fn good_answer<'a>(corpus: &'a str, name: &'a str, settings: &'a str) -> Talk<'a> {
    Talk {
        corpus,
        name,
        query: "rye bread, oat bread or corn bread?",
        settings,
        rerank: None,
        answer: "Rye bread rises slowly in a cold kitchen [Source: rye.md]. Oat bread takes an hour in the oven [Source: oat.pdf, p. 2].",
    }
}

#[test]
fn a_reranker_that_strips_ids() -> Result<()> {
    let (_database, mut client) = bread("rerank")?;
    let all = "'[{\"index\": 0, \"score\": 3}, {\"index\": 1, \"score\": 2}, {\"index\": 2, \"score\": 1}]'";
    let before = r#"{"reranker": "deferred", "component_versions": "reranker=1"}"#;
    let after = r#"{"reranker": "deferred", "component_versions": "reranker=2"}"#;
    run_conversations(
        &mut client,
        &Talk {
            rerank: Some(all),
            ..good_answer("rerank", "before", before)
        },
        5,
    )?;
    assert_eq!(check(&mut client, "rerank")?, []);
    // The reranker returns one passage by index, and texts that no candidate has for the others.
    let stripped = "'[{\"index\": 0, \"score\": 3}, {\"content\": \"Nobody sent this.\", \"score\": 2}, {\"content\": \"Nor that, whatever it is.\", \"score\": 1}]'";
    let answer = "Rye bread rises slowly in a cold kitchen [Source: rye.md]. Oat bread takes an hour in the oven [Source: oat.pdf]. Corn bread needs no yeast at all [Source: corn.md].";
    run_conversations(
        &mut client,
        &Talk {
            rerank: Some(stripped),
            answer,
            ..good_answer("rerank", "after", after)
        },
        0,
    )?;
    let alerts = check(&mut client, "rerank")?;
    ensure!(fired(&alerts, "lost_rerank"), "{alerts:?}");
    let clues = diagnose(&mut client, "rerank", "lost_rerank")?;
    let found = conclusion(&clues, "rerank")?;
    assert_eq!(found.stage.as_deref(), Some("rerank"));
    ensure!(
        clues.iter().any(|clue| clue.clue == "ids_missing"),
        "{clues:?}"
    );
    let changed: Vec<_> = clues
        .iter()
        .filter(|clue| clue.clue == "component_changed")
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!(changed[0].component.as_deref(), Some("reranker version"));
    Ok(())
}

#[test]
fn a_chunker_with_wrong_pages() -> Result<()> {
    let (_database, mut client) = bread("pages")?;
    run_conversations(&mut client, &good_answer("pages", "before", "{}"), 3)?;
    client.batch_execute(
        "SELECT reground.put_document('pages', 'oat.pdf', passages => '[{\"content\": \"Oat bread takes an hour in the oven.\", \"page_start\": 7}]', page_count => 9,
             uri => 'https://bread.example/oat.pdf')",
    )?;
    run_conversations(&mut client, &good_answer("pages", "after", "{}"), 0)?;
    let alerts = check(&mut client, "pages")?;
    ensure!(fired(&alerts, "low_tail"), "{alerts:?}");
    let clues = diagnose(&mut client, "pages", "low_tail")?;
    let found = conclusion(&clues, "pages")?;
    assert_eq!(found.stage.as_deref(), Some("chunk"));
    assert_eq!(found.document_type.as_deref(), Some("pdf"));
    // The mean of 1 and 0.3 is below 0.70.
    assert_eq!(found.severity.as_deref(), Some("critical"));
    Ok(())
}

#[test]
fn a_budget_that_drops_what_is_cited() -> Result<()> {
    let (_database, mut client) = bread("budget")?;
    run_conversations(
        &mut client,
        &good_answer("budget", "before", r#"{"max_sources": 5}"#),
        8,
    )?;
    run_conversations(
        &mut client,
        &good_answer("budget", "after", r#"{"max_sources": 1}"#),
        0,
    )?;
    let alerts = check(&mut client, "budget")?;
    ensure!(fired(&alerts, "lost_context"), "{alerts:?}");
    let clues = diagnose(&mut client, "budget", "lost_context")?;
    assert_eq!(
        conclusion(&clues, "budget")?.stage.as_deref(),
        Some("context")
    );
    let changed: Vec<_> = clues
        .iter()
        .filter_map(|clue| clue.component.as_deref())
        .collect();
    assert_eq!(changed, ["max_sources"]);
    Ok(())
}

#[test]
fn an_unreadable_citation_format() -> Result<()> {
    let (_database, mut client) = bread("format")?;
    run_conversations(&mut client, &good_answer("format", "before", "{}"), 30)?;
    let answer =
        "Rye bread rises slowly in a cold kitchen [A1 . Oat bread takes an hour in the oven [B1 .";
    run_conversations(
        &mut client,
        &Talk {
            answer,
            ..good_answer("format", "after", "{}")
        },
        0,
    )?;
    let rows = client.query(
        "SELECT a.rule, d.stage, d.corpus FROM reground.check_alerts() AS a, reground.diagnose(a.alert_id) AS d WHERE a.rule = 'sli_parse_failures' AND d.step = 0",
        &[],
    )?;
    ensure!(rows.len() == 1, "parse failures did not fire");
    assert_eq!(rows[0].get::<_, Option<&str>>(1), Some("citation"));
    assert_eq!(rows[0].get::<_, Option<&str>>(2), Some("format"));
    Ok(())
}

#[test]
fn a_stale_document() -> Result<()> {
    let (_database, mut client) = bread("stale")?;
    run_conversations(&mut client, &good_answer("stale", "answered", "{}"), 0)?;
    assert_eq!(check(&mut client, "stale")?, []);
    client.batch_execute(
        "SELECT reground.put_document('stale', 'rye.md', content => 'Rye bread rises fast in a warm kitchen.', uri => 'https://bread.example/rye.md')",
    )?;
    let alerts = check(&mut client, "stale")?;
    ensure!(fired(&alerts, "stale_sources"), "{alerts:?}");
    let clues = diagnose(&mut client, "stale", "stale_sources")?;
    let found = conclusion(&clues, "stale")?;
    assert_eq!(found.stage.as_deref(), Some("document"));
    assert_eq!(found.document_type.as_deref(), Some("md"));
    Ok(())
}

#[test]
fn an_alert_is_notified_once_and_resolved() -> Result<()> {
    let (database, mut client) = bread("told")?;
    let mut listener = database.connect()?;
    listener.batch_execute("LISTEN reground_alerts")?;
    let mut notifications_of_check = |client: &mut Client| -> Result<Vec<String>> {
        check(client, "told")?;
        let mut payloads = Vec::new();
        let mut notifications = listener.notifications();
        let mut waiting = notifications.timeout_iter(Duration::from_millis(300));
        while let Some(notification) = waiting.next()? {
            payloads.push(notification.payload().to_owned());
        }
        payloads.retain(|payload| payload.contains("\"lost_generation\""));
        Ok(payloads)
    };
    client.batch_execute("SELECT reground.set_alert_rule('lost_generation', min_answers => 50)")?;
    let wrong = "Rye bread rises slowly in a cold kitchen [Source: rye.md]. Oat bread takes an hour in the oven [Source: oat.pdf, p. 2]. Pigs fly over Paris [Source: pigs.md].";
    run_conversations(
        &mut client,
        &Talk {
            answer: wrong,
            ..good_answer("told", "wrong", "{}")
        },
        0,
    )?;
    // The mean of 1, 1 and 0 is below 0.70: critical at once.
    let payloads = notifications_of_check(&mut client)?;
    assert_eq!(payloads.len(), 1, "{payloads:?}");
    ensure!(
        payloads[0].contains("\"fired\"") && payloads[0].contains("\"critical\""),
        "{payloads:?}"
    );
    ensure!(
        !payloads[0].contains("told"),
        "a notification names a corpus: {payloads:?}"
    );
    assert_eq!(notifications_of_check(&mut client)?, [""; 0]);
    run_conversations(&mut client, &good_answer("told", "mended", "{}"), -1)?;
    // Good answers an hour after the bad ones; all of them are in the past.
    client.batch_execute("UPDATE reground.messages SET created_at = created_at - interval '4 hours'; SELECT reground.rebuild_audit()")?;
    let payloads = notifications_of_check(&mut client)?;
    assert_eq!(payloads.len(), 1, "{payloads:?}");
    ensure!(payloads[0].contains("\"resolved\""), "{payloads:?}");
    assert_eq!(notifications_of_check(&mut client)?, [""; 0]);
    Ok(())
}

#[test]
fn reports_make_an_alert_on_invented_sources_critical() -> Result<()> {
    let (_database, mut client) = bread("reported")?;
    // One citation in four is invented: too many for the stage, while the mean stays above the critical limit.
    let answer = format!(
        "{} Pigs fly over Paris [Source: pigs.md].",
        "Rye bread rises slowly in a cold kitchen [Source: rye.md]. ".repeat(3)
    );
    let talk = Talk {
        answer: &answer,
        ..good_answer("reported", "invented", "{}")
    };
    run_conversations(&mut client, &talk, 0)?;
    let state = |client: &mut Client| -> Result<(String, String)> {
        let row = client.query_one(
            "SELECT event, severity FROM reground.check_alerts() WHERE rule = 'lost_generation' AND corpus = 'reported'",
            &[],
        )?;
        Ok((row.get(0), row.get(1)))
    };
    assert_eq!(state(&mut client)?, ("fired".into(), "warning".into()));
    // The alert: its severity, the time it fired, and the time of the last check.
    let row = |client: &mut Client| -> Result<(String, SystemTime, SystemTime, SystemTime)> {
        let row = client.query_one(
            "SELECT severity, first_bad_hour, fired_at, checked_at FROM reground.alerts WHERE rule = 'lost_generation' AND corpus = 'reported' AND state = 'firing'",
            &[],
        )?;
        Ok((row.get(0), row.get(1), row.get(2), row.get(3)))
    };
    let (severity, first_bad_hour, fired_at, checked_at) = row(&mut client)?;
    assert_eq!(severity, "warning");
    let reported = client.execute(
        "SELECT reground.report_citation(citation_id, 'there are no such pigs') FROM reground.message_citations WHERE status = 'unknown_id' ORDER BY citation_id LIMIT 3",
        &[],
    )?;
    assert_eq!(reported, 3);
    assert_eq!(state(&mut client)?, ("escalated".into(), "critical".into()));
    let escalated = row(&mut client)?;
    assert_eq!(
        (escalated.0.as_str(), escalated.1, escalated.2),
        ("critical", first_bad_hour, fired_at)
    );
    ensure!(escalated.3 > checked_at, "the alert was not checked");
    // The alert stays critical after the reports are old, and does not fire again.
    client.batch_execute(
        "UPDATE reground.citation_reports SET created_at = created_at - interval '2 days'",
    )?;
    assert_eq!(state(&mut client)?, ("firing".into(), "critical".into()));
    ensure!(
        row(&mut client)?.3 > escalated.3,
        "it is looked at each time"
    );
    client.batch_execute(
        "UPDATE reground.citation_reports SET created_at = created_at + interval '2 days'",
    )?;
    let detail: String = client
        .query_one(
            "SELECT d.details ->> 'reports' FROM reground.alerts AS a, reground.diagnose(a.alert_id) AS d \
             WHERE a.rule = 'lost_generation' AND a.corpus = 'reported' AND d.clue = 'severity' AND d.severity = 'critical'",
            &[],
        )?
        .get(0);
    assert_eq!(detail, "3");
    Ok(())
}

#[test]
fn a_good_answer_at_the_start_of_an_hour_does_not_move_the_first_bad_one() -> Result<()> {
    let (_database, mut client) = bread("moved")?;
    client.batch_execute(
        "SELECT reground.set_alert_rule('lost_generation', period => '1 day', whole_period => true)",
    )?;
    run_conversations(&mut client, &good_answer("moved", "before", "{}"), 9)?;
    let talk = Talk {
        answer: "Pigs fly over Paris [Source: pigs.md].",
        ..good_answer("moved", "wrong", "{}")
    };
    run_conversations(&mut client, &talk, 2)?;
    // First bad hour and time of the last check of the alert.
    let row = |client: &mut Client| -> Result<(f64, bool)> {
        check(client, "moved")?;
        let row = client.query_one(
            "SELECT date_part('epoch', date_bin('1 hour', clock_timestamp(), 'epoch') - first_bad_hour)::float8 / 3600, checked_at >= fired_at \
             FROM reground.alerts WHERE corpus = 'moved' AND rule = 'lost_generation' AND state = 'firing'",
            &[],
        )?;
        Ok((row.get(0), row.get(1)))
    };
    let (hours_ago, _) = row(&mut client)?;
    // A test that crosses the full hour finds the hour before.
    ensure!((2.0..=3.0).contains(&hours_ago), "fired: {hours_ago}");
    run_some_conversations(&mut client, &good_answer("moved", "after", "{}"), 0, 1)?;
    let (hours_ago, checked) = row(&mut client)?;
    ensure!((2.0..=3.0).contains(&hours_ago), "goes on: {hours_ago}");
    ensure!(checked);
    Ok(())
}

#[test]
fn corpora_of_two_tenants_with_the_same_name() -> Result<()> {
    let database = Database::create("mode_owners")?;
    database.connect()?.batch_execute(&format!(
        "ALTER DATABASE {} SET reground.tenant_from = 'app.tenant_id'",
        database.name()
    ))?;
    let mut listener = database.connect()?;
    listener.batch_execute("LISTEN reground_alerts")?;
    let mut client = database.connect()?;
    // Twelve good citations of bolt for each bad one of acme: together they are good enough for the stage.
    let good = "Rye bread rises slowly in a cold kitchen [Source: rye.md]. ".repeat(12);
    for (tenant, answer) in [
        ("acme", "Pigs fly over Paris [Source: pigs.md]."),
        ("bolt", good.as_str()),
    ] {
        client.batch_execute(&format!(
            "SET app.tenant_id = '{tenant}';
             CREATE SCHEMA {tenant};
             SELECT reground.create_corpus('docs', tenant => '{tenant}', schema => '{tenant}');
             SELECT reground.put_document('docs', 'rye.md', content => 'Rye bread rises slowly in a cold kitchen.')"
        ))?;
        let talk = Talk {
            answer,
            ..good_answer("docs", tenant, "{}")
        };
        run_conversations(&mut client, &talk, 0)?;
    }
    let of = |rows: Vec<postgres::Row>| -> Vec<(Option<String>, Option<String>)> {
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    let acme = (Some("acme".to_owned()), Some("docs".to_owned()));
    let fired = client.query(
        "SELECT tenant, corpus FROM reground.check_alerts() WHERE rule IN ('lost_generation', 'low_tail') AND event = 'fired' ORDER BY rule",
        &[],
    )?;
    assert_eq!(of(fired), [acme.clone(), acme.clone()]);
    // The diagnosis and the baselines use only answers and citations of this tenant.
    let found = client.query(
        "SELECT d.tenant, d.corpus, (SELECT (s.details ->> 'answers')::bigint FROM reground.diagnose(a.alert_id) AS s WHERE s.clue = 'severity'), d.details ->> 'rate' \
         FROM reground.alerts AS a, reground.diagnose(a.alert_id) AS d WHERE a.rule = 'lost_generation' AND a.state = 'firing' AND d.step = 0",
        &[],
    )?;
    assert_eq!(found[0].get::<_, i64>(2), i64::from(TURNS));
    assert_eq!(found[0].get::<_, &str>(3), "1.0");
    assert_eq!(of(found), [acme]);
    let baselines: Vec<(Option<String>, Option<String>)> = of(client.query(
        "SELECT tenant, corpus FROM reground.take_baseline(now() - interval '1 day', now() + interval '1 hour') ORDER BY 2 NULLS FIRST, 1",
        &[],
    )?);
    let named = |tenant: &str| (Some(tenant.to_owned()), Some("docs".to_owned()));
    assert_eq!(baselines, [(None, None), named("acme"), named("bolt")]);
    // Notifications go to all listeners and name neither tenant nor corpus.
    let mut told = 0;
    let mut notifications = listener.notifications();
    let mut waiting = notifications.timeout_iter(Duration::from_millis(300));
    while let Some(notification) = waiting.next()? {
        let payload = notification.payload();
        ensure!(
            !payload.contains("docs") && !payload.contains("acme"),
            "{payload}"
        );
        told += 1;
    }
    ensure!(told > 0, "no notification");
    Ok(())
}
