//! Retention removes conversations by age and keeps an archived row of each turn, which erasure still finds.

use anyhow::{Context, Result, ensure};

use super::aged::Aged;

/// Two conversations whose turns are all older than a moment, one with a source that is pinned only, and one with a turn after the moment.
const CONVERSATIONS: &str = "
    SELECT reground.begin_turn('old', 'who gives milk?', 'farm', user_ref => 'ann');
    SELECT reground.end_turn(1, 'Cows give milk [A1]. Pigs fly [Z9].', model => 'large');
    SELECT reground.report_citation(1, 'pigs do not fly', reported_by => 'bob');
    SELECT reground.begin_turn('old', 'who gives wool?', 'farm', user_ref => 'bob', settings => '{\"keep_candidates\": \"none\"}');
    SELECT reground.end_turn(2, 'Sheep give wool [B1].', model => 'small');
    SELECT reground.begin_turn('open', 'who gives milk?', 'farm', user_ref => 'eve');
    SELECT reground.pin('pinned', doc_id => 'sheep', corpus => 'farm');
    SELECT reground.begin_turn('lasting', 'who gives milk?', 'farm', user_ref => 'ann');
    SELECT reground.end_turn(4, 'Cows give milk [A1].');";

fn aged(name: &str) -> Result<Aged> {
    Aged::new(
        name,
        CONVERSATIONS,
        "SELECT reground.begin_turn('lasting', 'and now?', 'farm'); SET reground.conversation_retention_days = 30",
    )
}

impl Aged {
    /// Runs retention 30 days after the moment, and returns its rows as text.
    fn remove(&mut self) -> Result<String> {
        self.text(&format!(
            "SELECT string_agg(concat_ws(' ', relation, rows, action), ', ') FROM reground.run_retention('{}'::timestamptz + interval '30 days')",
            self.moment
        ))
    }

    fn conversations(&mut self) -> Result<String> {
        self.text("SELECT string_agg(conversation_ref, ' ' ORDER BY conversation_ref) FROM reground.conversations")
    }

    fn archived(&mut self) -> Result<String> {
        self.text("SELECT string_agg(concat_ws(' ', conversation_ref, turn_no, user_ref), ', ' ORDER BY turn_id) FROM reground.turn_archive")
    }

    /// Counts the rows of removed turns and conversations in all tables, by the columns of their ids.
    fn rows_of_removed(&mut self) -> Result<String> {
        let tables = self.client.query(
            "SELECT c.oid::regclass::text, a.attname::text FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname IN ('turn_id', 'conversation_id')
                 AND c.relname NOT IN ('turn_archive') AND NOT a.attisdropped ORDER BY 1, 2",
            &[],
        )?;
        ensure!(tables.len() > 15, "only {} columns", tables.len());
        let mut found = Vec::new();
        for row in tables {
            let (table, column): (String, String) = (row.get(0), row.get(1));
            let of = match column.as_str() {
                "turn_id" => "turns",
                _ => "conversations",
            };
            let rows: i64 = self
                .client
                .query_one(
                    &format!("SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT {column} FROM reground.{of})"),
                    &[],
                )?
                .get(0);
            if rows > 0 {
                found.push(format!("{rows} in {table}"));
            }
        }
        Ok(found.join(", "))
    }
}

/// The archived rows as the other tables have them.
const ARCHIVED: &str = "
    SELECT string_agg(concat_ws(' ', turn_id, tenant, conversation_ref, turn_no, corpus, model, begun_at, source_count, citation_count, holding_count, cfs, decision, user_ref, doc_ids), E'\\n' ORDER BY turn_id) FROM ";
const IN_OTHER_TABLES: &str = "(
    SELECT t.turn_id, t.tenant, v.conversation_ref, t.turn_no, t.corpus, m.model, t.begun_at, (SELECT count(*) FROM reground.turn_sources(t.turn_id)) AS source_count,
        CASE WHEN m.message_id IS NOT NULL THEN (SELECT count(*) FROM reground.citation_audit AS c WHERE c.turn_id = t.turn_id) END AS citation_count,
        CASE WHEN m.message_id IS NOT NULL THEN (SELECT count(*) FROM reground.citation_audit AS c WHERE c.turn_id = t.turn_id AND c.holds) END AS holding_count,
        m.cfs, m.decision, t.user_ref, coalesce((SELECT array_agg(DISTINCT c.doc_id) FROM reground.citation_audit AS c WHERE c.turn_id = t.turn_id AND c.doc_id IS NOT NULL), '{}') AS doc_ids
    FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id) LEFT JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded
    WHERE v.conversation_ref IN ('old', 'open')) AS o";

#[test]
fn old_conversations_are_archived_and_removed() -> Result<()> {
    let mut aged = aged("old_removed")?;
    let expected = aged.text(&format!("{ARCHIVED} {IN_OTHER_TABLES}"))?;
    let counts = "SELECT string_agg(concat_ws(' ', corpus, model, answers), ', ' ORDER BY model) FROM (SELECT corpus, model, sum(answers) AS answers FROM reground.answer_rollup GROUP BY 1, 2) AS r";
    aged.client
        .batch_execute("SELECT reground.refresh_audit()")?;
    let counted = aged.text(counts)?;
    ensure!(counted.contains("large"), "{counted}");

    let done = aged.remove()?;
    for part in [
        "turn_archive 3 archived",
        "turns 3 removed",
        "messages 2 removed",
        "conversations 3 removed",
        "conversation_sources",
    ] {
        ensure!(done.contains(part), "{part} is missing in {done}");
    }
    ensure!(aged.conversations()? == "lasting");
    ensure!(
        aged.rows_of_removed()?.is_empty(),
        "{}",
        aged.rows_of_removed()?
    );
    let archived = aged.text(&format!(
        "{ARCHIVED} reground.turn_archive WHERE conversation_ref <> 'lasting'"
    ))?;
    ensure!(archived == expected, "{archived}\nis not\n{expected}");
    aged.client
        .batch_execute("SELECT reground.refresh_audit()")?;
    ensure!(aged.text(counts)? == counted, "{}", aged.text(counts)?);
    ensure!(!aged.remove()?.contains("conversations"));
    aged.client
        .batch_execute("BEGIN; SELECT reground.rebuild_audit()")?;
    ensure!(aged.text(counts)? == "farm 1", "{}", aged.text(counts)?);
    aged.client.batch_execute("ROLLBACK")?;

    // The conversation that stays goes on, and an old name begins again.
    for conversation in ["lasting", "old"] {
        aged.client.batch_execute(&format!(
            "SELECT reground.begin_turn('{conversation}', 'who gives milk?', 'farm')"
        ))?;
    }
    let begun = "SELECT string_agg(concat_ws(' ', v.conversation_ref, t.turn_no, s.marker), ', ' ORDER BY t.turn_id) FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id), reground.turn_sources(t.turn_id) AS s WHERE s.doc_id = 'cows' AND t.turn_id > 5";
    ensure!(
        aged.text(begun)? == "lasting 3 A1, old 1 A1",
        "{}",
        aged.text(begun)?
    );
    ensure!(
        aged.text("SELECT string_agg(DISTINCT status, ' ') FROM reground.verify_chain('lasting')")?
            == "ok"
    );
    Ok(())
}

#[test]
fn conversations_stay_without_the_setting_and_until_their_day() -> Result<()> {
    let mut aged = aged("old_kept")?;
    aged.client
        .batch_execute("RESET reground.conversation_retention_days")?;
    aged.remove()?;
    ensure!(aged.conversations()? == "lasting old open pinned");
    aged.client
        .batch_execute("SET reground.conversation_retention_days = 31")?;
    aged.remove()?;
    ensure!(aged.conversations()? == "lasting old open pinned");
    Ok(())
}

#[test]
fn erasure_finds_archived_turns() -> Result<()> {
    let mut aged = aged("old_erased")?;
    aged.remove()?;
    ensure!(aged.archived()? == "old 1 ann, old 2 bob, open 1 eve");
    let forget = |aged: &mut Aged, call: &str| {
        aged.text(&format!(
            "SELECT string_agg(concat_ws(' ', relation, erased), ', ' ORDER BY relation) FROM reground.{call}"
        ))
    };
    // Another tenant has turns with the same names.
    aged.client.batch_execute(
        "INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, begun_at, candidate_count, source_count, user_ref) VALUES (-1, 'other', 'old', 9, 'farm', now(), 0, 0, 'bob')",
    )?;
    ensure!(forget(&mut aged, "forget_user('bob')")? == "reground.turn_archive 2");
    ensure!(aged.archived()? == "old 9 bob, open 1 eve");
    ensure!(forget(&mut aged, "forget_conversation('open')")? == "reground.turn_archive 1");
    for again in ["forget_user('bob')", "forget_conversation('open')"] {
        let error = forget(&mut aged, again).err().context(again)?;
        let code = error
            .downcast_ref::<postgres::Error>()
            .and_then(|error| error.code().cloned());
        ensure!(code.is_some_and(|code| code.code() == "P0002"), "{error:#}");
    }
    // Another user begins a conversation with the name of a removed one.
    aged.client.batch_execute(
        "SELECT reground.begin_turn('open', 'who gives milk?', 'farm', user_ref => 'carol');
         INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, begun_at, candidate_count, source_count, user_ref)
         SELECT t.turn_id, t.tenant, 'open', 1, 'farm', now(), 0, 0, 'carol' FROM reground.turns AS t WHERE t.user_ref = 'carol'
         UNION ALL SELECT -2, reground.current_tenant(), 'open', 1, 'farm', now(), 0, 0, 'eve'",
    )?;
    ensure!(forget(&mut aged, "forget_user('eve')")? == "reground.turn_archive 1");
    ensure!(aged.archived()? == "old 9 bob, open 1 carol");
    ensure!(forget(&mut aged, "forget_user('carol')")?.contains("reground.turn_archive 1"));
    // The archived turns of a live conversation of the user, and those of the tenant.
    ensure!(forget(&mut aged, "forget_user('ann')")?.contains("reground.turns 2"));
    ensure!(forget(&mut aged, "forget_tenant('other')")? == "reground.turn_archive 1");
    ensure!(aged.archived()?.is_empty());
    Ok(())
}

/// Calls that lock rows of the conversation `old`, but not the conversation.
const USES: [&str; 5] = [
    "SELECT reground.begin_turn('old', 'and now?', 'farm')",
    "SELECT reground.report_citation(1, 'cows give no milk')",
    "SELECT reground.label_citation((SELECT min(citation_id) FROM reground.message_citations WHERE turn_id = 1), 'accurate')",
    "SELECT reground.review_report((SELECT min(report_id) FROM reground.citation_reports), false)",
    "SELECT FROM reground.messages WHERE message_id = 2 FOR KEY SHARE",
];

#[test]
fn a_conversation_in_use_is_left() -> Result<()> {
    for (number, used) in USES.iter().enumerate() {
        let mut aged = aged(&format!("old_in_use_{number}"))?;
        let mut other = aged.database.connect()?;
        other
            .batch_execute(&format!("BEGIN; {used}"))
            .context(*used)?;
        aged.client
            .batch_execute("SET lock_timeout = '20s'; BEGIN")?;
        aged.remove().context(*used)?;
        ensure!(aged.conversations()? == "lasting old", "{used}");
        // The other session goes on with the conversation once the run has ended.
        aged.client.batch_execute("COMMIT")?;
        other.batch_execute("SELECT reground.begin_turn('old', 'once more?', 'farm'); COMMIT")?;
        ensure!(aged.remove()?.is_empty(), "{used}");
        ensure!(aged.conversations()? == "lasting old", "{used}");
    }
    Ok(())
}

#[test]
fn the_archive_has_the_last_answer() -> Result<()> {
    let mut aged = aged("old_late")?;
    let archived = "SELECT concat_ws(' ', model, citation_count, holding_count, cfs, decision, doc_ids, candidate_count > 0) FROM reground.turn_archive WHERE turn_id = 3";
    // Its trace is archived before its answer comes.
    let days = "SET reground.trace_retention_days = 7; SELECT reground.run_retention('{}'::timestamptz + interval '7 days')";
    aged.client
        .batch_execute(&days.replace("{}", &aged.moment))?;
    ensure!(aged.text(archived)? == "{} t", "{}", aged.text(archived)?);
    aged.client
        .batch_execute("SELECT reground.end_turn(3, 'Cows give milk [A1].', model => 'late')")?;
    // The answer is new, so the conversation stays.
    aged.remove()?;
    ensure!(aged.conversations()? == "lasting open");
    aged.client
        .batch_execute("SELECT reground.run_retention(now() + interval '31 days')")?;
    ensure!(aged.conversations()?.is_empty());
    ensure!(
        aged.text(archived)? == "late 1 1 1 accept {cows} t",
        "{}",
        aged.text(archived)?
    );
    Ok(())
}

#[test]
fn thousands_of_conversations_are_removed_in_one_run() -> Result<()> {
    let mut aged = Aged::new(
        "old_thousands",
        "INSERT INTO reground.conversations (tenant, conversation_ref) SELECT reground.current_tenant(), 'old ' || n FROM generate_series(1, 2500) AS n",
        "INSERT INTO reground.conversations (tenant, conversation_ref) VALUES (reground.current_tenant(), 'young'); SET reground.conversation_retention_days = 30",
    )?;
    ensure!(aged.remove()? == "conversations 2500 removed");
    ensure!(aged.conversations()? == "young");
    Ok(())
}
