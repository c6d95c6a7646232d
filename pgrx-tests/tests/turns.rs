//! Random conversations compared with a small model of memory, which follows the rules of memory alone: the sources, their decay and
//! the meaning of markers must equal the model after every call.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::corpus;
use reground_tests::server::Database;
use serde_json::{Value, json};

/// A passage: doc_id and chunk_id.
type Key = (String, String);

/// A remembered source.
#[derive(Debug, Clone, PartialEq)]
struct Memory {
    score: f64,
    inactive: i32,
    pinned: bool,
}

/// A source of the context, as returned by begin_turn.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    marker: String,
    key: Key,
    fresh: bool,
    /// Whether it is shown by its facts only.
    remembered: bool,
    tokens: i32,
    content: String,
}

impl Shown {
    /// Reads the rows of begin_turn, without a row that has no source.
    fn of(rows: &[postgres::Row]) -> Vec<Self> {
        rows.iter()
            .filter_map(|row| {
                Some(Self {
                    marker: row.get::<_, Option<String>>(1)?,
                    key: (row.get(2), row.get(3)),
                    fresh: row.get::<_, &str>(4) == "fresh",
                    remembered: row.get::<_, &str>(4) == "remembered",
                    tokens: row.get(5),
                    content: row.get(6),
                })
            })
            .collect()
    }
}

/// A turn of the conversation, with the memory from which its end starts.
#[derive(Debug)]
struct Turn {
    id: i64,
    context: Vec<Shown>,
    before: BTreeMap<Key, Memory>,
}

/// Active sources are reset to 1, the others age; then each source without a pin decays by 0.7, and expires after three turns.
fn after(
    before: &BTreeMap<Key, Memory>,
    context: &[Shown],
    cited: &BTreeSet<Key>,
) -> BTreeMap<Key, Memory> {
    let mut sources = before.clone();
    for shown in context
        .iter()
        .filter(|shown| shown.fresh || cited.contains(&shown.key))
    {
        sources.entry(shown.key.clone()).or_insert(Memory {
            score: 1.0,
            inactive: 0,
            pinned: false,
        });
    }
    for (key, memory) in &mut sources {
        if cited.contains(key) || context.iter().any(|shown| shown.fresh && shown.key == *key) {
            memory.score = 1.0;
            memory.inactive = 0;
        } else {
            memory.inactive += 1;
        }
        if !memory.pinned {
            memory.score *= 0.7;
        }
    }
    sources.retain(|_, memory| memory.pinned || memory.inactive < 3);
    sources
}

/// The conversation of the model, beside the one in the database.
struct Conversation<'a> {
    client: &'a mut Client,
    name: String,
    chance: Chance,
    memory: BTreeMap<Key, Memory>,
    /// The row of each marker when it was first seen, as text.
    bound: BTreeMap<String, String>,
    markers: BTreeMap<String, Key>,
    ended: Vec<Turn>,
    pins_changed: bool,
}

impl<'a> Conversation<'a> {
    fn open(client: &'a mut Client, name: String, seed: u64, settings: &Value) -> Result<Self> {
        client.execute(
            "SELECT reground.alter_conversation($1, $2)",
            &[&name, settings],
        )?;
        Ok(Self {
            client,
            name,
            chance: Chance::of(seed),
            memory: BTreeMap::new(),
            bound: BTreeMap::new(),
            markers: BTreeMap::new(),
            ended: Vec::new(),
            pins_changed: false,
        })
    }

    /// Begins a turn with random settings, twice with one request id, and checks the context.
    fn begin(&mut self, number: usize) -> Result<Turn> {
        let length = 1 + self.chance.below(5);
        let query = corpus::text(&mut self.chance, 60, length);
        let vector = corpus::embedding(&mut self.chance);
        let vector = self.chance.happens(85).then_some(vector);
        let intent = [
            None,
            Some("drill_down"),
            Some("same_sources"),
            Some("compare"),
            Some("new_topic"),
        ][self.chance.below(5)];
        let most = 1 + self.chance.below(8);
        let budget = 60 + self.chance.below(600);
        let settings = json!({
            "max_sources": most,
            "max_tokens": budget,
            "candidates": 3 + self.chance.below(20),
        });
        let request = format!("request-{number}");
        let call = "SELECT turn_id, marker, doc_id, chunk_id, origin, tokens, content \
                    FROM reground.begin_turn($1, $2, 'books', $3, request_id => $4, intent => $5, settings => $6)";
        let rows = self.client.query(
            call,
            &[&self.name, &query, &vector, &request, &intent, &settings],
        )?;
        let again = self.client.query(
            call,
            &[&self.name, &query, &vector, &request, &intent, &settings],
        )?;
        let id: i64 = rows
            .first()
            .context("begin_turn returns at least one row")?
            .get(0);
        let context = Shown::of(&rows);
        ensure!(
            Shown::of(&again) == context && again.iter().all(|row| row.get::<_, i64>(0) == id),
            "a repeated request gave another turn"
        );
        let full = context.iter().filter(|shown| !shown.remembered).count();
        ensure!(full <= most, "{full} sources, at most {most} were allowed");
        let tokens: i32 = self
            .client
            .query_one(
                "SELECT context_tokens FROM reground.turns WHERE turn_id = $1",
                &[&id],
            )?
            .get(0);
        let texts: i32 = context.iter().map(|shown| shown.tokens).sum();
        ensure!(
            usize::try_from(tokens)? <= budget && texts <= tokens,
            "{texts} tokens of text in {tokens}, the budget was {budget}"
        );
        self.check_markers(&context)?;
        self.check_trace(id, &context)?;
        self.check_registry()?;
        self.check_memory("begin_turn")?;
        Ok(Turn {
            id,
            context,
            before: self.memory.clone(),
        })
    }

    /// Each marker occurs once in the context, and names the same passage as before.
    fn check_markers(&mut self, context: &[Shown]) -> Result<()> {
        let markers: BTreeSet<&str> = context.iter().map(|shown| shown.marker.as_str()).collect();
        ensure!(
            markers.len() == context.len(),
            "a marker occurs twice: {context:?}"
        );
        for shown in context {
            let meaning = self
                .markers
                .entry(shown.marker.clone())
                .or_insert_with(|| shown.key.clone());
            ensure!(
                *meaning == shown.key,
                "{} meant {meaning:?} and now {:?}",
                shown.marker,
                shown.key
            );
        }
        Ok(())
    }

    /// Each candidate occurs once: first those of the context, in prompt order, then the others with stage and reason.
    fn check_trace(&mut self, turn: i64, context: &[Shown]) -> Result<()> {
        let rows = self.client.query(
            "SELECT doc_id, chunk_id, in_context, marker, dropped_stage, drop_reason FROM reground.explain_turn($1) ORDER BY candidate_no",
            &[&turn],
        )?;
        let mut seen = BTreeSet::new();
        let mut markers = Vec::new();
        for row in rows {
            let key: Key = (row.get(0), row.get(1));
            let (inside, marker): (bool, Option<String>) = (row.get(2), row.get(3));
            let (dropped_stage, reason): (Option<String>, Option<String>) =
                (row.get(4), row.get(5));
            // A remembered source that was not carried, for example because it was found again, has a row of its own.
            let carried_no_more = dropped_stage.as_deref() == Some("carry");
            ensure!(
                seen.insert((key.clone(), carried_no_more)),
                "{key:?} is in the trace twice"
            );
            ensure!(
                inside == marker.is_some()
                    && inside == dropped_stage.is_none()
                    && inside == reason.is_none(),
                "{key:?}: {marker:?} {dropped_stage:?} {reason:?}"
            );
            markers.extend(marker);
        }
        ensure!(
            markers.iter().eq(context.iter().map(|shown| &shown.marker)),
            "the trace has {markers:?} in the context, not {context:?}"
        );
        Ok(())
    }

    /// The binding of a marker is written once and never changes.
    fn check_registry(&mut self) -> Result<()> {
        let rows = self.client.query(
            "SELECT marker, (to_jsonb(m) - 'cited')::text FROM reground.conversation_markers AS m JOIN reground.conversations AS c USING (conversation_id) WHERE conversation_ref = $1",
            &[&self.name],
        )?;
        let now: BTreeMap<String, String> =
            rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        for (marker, row) in &self.bound {
            ensure!(
                now.get(marker) == Some(row),
                "{marker} was {row} and is {:?}",
                now.get(marker)
            );
        }
        self.bound = now;
        Ok(())
    }

    /// The stored memory equals the model.
    fn check_memory(&mut self, call: &str) -> Result<()> {
        let found = self.stored()?;
        let same = found.len() == self.memory.len()
            && found.iter().zip(&self.memory).all(|((a, x), (b, y))| {
                a == b
                    && (x.score - y.score).abs() < 1e-9
                    && x.inactive == y.inactive
                    && x.pinned == y.pinned
            });
        ensure!(
            same,
            "after {call} of turn {}:\nstored {found:?}\nmodel  {:?}",
            self.ended.len() + 1,
            self.memory
        );
        Ok(())
    }

    fn stored(&mut self) -> Result<BTreeMap<Key, Memory>> {
        let rows = self.client.query(
            "SELECT doc_id, chunk_id, carry_score, inactive_turns, pinned FROM reground.conversation_sources AS s \
             JOIN reground.conversations AS c USING (conversation_id) WHERE conversation_ref = $1",
            &[&self.name],
        )?;
        Ok(rows
            .iter()
            .map(|row| {
                (
                    (row.get(0), row.get(1)),
                    Memory {
                        score: row.get(2),
                        inactive: row.get(3),
                        pinned: row.get(4),
                    },
                )
            })
            .collect())
    }

    /// An answer that cites some sources of the context, some markers of earlier turns, and some unknown markers.
    fn answer(&mut self, turn: &Turn) -> (String, BTreeSet<Key>) {
        let mut answer = String::from("Some words first.");
        let mut cited = BTreeSet::new();
        for shown in &turn.context {
            if self.chance.happens(35) {
                answer += &format!(
                    " {} [{}].",
                    shown
                        .content
                        .split(' ')
                        .take(6)
                        .collect::<Vec<_>>()
                        .join(" "),
                    shown.marker
                );
                cited.insert(shown.key.clone());
            }
        }
        let earlier: Vec<(String, Key)> = self
            .markers
            .iter()
            .map(|(marker, key)| (marker.clone(), key.clone()))
            .collect();
        for (marker, key) in earlier {
            if self.chance.happens(4) {
                answer += &format!(" So it was said [{marker}].");
                // A citation counts, whether it holds or not; an expired source stays expired.
                cited.insert(key);
            }
        }
        if self.chance.happens(30) {
            answer += " Nobody said that [ZZZ99].";
        }
        (answer, cited)
    }

    /// Ends a turn, twice with one message_ref.
    fn end(&mut self, turn: &Turn, answer: &str, message: &str) -> Result<()> {
        let call = "SELECT e::text FROM reground.end_turn($1, $2, message_ref => $3) AS e";
        let first = self.client.query(call, &[&turn.id, &answer, &message])?;
        let again = self.client.query(call, &[&turn.id, &answer, &message])?;
        let text =
            |rows: &[postgres::Row]| -> Vec<String> { rows.iter().map(|row| row.get(0)).collect() };
        ensure!(
            text(&first) == text(&again),
            "a repeated end_turn gave other rows"
        );
        let written = answer.matches('[').count();
        ensure!(
            first.len() == written.max(1),
            "{} rows for {written} citations: {answer}",
            first.len()
        );
        let live: i64 = self
            .client
            .query_one(
                "SELECT count(*) FROM reground.messages WHERE turn_id = $1 AND NOT superseded",
                &[&turn.id],
            )?
            .get(0);
        ensure!(live == 1, "{live} answers of a turn are in force");
        Ok(())
    }

    /// Pins or unpins a remembered source.
    fn pin_or_unpin(&mut self) -> Result<()> {
        let keys: Vec<Key> = self.memory.keys().cloned().collect();
        let Some(key) = keys.get(self.chance.below(keys.len())) else {
            return Ok(());
        };
        let pinned = self.memory.get(key).is_some_and(|memory| memory.pinned);
        let call = if pinned {
            "SELECT reground.unpin($1, chunk_id => $2, corpus => 'books')::text"
        } else {
            "SELECT reground.pin($1, chunk_id => $2, corpus => 'books')::text"
        };
        self.client.query(call, &[&self.name, &key.1])?;
        let mut stored = self.stored()?;
        let memory = stored
            .remove(key)
            .with_context(|| format!("{key:?} was removed by a pin"))?;
        ensure!(memory.pinned != pinned, "the pin of {key:?} is not stored");
        ensure!(
            !pinned || memory.inactive == 0,
            "after unpin, {key:?} should decay from now on: {memory:?}"
        );
        self.memory.insert(key.clone(), memory);
        self.pins_changed = true;
        self.check_memory("a pin")
    }

    /// A turn, with calls that an application may make around it.
    fn turn(&mut self, number: usize) -> Result<()> {
        if self.chance.happens(15) {
            self.pin_or_unpin()?;
        }
        let mut turn = self.begin(number)?;
        if self.chance.happens(10) {
            let first: bool = self
                .client
                .query_one("SELECT reground.abandon_turn($1)", &[&turn.id])?
                .get(0);
            let second: bool = self
                .client
                .query_one("SELECT reground.abandon_turn($1)", &[&turn.id])?
                .get(0);
            ensure!(
                first && !second,
                "abandon_turn returns {first}, then {second}"
            );
            return self.check_memory("abandon_turn");
        }
        turn.before.clone_from(&self.memory);
        let (answer, cited) = self.answer(&turn);
        self.end(&turn, &answer, &format!("message-{number}"))?;
        self.memory = after(&turn.before, &turn.context, &cited);
        self.check_memory("end_turn")?;
        self.pins_changed = false;
        if self.chance.happens(30) {
            // The memory is computed again from the start of the turn, not added twice.
            let (answer, cited) = self.answer(&turn);
            self.end(
                &turn,
                &format!("{answer} Anew."),
                &format!("message-{number}-anew"),
            )?;
            self.memory = after(&turn.before, &turn.context, &cited);
            self.check_memory("a regeneration")?;
        }
        self.ended.push(turn);
        if self.ended.len() > 2 && self.chance.happens(25) {
            let index = self.chance.below(self.ended.len() - 1);
            let older = self.ended.swap_remove(index);
            let (answer, _) = self.answer(&older);
            self.end(
                &older,
                &format!("{answer} Late."),
                &format!("message-{number}-late-{}", older.id),
            )?;
            self.check_memory("the regeneration of an older turn")?;
        }
        self.check_registry()
    }
}

/// Conversations of 30 turns, from fixed seeds.
fn converse(name: &str, seeds: std::ops::Range<u64>, settings: &Value) -> Result<()> {
    let database = Database::create(name)?;
    let mut client = database.connect()?;
    corpus::generate(&mut client, "books", "cosine", 40, 5)?;
    for seed in seeds {
        let mut conversation =
            Conversation::open(&mut client, format!("seed-{seed}"), seed, settings)?;
        for number in 1..=30 {
            conversation
                .turn(number)
                .with_context(|| format!("seed {seed}, turn {number}"))?;
        }
        ensure!(
            conversation.ended.len() > 10,
            "seed {seed}: too few turns were ended"
        );
    }
    Ok(())
}

#[test]
fn memory_and_markers_follow_the_model() -> Result<()> {
    converse(
        "turns_model",
        1..9,
        &json!({
            "merge_adjacent": false, "collapse_twins": false, "query_from": "turn", "fusion": "rrf",
            "carry_activation": "context", "carry_threshold": 0.5, "reserved_slots": 3
        }),
    )
}

#[test]
fn memory_and_markers_follow_the_model_with_few_candidates() -> Result<()> {
    converse(
        "turns_tight",
        21..25,
        &json!({
            "merge_adjacent": false, "reserved_slots": 1, "carry_threshold": 0.1, "query_from": "turn", "fusion": "rrf",
            "carry_activation": "context"
        }),
    )
}
