//! One conversation, turn by turn.

use super::{or_dash, share};
use crate::data::tasks::Conversation;
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::turn::{ReplayedTurn, Source};

/// Characters shown of a passage.
const SHOWN: usize = 60;

/// A conversation, turn by turn.
pub fn print(name: &str, conversation: &Conversation, replayed: &ReplayedConversation) {
    println!(
        "## Replay: {} of {} ({} turns)\n",
        conversation.id,
        conversation.domain.name(),
        conversation.turns.len()
    );
    println!(
        "Default settings. The human answers have the markers of the sources of the context that contain their sentences; *gold* \
         sources are those that humans judged relevant. Stored as conversation `{name}`.\n"
    );
    for turn in &replayed.turns {
        print_turn(turn);
    }
    let (found, gold) = replayed.turns.iter().fold((0, 0), |(found, gold), turn| {
        (found + turn.found.len(), gold + turn.gold.len())
    });
    let carried = replayed.turns.iter().flat_map(|turn| &turn.sources);
    let carried = carried.filter(|source| source.carried());
    println!(
        "All turns: {found} of {gold} gold passages in the contexts; {} sources carried over, {} of them gold.\n",
        carried.clone().count(),
        carried.filter(|source| source.gold).count()
    );
}

fn print_turn(turn: &ReplayedTurn) {
    println!("### Turn {}: {}\n", turn.number, one_line(&turn.query));
    println!(
        "Intent **{}** ({:.2}). Context: {} sources, {} of {} gold passages, {} tokens.{}\n",
        turn.intent,
        turn.confidence,
        turn.sources.len(),
        turn.found.len(),
        turn.gold.len(),
        turn.tokens,
        if turn.warnings.is_empty() {
            String::new()
        } else {
            format!(" Warnings: {}.", turn.warnings.join(", "))
        }
    );
    println!("| marker | origin | relevance | carry | gold | title | passage |");
    println!("|---|---|---:|---:|:-:|---|---|");
    for source in &turn.sources {
        println!("{}", source_row(source));
    }
    let verdicts: Vec<String> = turn
        .verdicts
        .iter()
        .map(|verdict| {
            let support = or_dash(verdict.support, |support| format!("{support:.2}"));
            format!("{} {} (support {support})", verdict.raw, verdict.status)
        })
        .collect();
    let score = |value| or_dash(value, share);
    println!(
        "\nCFS **{}**, weighted by support {}: {}\n",
        score(turn.cfs),
        score(turn.grounded_cfs),
        if verdicts.is_empty() {
            "nothing to cite".to_owned()
        } else {
            verdicts.join(", ")
        }
    );
}

fn source_row(source: &Source) -> String {
    let number = |value| or_dash(value, |value: f64| format!("{value:.2}"));
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        source.marker,
        source.origin,
        number(source.relevance),
        number(source.carry_score),
        if source.gold { "✓" } else { "" },
        or_dash(source.title.as_deref(), one_line),
        one_line(&source.content),
    )
}

/// The beginning of a text as a table cell: one line, without bars.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().take(SHOWN).collect();
    shown.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short_and_on_one_line() {
        assert_eq!(one_line(" a |\n\tb "), "a \\| b");
        assert_eq!(one_line(&"é".repeat(100)).chars().count(), SHOWN);
    }
}
