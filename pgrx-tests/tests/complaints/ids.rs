//! Complaints about ids: invented, out of range, of deleted documents, reused.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;
use serde_json::json;

use crate::dialogue::{FARM, begin, end, farm, only};

#[test]
fn fabricated_ids_are_stored_unchecked() -> Result<()> {
    let (_database, mut client) = farm("fabricated")?;
    let fabricated = [
        "[Z9]",
        "[Source: ghost.pdf, p. 3]",
        "[e41ac2d9]",
        "【7†source】",
        "[ID:12]",
        "[7]",
        "(Source: The Farmer's Almanac)",
    ];
    let (turn, sources) = begin(&mut client, "talk", FARM[0].1, "farm", &json!({}))?;
    let mut answer = format!("{} [{}].", FARM[0].1, sources[0].marker);
    for citation in fabricated {
        answer += &format!(" Cows give milk every day on the farm {citation}.");
    }
    let citations = end(&mut client, turn, &answer)?;
    assert_eq!(citations.len(), 1 + fabricated.len(), "{citations:?}");
    for (citation, raw) in citations[1..].iter().zip(fabricated) {
        assert_eq!(citation.raw, raw);
        assert_eq!(
            (citation.status.as_str(), citation.holds, &citation.doc_id),
            ("unknown_id", Some(false), &None),
            "{citation:?}"
        );
    }
    // Each citation is a row, no invented one holds, and those that hold are in the table of the application.
    let row = client.query_one(
        "SELECT count(*), count(*) FILTER (WHERE holds), count(*) FILTER (WHERE holds AND EXISTS (SELECT FROM farm AS f WHERE f.chunk_id::text = c.chunk_id AND f.doc_id = c.doc_id)),
                (SELECT decision FROM reground.messages), (SELECT reasons FROM reground.messages)
         FROM reground.message_citations AS c",
        &[],
    )?;
    let counts: [i64; 3] = [row.get(0), row.get(1), row.get(2)];
    assert_eq!(counts, [1 + fabricated.len() as i64, 1, 1]);
    assert_eq!(row.get::<_, &str>(3), "regenerate");
    ensure!(
        !row.get::<_, Vec<String>>(4).is_empty(),
        "the reason is missing"
    );
    Ok(())
}

#[test]
fn out_of_range_ids_are_accepted_as_grounded() -> Result<()> {
    let (_database, mut client) = farm("range")?;
    client.batch_execute(
        "SELECT reground.put_document('farm', 'goats', page_count => 3, passages => '[{\"content\": \"Goats climb trees for leaves.\", \"page_start\": 2}]')",
    )?;
    let settings = json!({"marker_style": "1", "max_sources": 4});
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows, sheep, bees and goats do or give every day?",
        "farm",
        &settings,
    )?;
    assert_eq!(sources.len(), 4, "{sources:?}");
    let text: BTreeMap<&str, &str> = sources
        .iter()
        .map(|source| (source.marker.as_str(), source.content.as_str()))
        .collect();
    for number in 0..=9 {
        // The claim equals the source, so it cannot fail for its content.
        let name = number.to_string();
        let said = text.get(name.as_str()).copied().unwrap_or(FARM[0].1);
        let cited = only(&mut client, turn, &format!("{said} [{number}]"))?;
        let within = (1..=sources.len()).contains(&number);
        assert_eq!(cited.holds, Some(within), "{cited:?}");
        assert_eq!(cited.status == "unknown_id", !within, "{cited:?}");
    }
    for page in 0..=9 {
        let cited = only(
            &mut client,
            turn,
            &format!("Goats climb trees for leaves [Source: goats, p. {page}]."),
        )?;
        assert_eq!(cited.holds, Some(page == 2), "{cited:?}");
        assert_eq!(
            cited.status == "out_of_bounds",
            !(1..=3).contains(&page),
            "{cited:?}"
        );
    }
    // Answers of other systems are checked against their own passages.
    for number in 0..=9 {
        let row = client.query_one(
            "SELECT status, holds FROM reground.check_answer($1, '[{\"content\": \"Cows give milk.\"}, {\"content\": \"Cows give milk.\"}]')",
            &[&format!("Cows give milk [{number}].")],
        )?;
        let within = (1..=2).contains(&number);
        assert_eq!(row.get::<_, bool>(1), within, "{number}");
        assert_eq!(row.get::<_, &str>(0) == "unknown_id", !within, "{number}");
    }
    Ok(())
}

#[test]
fn deleted_documents_are_still_cited() -> Result<()> {
    let (_database, mut client) = farm("deleted")?;
    client.batch_execute("SELECT reground.pin('talk', doc_id => 'sheep', corpus => 'farm')")?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows and sheep give?",
        "farm",
        &json!({}),
    )?;
    let of = |document: &str| sources.iter().find(|source| source.doc_id == document);
    let (cows, sheep) = (
        of("cows").context("found")?.marker.clone(),
        of("sheep").context("pinned")?.marker.clone(),
    );
    let answer = format!("{} [{cows}]. {} [{sheep}].", FARM[0].1, FARM[1].1);
    let held = end(&mut client, turn, &answer)?;
    ensure!(held.iter().all(|c| c.holds == Some(true)), "{held:?}");
    // Deleted between two turns, carried and pinned; and one more within a turn, after the prompt was made.
    client.batch_execute(
        "SELECT reground.delete_document('farm', 'cows'), reground.delete_document('farm', 'sheep')",
    )?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "And what else do cows and sheep give? What do bees make?",
        "farm",
        &json!({}),
    )?;
    let documents: Vec<&str> = sources.iter().map(|s| s.doc_id.as_str()).collect();
    assert_eq!(documents, ["bees"], "{sources:?}");
    client.batch_execute("SELECT reground.delete_document('farm', 'bees')")?;
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn])?
        .get(0);
    ensure!(
        !prompt.contains("Cows") && !prompt.contains("Sheep"),
        "{prompt}"
    );
    let again = end(
        &mut client,
        turn,
        &format!("{answer} {} [{}].", FARM[2].1, sources[0].marker),
    )?;
    let verdicts: Vec<_> = again.iter().map(|c| (c.status.as_str(), c.holds)).collect();
    assert_eq!(
        verdicts,
        [
            ("stale_turn", Some(false)),
            ("stale_turn", Some(false)),
            ("resolved_current", Some(true))
        ]
    );
    // Each citation of a deleted document has the state deleted, the verdicts of the first answer do not change, and stale_citations
    // lists them.
    let rows = client.query(
        "SELECT turn_no, doc_id, source_state, holds, EXISTS (SELECT FROM reground.stale_citations AS s WHERE s.citation_id = a.citation_id)
         FROM reground.citation_audit AS a ORDER BY citation_id",
        &[],
    )?;
    assert_eq!(rows.len(), 5);
    for row in rows {
        let (turn, document): (i32, String) = (row.get(0), row.get(1));
        assert_eq!(row.get::<_, Option<&str>>(2), Some("deleted"), "{document}");
        assert_eq!(row.get::<_, bool>(3), turn == 1 || document == "bees");
        ensure!(row.get::<_, bool>(4), "{document} of turn {turn}");
    }
    Ok(())
}

#[test]
fn recycled_ids_inherit_old_content() -> Result<()> {
    let database = Database::create("complaint_recycled")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE notes (id integer PRIMARY KEY, body text);
         INSERT INTO notes VALUES (1, 'Cows give milk every day.'), (2, 'Sheep give wool every spring.');
         SELECT reground.add_corpus('notes', relation => 'notes', chunk_id => 'id', content => 'body')",
    )?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows give?",
        "notes",
        &json!({}),
    )?;
    let old = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("found")?
        .marker
        .clone();
    let said = format!("Cows give milk every day [{old}].");
    assert_eq!(only(&mut client, turn, &said)?.holds, Some(true));
    client.batch_execute(
        "DELETE FROM notes WHERE id = 1; INSERT INTO notes VALUES (1, 'Pigs eat what the cows leave.')",
    )?;
    let new = the_new_row_has_another_marker(&mut client, &old)?;
    // The audit of the first answer still has the hash and the quote of the old text.
    let row = client.query_one(
        "SELECT source_hash = encode(sha256(convert_to('Cows give milk every day.', 'UTF8')), 'hex'), quote, marker FROM reground.citation_audit WHERE turn_no = 1",
        &[],
    )?;
    ensure!(row.get::<_, bool>(0), "the hash differs");
    assert_eq!(
        (row.get::<_, &str>(1), row.get::<_, &str>(2)),
        ("Cows give milk every day.", old.as_str())
    );
    a_changed_row_is_carried_with_a_new_marker(&mut client, &old, &new)
}

/// The old text is gone and the new text has another marker, which is returned; the old marker does not resolve to it.
fn the_new_row_has_another_marker(client: &mut Client, old: &str) -> Result<String> {
    let (turn, sources) = begin(
        client,
        "talk",
        "And what do pigs eat that cows leave?",
        "notes",
        &json!({}),
    )?;
    let new = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("found")?;
    assert_eq!(new.content, "Pigs eat what the cows leave.");
    ensure!(new.marker != old && new.origin == "fresh", "{sources:?}");
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn])?
        .get(0);
    ensure!(
        !prompt.contains("milk") && !prompt.contains(&format!("[{old}]")),
        "{prompt}"
    );
    // The old marker does not resolve to the new row: neither with the old claim, nor with the new one.
    for claim in ["Cows give milk every day", "Pigs eat what the cows leave"] {
        let cited = only(client, turn, &format!("{claim} [{old}]."))?;
        assert_eq!(
            (cited.status.as_str(), cited.holds),
            ("stale_turn", Some(false)),
            "{cited:?}"
        );
    }
    let cited = only(
        client,
        turn,
        &format!("Pigs eat what the cows leave [{}].", new.marker),
    )?;
    assert_eq!(cited.holds, Some(true));
    Ok(new.marker.clone())
}

/// The remembered row is carried with its current text and a new marker, and the turn has a warning about the change.
fn a_changed_row_is_carried_with_a_new_marker(
    client: &mut Client,
    old: &str,
    new: &str,
) -> Result<()> {
    client.batch_execute("UPDATE notes SET body = 'Nothing is said of anything.' WHERE id = 1")?;
    let (turn, sources) = begin(
        client,
        "talk",
        "Tell me more.",
        "notes",
        &json!({"carry_threshold": 0}),
    )?;
    let carried = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("it is not remembered")?;
    assert_eq!(carried.content, "Nothing is said of anything.");
    ensure!(
        ![old, new].contains(&carried.marker.as_str()),
        "{sources:?}"
    );
    let warnings: Vec<String> = client
        .query_one(
            "SELECT warnings FROM reground.turns WHERE turn_id = $1",
            &[&turn],
        )?
        .get(0);
    ensure!(
        warnings.iter().any(|warning| warning == "source_changed"),
        "{warnings:?}"
    );
    Ok(())
}
