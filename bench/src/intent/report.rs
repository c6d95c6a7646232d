//! The tables of the report.

use reground_grounding::query::intent::{AGAIN, AWAY, Dependency, Intent, Weights};
use reground_metrics::classification::auroc;

use super::comparisons::Seeded;
use super::cross_validation::Verdict;
use super::labelled_turns::{Example, Label, SpliceKind};
use super::past_turns::KnownHistory;
use super::scores::{self, Score, score, share};

/// The classes derived from data, with their labels.
const CLASSES: [(Intent, Label); 3] = [
    (Intent::NewTopic, Label::NewTopic),
    (Intent::DrillDown, Label::DrillDown),
    (Intent::SameSources, Label::SameSources),
];

/// Prints the numbers of examples and the head of the table of [`row`].
pub fn heading(examples: &[Example<'_>]) {
    let count = |label| examples.iter().filter(|e| e.label == label).count();
    println!("# Intent\n");
    println!(
        "{} new topics (spliced), {} drill-downs (same document, other passage), {} of the same sources (same passage); {} later turns \
         continue elsewhere. *Held out*: weights fitted on the other four of five folds by conversation. *Wrongly new*: later turns, \
         also those that continue elsewhere, that are classified as a new topic.\n",
        count(Label::NewTopic),
        count(Label::DrillDown),
        count(Label::SameSources),
        count(Label::Elsewhere),
    );
    println!(
        "| known history | majority, macro-F1 | macro-F1, held out | shipped weights | AUROC of new topics, held out | wrongly new, \
         held out |"
    );
    println!("|{}", "---|".repeat(6));
}

/// Prints the row of a known history; returns macro-F1 and AUROC on held-out conversations.
pub fn row(known: KnownHistory, held_out: &[Verdict<'_>], shipped: &[Verdict<'_>]) -> (f64, f64) {
    let reached = (macro_f1(&classed(held_out)), new_topic_auroc(held_out));
    println!(
        "| {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
        known.name(),
        majority(held_out),
        reached.0,
        macro_f1(&classed(shipped)),
        reached.1,
        wrongly_new(held_out),
    );
    reached
}

/// Prints the weights fitted to all examples, in the notation of the crate.
pub fn weights((away, again): &(Weights<AWAY>, Weights<AGAIN>)) {
    let written = |weights: &[f64]| -> String {
        let numbers: Vec<String> = weights.iter().map(|w| format!("{w:.2}")).collect();
        numbers.join(", ")
    };
    for (intercept, weights) in [
        (away.intercept, written(&away.weights)),
        (again.intercept, written(&again.weights)),
    ] {
        println!("of({intercept:.2}, [{weights}])");
    }
}

/// Prints precision and recall of each class, and the confusion matrix.
pub fn classes(verdicts: &[Verdict<'_>]) {
    println!("\nWith all history known, held out:\n");
    print!("| is | n | precision | recall | F1 |");
    for intent in Intent::ALL {
        print!(" called {} |", intent.name());
    }
    println!("\n|{}", "---|".repeat(5 + Intent::ALL.len()));
    let pairs = classed(verdicts);
    for (intent, label) in CLASSES {
        let Score {
            precision,
            recall,
            f1,
            count,
        } = score(&pairs, &intent, &label);
        print!(
            "| {} | {count} | {precision:.3} | {recall:.3} | {f1:.3} |",
            intent.name()
        );
        called(verdicts, label);
    }
    let elsewhere = verdicts
        .iter()
        .filter(|v| v.example.label == Label::Elsewhere)
        .count();
    print!("| (goes on elsewhere) | {elsewhere} | – | – | – |");
    called(verdicts, Label::Elsewhere);
}

fn called(verdicts: &[Verdict<'_>], label: Label) {
    for intent in Intent::ALL {
        let so = |v: &&Verdict<'_>| v.example.label == label && v.judged.intent == intent;
        print!(" {} |", verdicts.iter().filter(so).count());
    }
    println!();
}

/// Prints the calibration of the confidence.
pub fn reliability(verdicts: &[Verdict<'_>]) {
    let pairs: Vec<(f64, bool)> = verdicts
        .iter()
        .filter(|v| v.example.label != Label::Elsewhere && v.judged.intent != Intent::Compare)
        .map(|v| (v.judged.confidence, right(v)))
        .collect();
    println!("\n| confidence | n | mean | right |\n|---|---|---|---|");
    for bin in scores::reliability(&pairs, 10) {
        println!(
            "| {:.1}–{:.1} | {} | {:.3} | {:.3} |",
            bin.from, bin.to, bin.count, bin.confidence, bin.right
        );
    }
    println!("\n| likelihood of a new topic | n | mean | is new |\n|---|---|---|---|");
    let new: Vec<(f64, bool)> = verdicts
        .iter()
        .map(|v| (v.likelihoods.new_topic, v.example.label == Label::NewTopic))
        .collect();
    for bin in scores::reliability(&new, 5) {
        println!(
            "| {:.1}–{:.1} | {} | {:.3} | {:.3} |",
            bin.from, bin.to, bin.count, bin.confidence, bin.right
        );
    }
}

/// Prints the dependency by human label, and by whether the rewrite added words.
pub fn dependency(verdicts: &[Verdict<'_>]) {
    println!("\n| turn | n | hard | soft | none |\n|---|---|---|---|---|");
    let line = |name: &str, of: &dyn Fn(&Verdict<'_>) -> bool| {
        let all: Vec<_> = verdicts.iter().filter(|v| of(v)).collect();
        let [hard, soft, none] = [Dependency::Hard, Dependency::Soft, Dependency::None].map(|d| {
            share(
                all.iter().filter(|v| v.judged.dependency == d).count(),
                all.len(),
            )
        });
        println!(
            "| {name} | {} | {hard:.3} | {soft:.3} | {none:.3} |",
            all.len()
        );
    };
    let labelled = |v: &Verdict<'_>, label| v.example.turn.is_some_and(|turn| turn.label == label);
    line("Follow-up", &|v| labelled(v, "Follow-up"));
    line("Clarification", &|v| labelled(v, "Clarification"));
    line("rewritten to stand alone", &|v| {
        rewritten(&v.example) == Some(true)
    });
    line("left as it was", &|v| rewritten(&v.example) == Some(false));
    line("new topic (spliced)", &|v| {
        v.example.label == Label::NewTopic
    });
}

/// Whether the rewrite of a turn differs from its words.
fn rewritten(example: &Example<'_>) -> Option<bool> {
    let turn = example.turn?;
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    Some(plain(&turn.rewrite.as_ref()?.text) != plain(&turn.question.text))
}

/// Prints the head of the table of [`splices`].
pub fn splices_heading() {
    println!(
        "\nNew topics by origin, held out: AUROC against all later turns, and the share found in brackets.\n"
    );
    print!("| new topic | corpus | n |");
    KnownHistory::ALL
        .iter()
        .for_each(|known| print!(" {} |", known.name()));
    println!("\n|{}", "---|".repeat(3 + KnownHistory::ALL.len()));
}

/// Prints the rows of one kind of splice, with a column for each known history.
pub fn splices(kind: SpliceKind, by_knowledge: &[(Vec<Verdict<'_>>, Vec<Verdict<'_>>)]) {
    for (here, corpus) in [(true, "same"), (false, "other")] {
        let of = |v: &&Verdict<'_>| v.example.splice == Some((kind, here));
        let count = by_knowledge
            .first()
            .map_or(0, |(spliced, _)| spliced.iter().filter(of).count());
        print!("| {} | {corpus} | {count} |", kind.name());
        for (spliced, later) in by_knowledge {
            let spliced = || spliced.iter().filter(of);
            let found = spliced()
                .filter(|v| v.judged.intent == Intent::NewTopic)
                .count();
            let scored: Vec<(f64, bool)> = spliced()
                .map(|v| (v.likelihoods.new_topic, true))
                .chain(later.iter().map(|v| (v.likelihoods.new_topic, false)))
                .collect();
            print!(
                " {:.3} ({:.3}) |",
                auroc(&scored).unwrap_or_default(),
                share(found, count)
            );
        }
        println!();
    }
}

/// Prints the scores of comparisons.
pub fn comparisons(labelled: &Score, seeded: &Seeded) {
    println!(
        "\n| comparisons | n | precision | recall | F1 | both members |\n|---|---|---|---|---|---|"
    );
    let line = |name, score: &Score, members: &str| {
        let Score {
            precision,
            recall,
            f1,
            count,
        } = score;
        println!("| {name} | {count} | {precision:.3} | {recall:.3} | {f1:.3} | {members} |");
    };
    line("labelled by humans", labelled, "–");
    line("seeded", &seeded.score, &format!("{:.3}", seeded.members));
}

/// Classified and true labels of the three classes.
fn classed(verdicts: &[Verdict<'_>]) -> Vec<(Intent, Label)> {
    let labelled = verdicts
        .iter()
        .filter(|v| v.example.label != Label::Elsewhere);
    labelled
        .map(|v| (v.judged.intent, v.example.label))
        .collect()
}

fn macro_f1(pairs: &[(Intent, Label)]) -> f64 {
    let f1s = CLASSES.map(|(intent, label)| score(pairs, &intent, &label).f1);
    f1s.iter().sum::<f64>() / f1s.len() as f64
}

/// The macro-F1 of always choosing the best single class.
fn majority(verdicts: &[Verdict<'_>]) -> f64 {
    let labels = classed(verdicts);
    let always = CLASSES.map(|(intent, _)| {
        let pairs: Vec<_> = labels.iter().map(|(_, label)| (intent, *label)).collect();
        macro_f1(&pairs)
    });
    always.into_iter().fold(0.0, f64::max)
}

fn right(verdict: &Verdict<'_>) -> bool {
    CLASSES.contains(&(verdict.judged.intent, verdict.example.label))
}

fn new_topic_auroc(verdicts: &[Verdict<'_>]) -> f64 {
    let scored: Vec<(f64, bool)> = verdicts
        .iter()
        .map(|v| (v.likelihoods.new_topic, v.example.label == Label::NewTopic))
        .collect();
    auroc(&scored).unwrap_or_default()
}

fn wrongly_new(verdicts: &[Verdict<'_>]) -> f64 {
    let later: Vec<_> = verdicts
        .iter()
        .filter(|v| v.example.turn.is_some())
        .collect();
    let new = later
        .iter()
        .filter(|v| v.judged.intent == Intent::NewTopic)
        .count();
    share(new, later.len())
}
