//! The settings in tables.

use reground_metrics::interval::{Interval, bootstrap_clustered_mean};

use super::question::Question;
use super::setting::Setting;

/// Level of the intervals, their resamples and seed.
const CONFIDENCE: f64 = 0.95;
const RESAMPLES: (usize, u64) = (4000, 20_251);

/// Prints the settings, and their differences to the source's best one.
pub fn print(settings: &[(Setting, Vec<Question>)]) {
    let count = settings.first().map_or(0, |(_, questions)| questions.len());
    println!("## When to retrieve, and with which query\n");
    println!(
        "{count} judged questions from the second turn on, each as the last one of its dialogue. `base` and `last` retrieve only \
         there, the others in each turn. The earlier answers are those that humans wrote, so they are the same in all settings: \
         better answers through earlier sources are not in these figures. Ten passages per context; means, with 95 % intervals \
         that resample whole conversations.\n"
    );
    println!(
        "| setting | retrieve_at | query_from | context recall | context precision | carried | searches | tokens of sources | of history | ms |"
    );
    println!("|---|---|---|---|---|---:|---:|---:|---:|---:|");
    for (setting, questions) in settings {
        println!("{}", row(*setting, questions));
    }
    println!();
    let Some((_, rounds)) = settings.iter().find(|(one, _)| *one == Setting::Rounds) else {
        return;
    };
    println!("`rounds` minus another setting, paired:\n");
    println!("| against | context recall | context precision |\n|---|---|---|");
    for (setting, questions) in settings.iter().filter(|(one, _)| *one != Setting::Rounds) {
        let recall = difference(rounds, questions, |one| one.context_recall);
        let precision = difference(rounds, questions, |one| one.context_precision);
        println!(
            "| {} | {} | {} |",
            setting.name(),
            signed(recall),
            signed(precision)
        );
    }
    println!();
}

fn row(setting: Setting, questions: &[Question]) -> String {
    let mean = |of: fn(&Question) -> f64| {
        questions.iter().map(of).sum::<f64>() / questions.len().max(1) as f64
    };
    let share = |of: fn(&Question) -> f64| {
        let interval = clustered(questions.iter().map(|one| (&one.conversation[..], of(one))));
        interval.map_or_else(
            || "–".to_owned(),
            |one| format!("{:.3} [{:.3}, {:.3}]", one.mean, one.low, one.high),
        )
    };
    format!(
        "| {} | {} | {} | {} | {} | {:.2} | {:.1} | {:.0} | {:.0} | {:.1} |",
        setting.name(),
        setting.retrieve_at(),
        setting.query_from(),
        share(|one| one.context_recall),
        share(|one| one.context_precision),
        mean(|one| one.carried as f64),
        mean(|one| one.searches as f64),
        mean(|one| f64::from(one.context_tokens)),
        mean(|one| one.history_tokens as f64),
        mean(|one| one.begin_ms),
    )
}

/// Paired difference of the same questions, which both settings have in the same order.
fn difference(
    first: &[Question],
    second: &[Question],
    of: impl Fn(&Question) -> f64,
) -> Option<Interval> {
    let pairs = first.iter().zip(second);
    let is_paired = |(one, other): (&Question, &Question)| one.question == other.question;
    if first.len() != second.len() || !pairs.clone().all(is_paired) {
        return None;
    }
    clustered(pairs.map(|(one, other)| (&one.conversation[..], of(one) - of(other))))
}

/// Mean of values by conversation. Values of a conversation follow each other.
fn clustered<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<Interval> {
    let values: Vec<(&str, f64)> = values.collect();
    let clusters: Vec<Vec<f64>> = values
        .chunk_by(|one, other| one.0 == other.0)
        .map(|cluster| cluster.iter().map(|(_, value)| *value).collect())
        .collect();
    let (resamples, seed) = RESAMPLES;
    bootstrap_clustered_mean(&clusters, CONFIDENCE, resamples, seed)
}

fn signed(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "–".to_owned(),
        |one| format!("{:+.3} [{:+.3}, {:+.3}]", one.mean, one.low, one.high).replace('-', "−"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(setting: Setting, conversation: &str, turn_no: u32, recall: f64) -> Question {
        Question {
            setting,
            question: format!("{conversation}:{turn_no}"),
            conversation: conversation.to_owned(),
            turn_no,
            searches: 1,
            context_recall: recall,
            context_precision: 0.25,
            carried: 1,
            context_tokens: 200,
            history_tokens: 50,
            begin_ms: 2.0,
            chunk_ids: Vec::new(),
            prompt: None,
        }
    }

    #[test]
    fn a_row_has_the_means() {
        let of = |recall| question(Setting::Base, "a", 2, recall);
        let questions = [of(0.5), of(1.0)];
        let text = row(Setting::Base, &questions);
        assert_eq!(
            text,
            "| base | on_demand | turn | 0.750 [0.750, 0.750] | 0.250 [0.250, 0.250] | 1.00 | 1.0 | 200 | 50 | 2.0 |"
        );
    }

    #[test]
    fn differences_are_paired_by_question() {
        let rounds = [
            question(Setting::Rounds, "a", 2, 0.75),
            question(Setting::Rounds, "b", 3, 0.5),
        ];
        let base = [
            question(Setting::Base, "a", 2, 0.5),
            question(Setting::Base, "b", 3, 0.25),
        ];
        let found = difference(&rounds, &base, |one| one.context_recall).unwrap();
        assert_eq!((found.mean, found.low, found.high), (0.25, 0.25, 0.25));
        assert_eq!(signed(Some(found)), "+0.250 [+0.250, +0.250]");
        let other = [base[1].clone(), base[0].clone()];
        assert_eq!(difference(&rounds, &other, |one| one.context_recall), None);
        assert_eq!(
            difference(&rounds, &base[..1], |one| one.context_recall),
            None
        );
    }
}
