//! Factuality of answers in the settings, from a file of entailment verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use reground_metrics::factuality::measures::{Measures, measure};
use reground_metrics::factuality::report::{Beside, MeasuredRow, Report};
use reground_metrics::factuality::summary::summarize;
use reground_metrics::factuality::verdicts::{AnswerVerdicts, Entailment, Unmeasured};
use serde::Deserialize;

use super::setting::Setting;
use crate::data::json_lines;

/// A line of the file: the verdicts on the answer to a question in a setting.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    setting: Setting,
    question: String,
    statements: Option<Vec<Option<Entailment>>>,
    facts: Option<Vec<Option<Entailment>>>,
    tokens: u64,
}

/// Compares the measures of each setting with the source's table.
///
/// # Errors
/// An unreadable file; a question that occurs twice in a setting, or not in all of them.
pub fn report(path: &Path) -> Result<Report> {
    of_lines(json_lines(path)?)
}

fn of_lines(lines: Vec<Line>) -> Result<Report> {
    let mut settings: BTreeMap<Setting, BTreeMap<String, Result<Measures, Unmeasured>>> =
        BTreeMap::new();
    for line in lines {
        let measured = measure(&AnswerVerdicts {
            statements: line.statements,
            facts: line.facts,
            tokens: line.tokens,
        });
        let answers = settings.entry(line.setting).or_default();
        let name = line.setting.name();
        ensure!(
            answers.insert(line.question.clone(), measured).is_none(),
            "the question {} occurs twice in the setting {name}",
            line.question
        );
    }
    let all: BTreeSet<String> = settings
        .values()
        .flat_map(|one| one.keys().cloned())
        .collect();
    for (setting, answers) in &settings {
        let missing = all.iter().find(|question| !answers.contains_key(*question));
        ensure!(
            missing.is_none(),
            "the setting {} lacks the question {}, so it cannot be compared",
            setting.name(),
            missing.map_or("", String::as_str)
        );
    }
    let rows = settings.into_iter().map(|(setting, answers)| MeasuredRow {
        system: setting.name().to_owned(),
        setting: format!("{}, {}", setting.retrieve_at(), setting.query_from()),
        summary: summarize(&answers.into_values().collect::<Vec<_>>(), None),
    });
    Ok(Report {
        measured: rows.collect(),
        beside: Beside::Retrieval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    #[test]
    fn settings_are_measured_on_the_same_questions() {
        let base = r#"{"setting": "base", "question": "a", "statements": ["entailed"], "facts": ["entailed", "neutral"], "tokens": 30}"#;
        let rounds = r#"{"setting": "rounds", "question": "a", "statements": null, "facts": ["entailed"], "tokens": 30}"#;
        let report = of_lines(lines(&format!("{rounds}\n{base}"))).unwrap();
        let names: Vec<&str> = report
            .measured
            .iter()
            .map(|row| row.system.as_str())
            .collect();
        assert_eq!(names, ["base", "rounds"]);
        assert_eq!(report.measured[0].setting, "on_demand, turn");
        let summary = &report.measured[0].summary;
        assert_eq!(summary.factual_recall.unwrap().mean, 0.5);
        assert_eq!(summary.tokens_to_cover_all.unwrap().tokens.mean, 60.0);
        assert_eq!(report.measured[1].summary.judge_failed, 1);

        let twice = of_lines(lines(&format!("{base}\n{base}"))).unwrap_err();
        assert!(
            twice
                .to_string()
                .contains("occurs twice in the setting base")
        );
        let other = rounds.replace("\"a\"", "\"b\"");
        let unequal = of_lines(lines(&format!("{base}\n{other}"))).unwrap_err();
        assert!(
            unequal.to_string().contains("lacks the question"),
            "{unequal}"
        );
    }
}
