//! Sizes and times of the run.

use std::time::Duration;

use crate::data::Domain;
use crate::data::tasks::Conversation;
use crate::database::load::Load;

/// The loaded corpora, and the speed of the loads.
pub fn print(loads: &[Load]) {
    println!("## Corpora\n");
    println!(
        "| corpus | documents | passages | put_document, s | passages/s | put_embeddings, s | embeddings/s | HNSW, s |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for load in loads {
        println!(
            "| {}{} | {} | {} | {:.1} | {:.0} | {:.1} | {:.0} | {:.1} |",
            load.corpus,
            if load.reused { " (reused)" } else { "" },
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
    if loads.iter().any(|load| load.reused) {
        println!(
            "(reused): an earlier run loaded the corpus, and the times are those of that run.\n"
        );
    }
    for load in loads {
        println!(
            "{}: the indexed text is the text of the file; in {} of {} passages it starts with the title.",
            load.corpus, load.titled_texts, load.passages
        );
    }
    println!();
}

fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// The largest difference between the given vectors and those of the local model.
pub fn compared(domain: Domain, most: f32) {
    println!(
        "{}: vectors of the local model differ from the given ones by up to {most:.5}.\n",
        domain.name()
    );
}

/// The evaluated conversations.
pub fn scope(conversations: &[Conversation], sample: bool) {
    let turns: usize = conversations.iter().map(|one| one.turns.len()).sum();
    println!(
        "{}: {} conversations, {turns} turns.\n",
        if sample {
            "The fixed sample (by the hash of a conversation's id)"
        } else {
            "All"
        },
        conversations.len()
    );
}

/// The total time.
pub fn total(took: Duration) {
    println!("Total time: {:.0} s.", took.as_secs_f64());
}
