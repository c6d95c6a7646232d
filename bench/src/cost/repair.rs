//! The command `repair`: what a corrected copy of an answer, and the conflicts of its sources, add to `end_turn`.

use anyhow::Result;

use crate::cost::rounds::{Options, Rounds};
use crate::statistics::times::{ms, percentile};

/// Settings and their values; the first is the baseline.
const SETTINGS: [(&str, &str); 5] = [
    ("repair", "\"off\""),
    ("repair", "\"mark\""),
    ("repair", "\"repoint\""),
    ("repair", "\"strict\""),
    ("source_conflicts", "true"),
];

/// A sentence that no passage supports, with an unknown marker, so that each mode stores a copy.
const UNSUPPORTED: &str = "Seven purple elephants juggle melons [Z9].";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read("repair", arguments)? else {
        return Ok(());
    };
    let settings = SETTINGS.map(|(setting, value)| format!(r#"{{"{setting}": {value}}}"#));
    let rounds = Rounds::run(&options, &settings, UNSUPPORTED)?;
    let times = rounds.times.iter();
    let ends: Vec<Vec<f64>> = times
        .map(|times| times.iter().map(|took| ms(took.end)).collect())
        .collect();
    println!("# The cost of corrected answers and of conflicts\n");
    for (what, value) in &rounds.machine {
        println!("- {what}: {value}");
    }
    println!(
        "\n{} turns with each setting, one of each per round, over 12,707 passages. The answer is the beginning of a passage with its citation, and a \
         sentence that nothing supports. Median times of end_turn, and the median of the ratios to the same round without a setting.\n",
        options.rounds
    );
    println!("| setting | end_turn, ms | ratio |");
    println!("|---|---:|---:|");
    for ((setting, value), times) in SETTINGS.iter().zip(&ends) {
        let ratios = times.iter().zip(&ends[0]).map(|(time, off)| time / off);
        println!(
            "| `{setting}` = {value} | {:.2} | {:.3} |",
            percentile(times, 0.5),
            percentile(&ratios.collect::<Vec<_>>(), 0.5)
        );
    }
    Ok(())
}
