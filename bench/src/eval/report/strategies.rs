//! What is done about history: sources and tokens turn by turn, and what compression keeps.

use super::{percent, share};
use crate::eval::replay::Held;
use crate::eval::replay::arm::Arm;
use crate::eval::replay::compressed::Compressed;
use crate::simulation::measured::Measured;

/// Turns from this number on are pooled.
const POOLED: u32 = 7;

/// A row a strategy and turn.
pub fn print(measured: &[Measured]) {
    println!("## Strategies\n");
    println!(
        "Contexts of ten passages, nothing carried over. Tokens are of sources and history. The command `simulation` holds these \
         figures against the published model.\n"
    );
    println!("| strategy | turn | conversations | recall | precision | history | tokens |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for one in measured {
        println!(
            "| {} | {} | {} | {} | {} | {:.1} % | {:.0} |",
            one.strategy.name(),
            one.turn,
            one.conversations,
            share(one.context_recall),
            share(one.context_precision),
            100.0 * one.history_share,
            one.tokens
        );
    }
    println!();
}

/// What is left of each history, by turn number; how many citations were lost.
pub fn compression(runs: &[(Arm, Vec<Held>)]) -> usize {
    let mut lost = 0;
    for (arm, held) in runs {
        let turns = || held.iter().flat_map(|held| &held.turns);
        if turns().all(|turn| turn.compressed.is_none()) {
            continue;
        }
        println!("### Compressed history, {}\n", arm.name());
        println!(
            "| after turn | histories | L_max | tokens | most | within | sources cited | lost |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
        let row = |name: String, holds: &dyn Fn(u32) -> bool| {
            let found = turns().filter(|turn| holds(turn.number));
            let found: Vec<Compressed> = found.filter_map(|turn| turn.compressed).collect();
            if found.is_empty() {
                return;
            }
            let mean = |of: &dyn Fn(&Compressed) -> f64| {
                found.iter().map(of).sum::<f64>() / found.len() as f64
            };
            let within = found
                .iter()
                .filter(|one| usize::try_from(one.tokens).is_ok_and(|tokens| tokens <= one.limit));
            println!(
                "| {name} | {} | {:.0} | {:.0} | {} | {} | {:.1} | {} |",
                found.len(),
                mean(&|one| one.limit as f64),
                mean(&|one| one.tokens as f64),
                found.iter().map(|one| one.tokens).max().unwrap_or_default(),
                percent(within.count(), found.len()),
                mean(&|one| one.cited as f64),
                found.iter().map(|one| one.lost).sum::<usize>()
            );
        };
        for number in 1..POOLED {
            row(number.to_string(), &|turn| turn == number);
        }
        row(format!("{POOLED}+"), &|turn| turn >= POOLED);
        println!();
        let compressed = turns().filter_map(|turn| turn.compressed);
        lost += compressed.map(|one| one.lost).sum::<usize>();
    }
    lost
}
