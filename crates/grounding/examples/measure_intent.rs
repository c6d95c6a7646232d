//! Measures [`reground_grounding::intent`] on the labelled turns of MTRAG, read as JSON lines from standard input:
//! `zcat tasks/*.jsonl.gz | cargo run --release -p reground-grounding --example measure_intent`.
//!
//! Two views. *As labelled*: first turn (`N/A`) against `Follow-up` and `Clarification`, and the question type
//! `Comparative`. *Spliced*: the data set has no change of subject within a conversation, so the opening question of
//! the next conversation is asked after the first turns of this one; it should be a new topic, and the turn that
//! really follows should not.

use std::collections::BTreeMap;
use std::io::BufRead;

use reground_grounding::intent::{Dependency, Intent, Judged, PastTurn, classify};
use reground_grounding::settings::Settings;

struct Turn {
    query: String,
    labels: Vec<String>,
    types: Vec<String>,
    titles: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut conversations: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let task: serde_json::Value = serde_json::from_str(&line?)?;
        let id = format!("{} {}", task["domain"], task["conversation_id"]);
        let labels = &task["user"]["enrichments"];
        let texts = |value: &serde_json::Value, field: Option<&str>| -> Vec<String> {
            let items = value.as_array().into_iter().flatten();
            items
                .filter_map(|item| field.map_or(item, |f| &item[f]).as_str().map(str::to_owned))
                .collect()
        };
        conversations.entry(id).or_default().push(Turn {
            query: task["user"]["text"].as_str().unwrap_or_default().to_owned(),
            labels: texts(&labels["Multi-Turn"], None),
            types: texts(&labels["Question Type"], None),
            titles: texts(&task["agent"]["contexts"], Some("title")),
        });
    }
    let history = Settings::default().query_history;
    let (mut later, mut compare, mut spliced) =
        (Score::default(), Score::default(), Score::default());
    let mut intents: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    let all: Vec<_> = conversations.values().collect();
    for (index, turns) in all.iter().enumerate() {
        for (at, turn) in turns.iter().enumerate() {
            let earlier = past(turns, at, history);
            let judged = classify(&turn.query, &earlier, None);
            compare.count(
                turn.types.iter().any(|t| t == "Comparative"),
                judged.intent == Intent::Compare,
                &turn.query,
            );
            let label = turn.labels.join("+");
            *intents
                .entry((judged.intent.name(), label, dependency(&judged)))
                .or_default() += 1;
            if at > 0 {
                later.count(true, continues(&judged), &turn.query);
                spliced.count(false, !continues(&judged), &turn.query);
                let Some(other) = all
                    .get((index + 1) % all.len())
                    .and_then(|turns| turns.first())
                else {
                    continue;
                };
                let judged = classify(&other.query, &earlier, None);
                spliced.count(true, !continues(&judged), &other.query);
            }
        }
    }
    println!("later turns taken for a continuation: {later}");
    println!("new subject after a splice:           {spliced}");
    println!("comparison:                           {compare}");
    for ((intent, label, dependency), turns) in intents {
        println!("{intent:13} {dependency:5} {label:14} {turns}");
    }
    if std::env::args().any(|argument| argument == "--errors") {
        println!(
            "\nmissed comparisons {:#?}\nfalse comparisons {:#?}",
            compare.missed, compare.wrong
        );
        println!(
            "missed new subjects {:#?}\nfalse new subjects {:#?}",
            spliced.missed, spliced.wrong
        );
    }
    Ok(())
}

/// Whether memory is kept: anything but a new topic; a comparison counts by its dependency.
fn continues(judged: &Judged) -> bool {
    match judged.intent {
        Intent::NewTopic => false,
        Intent::Compare => judged.dependency != Dependency::None,
        Intent::DrillDown | Intent::SameSources => true,
    }
}

fn dependency(judged: &Judged) -> &'static str {
    match judged.dependency {
        Dependency::Hard => "hard",
        Dependency::Soft => "soft",
        Dependency::None => "none",
    }
}

fn past(turns: &[Turn], at: usize, history: usize) -> Vec<PastTurn> {
    turns[at.saturating_sub(history)..at]
        .iter()
        .map(|turn| PastTurn {
            query: turn.query.clone(),
            sources: turn.titles.clone(),
            cited: vec![],
        })
        .collect()
}

#[derive(Default)]
struct Score {
    hit: usize,
    right_no: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

impl Score {
    fn count(&mut self, truth: bool, judged: bool, query: &str) {
        match (truth, judged) {
            (true, true) => self.hit += 1,
            (false, false) => self.right_no += 1,
            (true, false) => self.missed.push(query.to_owned()),
            (false, true) => self.wrong.push(query.to_owned()),
        }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (hit, missed, wrong) = (
            self.hit as f64,
            self.missed.len() as f64,
            self.wrong.len() as f64,
        );
        let total = hit + missed + wrong + self.right_no as f64;
        write!(
            f,
            "n {total}, accuracy {:.3}, precision {:.3}, recall {:.3}, F1 {:.3}",
            (hit + self.right_no as f64) / total,
            hit / (hit + wrong),
            hit / (hit + missed),
            2.0 * hit / (2.0 * hit + missed + wrong)
        )
    }
}
