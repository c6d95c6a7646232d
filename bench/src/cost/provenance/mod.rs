//! The command `provenance`: what each provenance level adds to a turn, in time and in bytes.

use anyhow::{Context, Result};
use postgres::Client;

use crate::cost::rounds::{Options, Rounds};
use crate::database::turn_session::TurnTimes;
use crate::statistics::times::{ms, percentile};

/// A level, its settings, and the figures of its source: added p95 in milliseconds, added storage in per cent.
struct Level {
    name: &'static str,
    settings: &'static str,
    reported: Option<(u32, u32)>,
}

/// A turn without a trace, then each level.
const LEVELS: [Level; 6] = [
    Level {
        name: "bare",
        settings: r#"{"keep_candidates": "none"}"#,
        reported: None,
    },
    Level {
        name: "metadata",
        settings: r#"{"provenance": "metadata"}"#,
        reported: Some((3, 5)),
    },
    Level {
        name: "hash",
        settings: r#"{"provenance": "hash"}"#,
        reported: Some((18, 22)),
    },
    Level {
        name: "hash, of the context alone",
        settings: r#"{"provenance": "hash", "keep_candidates": "kept"}"#,
        reported: None,
    },
    Level {
        name: "semantic",
        settings: r#"{"provenance": "semantic"}"#,
        reported: Some((67, 55)),
    },
    Level {
        name: "merkle",
        settings: r#"{"provenance": "merkle"}"#,
        reported: Some((240, 80)),
    },
];

/// The times of a level, in milliseconds.
#[derive(Default)]
struct Measured {
    begin: Vec<f64>,
    end: Vec<f64>,
    both: Vec<f64>,
}

impl<'t> FromIterator<&'t TurnTimes> for Measured {
    fn from_iter<T: IntoIterator<Item = &'t TurnTimes>>(times: T) -> Self {
        let mut measured = Self::default();
        for took in times {
            measured.begin.push(ms(took.begin));
            measured.end.push(ms(took.end));
            measured.both.push(ms(took.begin + took.end));
        }
        measured
    }
}

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read("provenance", arguments)? else {
        return Ok(());
    };
    let settings = LEVELS.map(|level| level.settings.to_owned());
    let mut rounds = Rounds::run(&options, &settings, "")?;
    let mut bytes = Vec::new();
    for conversation in &rounds.conversations {
        let stored = stored(&mut rounds.session.client, conversation)?;
        bytes.push(stored as f64 / (options.rounds + 1) as f64);
    }
    let measured: Vec<Measured> = rounds
        .times
        .iter()
        .map(|times| times.iter().collect())
        .collect();
    print(&options, &rounds.machine, &measured, &bytes)
}

/// Stored bytes of all rows of a conversation, compressed as on disk.
fn stored(client: &mut Client, conversation: &str) -> Result<i64> {
    let row = client.query_one(
        "WITH v AS (SELECT conversation_id FROM reground.conversations WHERE conversation_ref = $1), \
              t AS (SELECT turn_id FROM reground.turns JOIN v USING (conversation_id)) \
         SELECT ((SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.turns AS x JOIN t USING (turn_id)) \
               + (SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.turn_traces AS x JOIN t USING (turn_id)) \
               + (SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.messages AS x JOIN t USING (turn_id)) \
               + (SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.message_citations AS x JOIN t USING (turn_id)) \
               + (SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.conversation_markers AS x JOIN v USING (conversation_id)) \
               + (SELECT coalesce(sum(pg_column_size(x.*)), 0) FROM reground.provenance_chain AS x JOIN v USING (conversation_id)))::bigint",
        &[&conversation],
    )?;
    Ok(row.get(0))
}

fn print(
    options: &Options,
    machine: &[(&str, String)],
    measured: &[Measured],
    bytes: &[f64],
) -> Result<()> {
    println!("# The cost of provenance\n");
    for (what, value) in machine {
        println!("- {what}: {value}");
    }
    println!(
        "\n{} turns at each level. Each round runs one turn of each level, so the conversations grow alike. Default settings, 12,707 \
         passages with both indexes. Times of begin_turn and end_turn are in milliseconds. Bytes are those of all rows of a \
         conversation on disk, per turn. The level bare keeps no trace. The figures of the source, for its own system, are in \
         brackets.\n",
        options.rounds
    );
    println!(
        "| level | begin p50 | end p50 | both p50 | ratio | both p95 | added p95 | bytes per turn | added |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let (first, bare) = (
        measured.first().context("no level")?,
        bytes.first().context("no level")?,
    );
    for ((level, measured), bytes) in LEVELS.iter().zip(measured).zip(bytes) {
        let p95 = percentile(&measured.both, 0.95);
        let reported = |unit: &str, of: fn((u32, u32)) -> u32| {
            level
                .reported
                .map_or_else(String::new, |reported| format!(" ({}{unit})", of(reported)))
        };
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.2} | {:.1} | {:+.1}{} | {:.0} | {:+.0}{} |",
            level.name,
            percentile(&measured.begin, 0.5),
            percentile(&measured.end, 0.5),
            percentile(&measured.both, 0.5),
            percentile(&measured.both, 0.5) / percentile(&first.both, 0.5),
            p95,
            p95 - percentile(&first.both, 0.95),
            reported("", |reported| reported.0),
            bytes,
            bytes - bare,
            reported(" %", |reported| reported.1),
        );
    }
    Ok(())
}
