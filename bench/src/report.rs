//! Results as Markdown on standard output.

use std::time::Duration;

use crate::data::Domain;
use crate::data::queries::Form;
use crate::data::tasks::Conversation;
use crate::load::Load;
use crate::reference;
use crate::replay::{Replayed, Source};
use crate::retrieval::{List, Measured, Scores};

/// First turn of the "later" ones.
const LATER: u32 = 2;

/// Characters of a passage that are shown.
const SHOWN: usize = 60;

/// What was loaded, and how fast.
pub fn loads(loads: &[Load]) {
    println!("## Corpora\n");
    println!(
        "| corpus | documents | passages | put_document, s | passages/s | put_embeddings, s | embeddings/s | HNSW, s |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for load in loads {
        println!(
            "| {}{} | {} | {} | {:.1} | {:.0} | {:.1} | {:.0} | {:.1} |",
            load.corpus,
            if load.kept { " (kept)" } else { "" },
            load.documents,
            load.passages,
            load.documents_took.as_secs_f64(),
            rate(load.passages, load.documents_took),
            load.embeddings_took.as_secs_f64(),
            rate(load.passages, load.embeddings_took),
            load.index_took.as_secs_f64(),
        );
    }
    println!();
    if loads.iter().any(|load| load.kept) {
        println!("(kept): it was there already, and took these times when it was loaded.\n");
    }
    for load in loads {
        println!(
            "{}: the indexed text is the passage's text as it is in the file; in {} of {} passages it begins with the title.",
            load.corpus, load.titled_texts, load.passages
        );
    }
    println!();
}

fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// The lists of one form of the queries, ours above the reference.
pub fn retrieval(form: Form, measured: &[Measured]) {
    println!("## Retrieval: {}\n", form.name());
    println!(
        "nDCG@5, recall@5, recall@10; \"reference\" are published constants (no code of ours), see `bench/src/reference.rs`.\n"
    );
    let columns = [1, LATER].map(|turn| Domain::ALL.map(|domain| (domain, turn)));
    let columns = columns.as_flattened();
    let titles = columns.iter().map(|&(domain, turn)| {
        let judged = measured
            .iter()
            .find(|one| (one.domain, one.form) == (domain, form))
            .and_then(|one| one.since_turn(turn))
            .map_or(0, |(_, count)| count);
        let scope = if turn == 1 { "all" } else { "later" };
        format!("{}, {scope} ({judged})", domain.name())
    });
    println!("| list | {} |", titles.collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
    for list in List::ALL {
        let ours = columns.iter().map(|&(domain, turn)| {
            measured
                .iter()
                .find(|one| (one.domain, one.form, one.list) == (domain, form, list))
                .and_then(|one| one.since_turn(turn))
                .map(|(scores, _)| scores)
        });
        println!("| **{}** | {} |", list.name(), cells(ours));
        // HNSW approximates the list above it, whose reference is its own.
        let reference = columns
            .iter()
            .map(|&(domain, turn)| reference::scores(domain, form, list, turn == LATER));
        if list != List::Hnsw && reference.clone().any(|scores| scores.is_some()) {
            println!("| {}, reference | {} |", list.name(), cells(reference));
        }
    }
    println!();
    println!(
        "| median ms a query | {} |",
        Domain::ALL.map(Domain::name).join(" | ")
    );
    println!("|---|{}", "---:|".repeat(Domain::ALL.len()));
    for list in List::ALL {
        let times: Vec<String> = measured
            .iter()
            .filter(|one| one.form == form && one.list == list)
            .map(|one| format!("{:.1}", one.median_time().as_secs_f64() * 1000.0))
            .collect();
        println!("| {} | {} |", list.name(), times.join(" | "));
    }
    println!();
}

fn cells(scores: impl Iterator<Item = Option<Scores>>) -> String {
    scores
        .map(|scores| {
            scores.map_or_else(
                || "–".to_owned(),
                |scores| {
                    [scores.ndcg_5, scores.recall_5, scores.recall_10]
                        .map(share)
                        .join(" ")
                },
            )
        })
        .collect::<Vec<_>>()
        .join(" | ")
}

/// A share of one without its leading zero, as such tables are printed.
fn share(value: f64) -> String {
    let text = format!("{value:.3}");
    match text.strip_prefix('0') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// A conversation, turn by turn.
pub fn replay(name: &str, conversation: &Conversation, turns: &[Replayed]) {
    println!(
        "## Replay: {} of {} ({} turns)\n",
        conversation.id,
        conversation.domain.name(),
        conversation.turns.len()
    );
    println!(
        "The conversation with most turns of the data. Its human-written answers cite the sources of the context that humans judged \
         relevant (gold), and no others; the markers stand at the end, so its last sentence is the claim that they are held against. Stored as conversation `{name}`.\n"
    );
    for turn in turns {
        replayed(turn);
    }
    let (found, gold) = turns.iter().fold((0, 0), |(found, gold), turn| {
        (found + turn.gold_found, gold + turn.gold)
    });
    let carried = turns.iter().flat_map(|turn| &turn.sources);
    let carried = carried.filter(|source| source.origin == "carried");
    println!(
        "All turns: {found} of {gold} gold passages in the contexts; {} sources carried, {} of them gold.\n",
        carried.clone().count(),
        carried.filter(|source| source.gold).count()
    );
}

fn replayed(turn: &Replayed) {
    println!("### Turn {}: {}\n", turn.number, one_line(&turn.query));
    println!(
        "Intent **{}** ({:.2}). Context: {} sources, {} of {} gold passages, {} characters of prompt.{}\n",
        turn.intent,
        turn.confidence,
        turn.sources.len(),
        turn.gold_found,
        turn.gold,
        turn.prompt_chars,
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
            let support = verdict
                .support
                .map_or("–".to_owned(), |support| format!("{support:.2}"));
            format!("{} {} (support {support})", verdict.raw, verdict.status)
        })
        .collect();
    let score = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
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
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        source.marker,
        source.origin,
        number(source.relevance),
        number(source.carry_score),
        if source.gold { "✓" } else { "" },
        source.title.as_deref().map_or("–".to_owned(), one_line),
        one_line(&source.content),
    )
}

/// The beginning of a text as a cell of a table: one line, no bars.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().take(SHOWN).collect();
    shown.replace('|', "\\|")
}

/// How long it all took.
pub fn total(took: Duration) {
    println!("Total time: {:.0} s.", took.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_no_leading_zero() {
        assert_eq!(share(0.2104), ".210");
        assert_eq!(share(1.0), "1.000");
    }

    #[test]
    fn cells_are_short_and_on_one_line() {
        assert_eq!(one_line(" a |\n\tb "), "a \\| b");
        assert_eq!(one_line(&"é".repeat(100)).chars().count(), SHOWN);
    }
}
