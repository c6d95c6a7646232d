//! The verdicts of `end_turn` on the human answers with their markers.

use std::collections::BTreeSet;

use super::{or_dash, percent, share};
use crate::attribution::marking::MIN_OVERLAP;
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::arm::Arm;
use crate::eval::replay::tally::{Agreement, Verdicts};

/// Shares at which the text-based markers are evaluated.
const SHARES: [f64; 3] = [0.4, MIN_OVERLAP, 0.6];

/// The verdicts of every arm, and the agreement of the markers with the judgements.
pub fn print(runs: &[(Arm, Vec<ReplayedConversation>)]) {
    println!("## Replay: verdicts of end_turn on the answers\n");
    let tallies: Vec<(Arm, Verdicts)> = runs
        .iter()
        .map(|(arm, replayed)| (*arm, Verdicts::of(replayed)))
        .collect();
    let statuses: BTreeSet<&String> = tallies
        .iter()
        .flat_map(|(_, tally)| tally.statuses.keys())
        .collect();
    let names: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    println!(
        "| arm | answers with citations | citations | {} | no marker of the context | support | CFS | weighted by support |",
        names.join(" | ")
    );
    println!(
        "|---|---:|---:|{}---:|---:|---:|---:|",
        "---:|".repeat(names.len())
    );
    for (arm, tally) in &tallies {
        let shares: Vec<String> = statuses
            .iter()
            .map(|status| {
                let count = tally.statuses.get(*status).copied().unwrap_or_default();
                percent(count, tally.citations)
            })
            .collect();
        println!(
            "| {} | {} of {} | {} | {} | {} | {} | {} | {} |",
            arm.name(),
            tally.citing,
            tally.answers,
            tally.citations,
            shares.join(" | "),
            tally.not_ours,
            or_dash(tally.support, share),
            or_dash(tally.cfs, share),
            or_dash(tally.grounded_cfs, share)
        );
    }
    println!(
        "\nSupport is the mean over citations. CFS, and CFS weighted by support, are means over the answers with citations.\n"
    );
    if let Some((_, replayed)) = runs.iter().find(|(arm, _)| *arm == Arm::None) {
        agreement(replayed);
    }
}

/// The agreement of the text-based markers with the judgements, in the contexts of the baseline.
fn agreement(replayed: &[ReplayedConversation]) {
    let base = Agreement::at(MIN_OVERLAP, replayed);
    println!(
        "A sentence of an answer gets the marker of each source that contains this share of its content words. The table compares \
         these markers with the human judgements, over the {} sources of the judged contexts of `none`, {} of them relevant ({}):\n",
        base.sources,
        base.relevant,
        percent(base.relevant, base.sources)
    );
    println!("| share | marked | precision | recall |\n|---|---:|---:|---:|");
    for at in SHARES {
        let tally = Agreement::at(at, replayed);
        println!(
            "| {}{} | {} | {} | {} |",
            share(at),
            if at == MIN_OVERLAP { " (used)" } else { "" },
            tally.marked,
            percent(tally.both, tally.marked),
            percent(tally.both, tally.relevant)
        );
    }
    println!();
}
