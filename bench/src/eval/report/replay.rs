//! The contexts with and without carry-over.

use reground_metrics::history_hits::TOP;
use reground_metrics::interval::Interval;

use super::{or_dash, percent, share, signed};
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::arm::{Arm, CONTEXT};
use crate::eval::replay::hits::Hits;
use crate::eval::replay::scope::{Measure, Scope};
use crate::eval::replay::tally::{Carried, short};

/// An arm with its conversations.
type Run = (Arm, Vec<ReplayedConversation>);

/// Prints all tables of the contexts.
pub fn print(runs: &[Run]) {
    println!("## Replay: contexts\n");
    let Some((_, baseline)) = find(runs, Arm::None) else {
        return;
    };
    let arms: Vec<&Run> = runs
        .iter()
        .filter(|(arm, _)| arm.equal_size() && *arm != Arm::None)
        .collect();
    println!(
        "All arms have contexts of {CONTEXT} single passages. `none` carries nothing over. Answers cite the sources that contain their \
         sentences. `context` and `cited` are the values of `carry_activation`, with three slots at a relevance of .5. Two slots have \
         the threshold .7 and one slot .85, for cited sources. `anchor` has the threshold 1, and carries the document of a turn that \
         cannot be understood alone. `turn` searches only for the user's words. `integrated` ranks the sources of earlier turns among \
         the results. Each mean is followed by the paired difference from `none`, with 95 % intervals that resample whole \
         conversations. Rows without a domain are over clapnq and cloud.\n"
    );
    for measure in Measure::ALL {
        by_turn(measure, &arms, baseline);
    }
    sizes(baseline);
    carried(&arms, baseline);
    activation(runs);
    hits(runs);
    defaults(runs);
}

fn find(runs: &[Run], arm: Arm) -> Option<&Run> {
    runs.iter().find(|(one, _)| *one == arm)
}

fn by_turn(measure: Measure, arms: &[&Run], baseline: &[ReplayedConversation]) {
    let names = arms.iter().map(|(arm, _)| arm.name()).collect::<Vec<_>>();
    println!(
        "| {}, turn | judged | none | {} |",
        measure.name(),
        names.join(" | ")
    );
    println!("|---|---:|---|{}", "---|".repeat(arms.len()));
    for scope in Scope::rows() {
        let cells: Vec<String> = arms
            .iter()
            .map(|(_, replayed)| {
                let mean = scope.mean(replayed, measure);
                let paired = scope.difference(replayed, baseline, measure);
                format!(
                    "{} ({})",
                    or_dash(mean, |mean| share(mean.mean)),
                    or_dash(paired, signed)
                )
            })
            .collect();
        println!(
            "| {} | {} | {} | {} |",
            scope.name(),
            scope.judged(baseline),
            or_dash(scope.mean(baseline, measure), plain),
            cells.join(" | ")
        );
    }
    println!();
}

fn plain(interval: Interval) -> String {
    let Interval { mean, low, high } = interval;
    format!("{} [{}, {}]", share(mean), share(low), share(high))
}

/// Contexts with fewer sources than the others, and their warnings.
fn sizes(baseline: &[ReplayedConversation]) {
    let all: usize = baseline.iter().map(|replayed| replayed.turns.len()).sum();
    let short = short(baseline);
    println!(
        "{} of {all} contexts of `none` have fewer than {CONTEXT} passages{}",
        short.len(),
        if short.is_empty() { "." } else { ":" }
    );
    for turn in short {
        println!(
            "- {} ({}): {} passages; {}",
            turn.id,
            if turn.judged() {
                "judged"
            } else {
                "not judged"
            },
            turn.sources.len(),
            turn.warnings.join(", ")
        );
    }
    println!();
}

fn carried(arms: &[&Run], baseline: &[ReplayedConversation]) {
    println!("Counts in the judged later turns:\n");
    println!(
        "| arm | contexts | with a carried source | carried per context | of these relevant | relevant gained | relevant lost |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (arm, replayed) in arms {
        let tally = Carried::of(replayed, baseline);
        println!(
            "| {} | {} | {} | {:.2} | {} ({}) | {} | {} |",
            arm.name(),
            tally.contexts,
            percent(tally.carrying, tally.contexts),
            tally.sources as f64 / tally.contexts.max(1) as f64,
            tally.relevant,
            percent(tally.relevant, tally.sources),
            tally.gained,
            tally.lost
        );
    }
    println!();
}

/// Ranks of the relevant passages in this turn and in earlier ones.
fn hits(runs: &[Run]) {
    println!("Relevant passages in the rankings of judged later turns:\n");
    println!("| arm | turns | bottom hit | history hit | supplement |");
    println!("|---|---:|---:|---:|---:|");
    let mut deepest = 0;
    for (arm, replayed) in runs {
        let hits = Hits::of(replayed);
        deepest = deepest.max(hits.deepest);
        println!(
            "| {} | {} | {} | {} | {} |",
            arm.name(),
            hits.turns,
            percent(hits.bottom, hits.turns),
            percent(hits.history, hits.turns),
            percent(hits.supplement, hits.turns)
        );
    }
    println!(
        "\nBottom hit: the best relevant passage has a rank from {} to {deepest}. History hit: a relevant passage is in the top {TOP} \
         of an earlier turn. Supplement: the turn finds below its own top {TOP} a passage from the top of an earlier turn.\n",
        TOP + 1
    );
}

/// The two values of `carry_activation`, in the same turns.
fn activation(runs: &[Run]) {
    let (context, cited) = (Arm::AnswerContext, Arm::AnswerCited);
    if let (Some((_, one)), Some((_, other))) = (find(runs, cited), find(runs, context)) {
        let differences = Measure::ALL.map(|measure| {
            let paired = Scope::LATER.difference(one, other, measure);
            format!("{} {}", measure.name(), or_dash(paired, signed))
        });
        println!(
            "`{}` less `{}`, later turns: {}.\n",
            cited.name(),
            context.name(),
            differences.join(", ")
        );
    }
}

/// The default settings.
fn defaults(runs: &[Run]) {
    let Some((_, replayed)) = find(runs, Arm::Default) else {
        return;
    };
    let turns: Vec<_> = Scope::LATER
        .of(replayed)
        .flatten()
        .filter(|turn| turn.judged())
        .collect();
    let count = turns.len().max(1) as f64;
    let mean = |measure| or_dash(Scope::LATER.mean(replayed, measure), plain);
    println!(
        "Default settings (adjacent passages merged, a budget of 4,000 tokens, carry-over on), later turns: recall {}, precision {}, \
         {:.1} sources and {:.0} tokens per context.\n",
        mean(Measure::Recall),
        mean(Measure::Precision),
        turns.iter().map(|turn| turn.sources.len()).sum::<usize>() as f64 / count,
        turns.iter().map(|turn| f64::from(turn.tokens)).sum::<f64>() / count,
    );
}
