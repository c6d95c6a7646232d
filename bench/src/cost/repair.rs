//! The command `repair`: what a corrected copy of an answer, and the conflicts of its sources, add to `end_turn`.

use anyhow::Result;

use crate::cost::rounds::{Options, percentile};
use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::turn_session::TurnSession;
use crate::database::{load, machine, server};
use crate::statistics::times::ms;

/// Domain of the passages.
const DOMAIN: Domain = Domain::Clapnq;

/// Settings and their values; the first is the baseline.
const SETTINGS: [(&str, &str); 5] = [
    ("repair", "\"off\""),
    ("repair", "\"mark\""),
    ("repair", "\"repoint\""),
    ("repair", "\"strict\""),
    ("source_conflicts", "true"),
];

/// A sentence that no passage supports and a citation of nothing, so that each mode stores a copy.
const UNSUPPORTED: &str = "Seven purple elephants juggle melons [Z9].";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read("repair", arguments)? else {
        return Ok(());
    };
    let corpus = Corpus::read(&Folder::below(&options.data)?, DOMAIN)?;
    let address = server::resolve(&options.uri)?;
    let mut client = server::connect(&address)?;
    load::load(&mut client, &corpus)?;
    drop(corpus);
    let mut session = TurnSession::new(client, &DOMAIN.corpus())?;
    let mut names = Vec::new();
    for (number, (setting, value)) in SETTINGS.iter().enumerate() {
        let settings = format!(r#"{{"{setting}": {value}}}"#);
        names.push(session.start_with_settings(&number.to_string(), &settings)?);
    }
    // Each round has one turn with each setting, so that other load affects all alike. The first round is the warm-up.
    let mut ends: Vec<Vec<f64>> = vec![Vec::new(); SETTINGS.len()];
    for round in 0..=options.rounds {
        for (name, ends) in names.iter().zip(&mut ends) {
            let took = session.turn_with(name, round, UNSUPPORTED)?;
            if round > 0 {
                ends.push(ms(took.end));
            }
        }
    }
    println!("# The cost of corrected answers\n");
    for (what, value) in machine::describe(&mut session.client, &address)? {
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
