//! The results of the knowledge graph.

use super::{or_dash, percent, share, signed};
use crate::eval::graph::Edges;
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::arm::Arm;
use crate::eval::replay::scope::{Measure, Scope};

/// Compares each arm with the first, which has no graph.
pub fn print(edges: &[Edges], arms: &[(Arm, Vec<ReplayedConversation>)]) {
    println!("## The knowledge graph\n");
    println!(
        "Edges made without a model: a document has an edge to each document whose title it mentions, and the edge nominates the first \
         passage of that document. Later turns, contexts of ten passages, 95 % intervals that resample whole conversations.\n"
    );
    for one in edges {
        println!(
            "- {}: {} edges between {} entities",
            one.corpus, one.edges, one.nodes
        );
    }
    println!(
        "\n| arm | turns | recall | difference | precision | difference | contexts with a neighbour | neighbours | relevant |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let without = arms.first().map(|(_, replayed)| replayed.as_slice());
    for scope in Scope::rows().into_iter().filter(|scope| scope.is_later()) {
        for (arm, replayed) in arms {
            row(*arm, scope, replayed, without.unwrap_or_default());
        }
    }
    println!();
}

fn row(
    arm: Arm,
    scope: Scope,
    replayed: &[ReplayedConversation],
    without: &[ReplayedConversation],
) {
    let cells = Measure::ALL.map(|measure| {
        let mean = or_dash(scope.mean(replayed, measure), |mean| share(mean.mean));
        let gain = scope.difference(replayed, without, measure);
        format!("{mean} | {}", or_dash(gain, signed))
    });
    let judged: Vec<_> = scope
        .of(replayed)
        .flatten()
        .filter(|turn| turn.judged())
        .collect();
    let neighbours = |turn: &crate::eval::replay::turn::ReplayedTurn| {
        let sources = turn
            .sources
            .iter()
            .filter(|source| source.origin == "graph");
        (
            sources.clone().count(),
            sources.filter(|source| source.gold).count(),
        )
    };
    let counts: Vec<(usize, usize)> = judged.iter().map(|turn| neighbours(turn)).collect();
    let with = counts.iter().filter(|(all, _)| *all > 0).count();
    let all: usize = counts.iter().map(|(all, _)| all).sum();
    let gold: usize = counts.iter().map(|(_, gold)| gold).sum();
    println!(
        "| {} | {} | {} | {} | {all} | {} |",
        arm.name(),
        scope.name(),
        cells.join(" | "),
        percent(with, judged.len()),
        percent(gold, all)
    );
}
