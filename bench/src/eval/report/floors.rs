//! Figures and their floors.

use crate::eval::floors::file::{Below, Raised};
use crate::eval::floors::relations::Relation;

/// The relations between figures.
pub fn relations(relations: &[Relation]) {
    println!("## Floors\n");
    println!("| must reach | measured | at least | |\n|---|---:|---:|---|");
    for relation in relations {
        println!(
            "| {} | {:.4} | {:.4} | {} |",
            relation.name,
            relation.value,
            relation.least,
            if relation.holds() { "" } else { "**below**" }
        );
    }
    println!();
}

/// The figures below their floors; `floors` is the number of floors.
pub fn below(floors: usize, below: &[Below]) {
    println!(
        "{} of {floors} figures reach their floors.\n",
        floors - below.len()
    );
    if below.is_empty() {
        return;
    }
    println!("| below its floor | measured | floor |\n|---|---:|---:|");
    for one in below {
        let measured = super::or_dash(one.measured, |value| format!("{value:.4}"));
        println!("| {} | {measured} | {:.4} |", one.name, one.floor);
    }
    println!();
}

/// The raised floors.
pub fn raised(raised: &[Raised]) {
    println!("{} floors raised.\n", raised.len());
    for one in raised {
        let from = super::or_dash(one.from, |from| format!("{from:.4}"));
        println!("- {}: {from} → {:.4}", one.name, one.to);
    }
    println!();
}
