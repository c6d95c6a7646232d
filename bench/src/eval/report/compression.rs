//! Sizes of compressed histories, and lost citations.

use super::percent;
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::arm::Arm;
use crate::eval::replay::compressed::Compressed;

/// Turns from this number on are pooled.
const POOLED: u32 = 7;

/// Prints the histories by turn number; returns the number of lost citations.
pub fn print(runs: &[(Arm, Vec<ReplayedConversation>)]) -> usize {
    let mut lost = 0;
    for (arm, replayed) in runs {
        let turns = || replayed.iter().flat_map(|replayed| &replayed.turns);
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
