//! `context_tokens` is the length of the block that `prompt_context` writes, without a line about conflicts, however the sources came into the turn, and
//! `history_tokens` that of the history that is sent.

use anyhow::{Result, ensure};
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::corpus::{any_word, embedding, generate};
use reground_tests::server::Database;
use serde_json::json;

/// Passages whose text, title and facts are escaped, numbered or without a place.
const ODD: [&str; 4] = [
    "Cows give [B7] milk.\u{c}Pigs give </source> none at all.\n=== SOURCES\n/ and so on",
    "It is so: 12.5 % of all cows [12] give milk/\n\n",
    "牛は牛乳を出します。豚は出しません。",
    "x",
];

/// Compares the stored tokens of a turn with the block, and with the budget for a searched context.
fn check(client: &mut Client, turn: i64, budget: Option<usize>) -> Result<()> {
    let row = client.query_one(
        "SELECT reground.prompt_context($1), context_tokens::bigint, t.history_tokens, full_history_tokens, conversation_ref, attribution_share \
         FROM reground.turns AS t JOIN reground.conversations USING (conversation_id) WHERE turn_id = $1",
        &[&turn],
    )?;
    let (block, tokens): (String, i64) = (row.get(0), row.get(1));
    let counted = reground_tokens::count(&block);
    ensure!(
        usize::try_from(tokens)? == counted,
        "{tokens} tokens are stored for {counted}: {block}"
    );
    ensure!(
        budget.is_none_or(|budget| counted <= budget),
        "{counted} tokens are more than {budget:?}"
    );
    let (history, full, conversation): (i64, i64, String) = (row.get(2), row.get(3), row.get(4));
    let sent: i64 = client
        .query_one(
            "SELECT coalesce(sum(tokens), 0)::bigint FROM reground.history($1)",
            &[&conversation],
        )?
        .get(0);
    ensure!(
        sent == history,
        "{history} tokens of history are stored for {sent}"
    );
    let messages = client.query(
        "SELECT role, content FROM reground.history($1, max_tokens => 1000000)",
        &[&conversation],
    )?;
    let texts = messages
        .iter()
        .filter(|row| row.get::<_, &str>(0) != "sources");
    let all: usize = texts.map(|row| reground_tokens::count(row.get(1))).sum();
    ensure!(
        usize::try_from(full)? == all,
        "{full} tokens of all turns are stored for {all}"
    );
    let share: f64 = row.get(5);
    let expected = if sent == 0 {
        1.0
    } else {
        tokens as f64 / (tokens + sent) as f64
    };
    ensure!(
        (share - expected).abs() < 1e-9,
        "α is {share}, not {expected}"
    );
    Ok(())
}

#[test]
fn the_tokens_of_a_turn_are_those_of_its_prompt() -> Result<()> {
    let database = Database::create("prompts")?;
    let client = &mut database.connect()?;
    generate(client, "words", "cosine", 30, 7)?;
    for (number, text) in ODD.iter().enumerate() {
        client.execute(
            "SELECT reground.put_document('words', $1, passages => $2, title => $3)",
            &[
                &format!("odd {number}"),
                &json!([{ "content": text }]),
                &[None, Some("[A1]\n=== FACTS"), Some(""), Some("/x")][number],
            ],
        )?;
    }
    let mut chance = Chance::of(11);
    for conversation in 0..6 {
        let name = format!("conversation {conversation}");
        let budget = [100, 300, 1000, 4000][chance.below(4)];
        for number in 0..6 {
            let query = format!(
                "{} {} cows give milk?",
                any_word(&mut chance, 150),
                any_word(&mut chance, 20)
            );
            let deferred = chance.happens(30);
            let settings = json!({
                "max_tokens": budget,
                "marker_style": if conversation % 2 == 0 { "A1" } else { "1" },
                "history_note": chance.happens(50),
                "facts_per_source": chance.below(4),
                "history_exchanges": chance.below(4),
                "passage_order": if chance.happens(50) { "edges" } else { "score" },
                "reranker": if deferred { "deferred" } else { "off" },
                "strategy": if chance.happens(30) { "first_turn" } else { "reground" },
                "compress": chance.happens(50),
            });
            let rows = client.query(
                "SELECT turn_id FROM reground.begin_turn($1, $2, 'words', embedding => $3, settings => $4)",
                &[&name, &query, &embedding(&mut chance), &settings],
            )?;
            let turn: i64 = rows[0].get(0);
            let state: String = client
                .query_one(
                    "SELECT state FROM reground.turns WHERE turn_id = $1",
                    &[&turn],
                )?
                .get(0);
            if state == "deferred" {
                client.execute("SELECT reground.apply_rerank($1)", &[&turn])?;
            }
            check(client, turn, Some(budget))?;
            if chance.happens(30) {
                client.execute(
                    "SELECT reground.retrieve($1, $2, embedding => $3)",
                    &[&turn, &any_word(&mut chance, 150), &embedding(&mut chance)],
                )?;
                check(client, turn, None)?;
            }
            if chance.happens(30) {
                let passages =
                    json!([{ "content": ODD[chance.below(4)], "title": "A tool's result" }]);
                client.execute("SELECT reground.add_passages($1, $2)", &[&turn, &passages])?;
                check(client, turn, None)?;
            }
            let marker: Option<String> = client
                .query_one(
                    "SELECT context -> 0 ->> 'marker' FROM reground.turns WHERE turn_id = $1",
                    &[&turn],
                )?
                .get(0);
            let answer = format!("Turn {number} says so [{}].", marker.unwrap_or_default());
            client.execute("SELECT reground.end_turn($1, $2)", &[&turn, &answer])?;
        }
    }
    Ok(())
}
