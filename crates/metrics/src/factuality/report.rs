//! Tables in Markdown that compare measured figures with the published ones.

use std::fmt::Write;

use serde::Serialize;

use super::published::{MODELS, PublishedRow, RETRIEVAL, VALIDATION};
use super::summary::{Cost, Summary};
use crate::interval::Interval;

/// Headings of the columns after system and setting, with the better direction.
const COLUMNS: [&str; 9] = [
    "factual recall ↑",
    "factual precision ↑",
    "factual F1 ↑",
    "false claims ↓",
    "misrepresented ↓",
    "hallucination F1 ↓",
    "tokens per entailed fact ↓",
    "tokens per contradicted fact ↑",
    "tokens to cover all ↓",
];

/// A published table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// Table 8: models without retrieval.
    Models,
    /// Table 3: retrieval settings.
    Retrieval,
}

impl Beside {
    fn rows(self) -> &'static [PublishedRow] {
        match self {
            Self::Models => &MODELS,
            Self::Retrieval => &RETRIEVAL,
        }
    }
}

/// A measured system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredRow {
    /// Name of the system.
    pub system: String,
    /// Setting, such as "multi-turn" or the number of turns.
    pub setting: String,
    /// Its measures.
    pub summary: Summary,
}

/// Measured systems, and the published table to compare them with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The measured systems, in the order of the table.
    pub measured: Vec<MeasuredRow>,
    /// The published table.
    pub beside: Beside,
}

impl Report {
    /// The table: measured rows in bold, then the published rows; below it the intervals of both F1 and what the means leave out.
    pub fn markdown(&self) -> String {
        let mut text = format!("| system | setting | {} |\n", COLUMNS.join(" | "));
        text += &format!("|{}\n", "---|".repeat(COLUMNS.len() + 2));
        for row in &self.measured {
            let cells = row.cells().join(" | ");
            let (system, setting) = (cell(&row.system), cell(&row.setting));
            let _ = writeln!(text, "| **{system}** | {setting} | {cells} |");
        }
        for row in self.beside.rows() {
            let cells = published_cells(row).join(" | ");
            let (system, setting, table) = (row.system, row.setting.name(), row.table);
            let _ = writeln!(
                text,
                "| {system} (source, table {table}) | {setting} | {cells} |"
            );
        }
        text.push('\n');
        for row in &self.measured {
            let _ = writeln!(text, "- {}", row.note());
        }
        text
    }
}

impl MeasuredRow {
    fn cells(&self) -> [String; 9] {
        let one = &self.summary;
        let share = |mean: Option<Interval>| mean.map(|mean| 100.0 * mean.mean);
        let cost = |cost: Option<Cost>| cost.map(|cost| cost.tokens.mean);
        [
            decimals(share(one.factual_recall), 2),
            decimals(share(one.factual_precision), 2),
            decimals(share(one.factual_f1), 2),
            decimals(share(one.false_claim_rate), 2),
            decimals(share(one.misrepresentation_rate), 2),
            decimals(share(one.hallucination_f1), 2),
            decimals(cost(one.tokens_per_entailed_fact), 0),
            decimals(cost(one.tokens_per_contradicted_fact), 0),
            decimals(cost(one.tokens_to_cover_all), 0),
        ]
    }

    /// The intervals, the answers that the means leave out, and the replaced costs.
    fn note(&self) -> String {
        let one = &self.summary;
        let bounds = |mean: Option<Interval>| {
            mean.map_or_else(
                || "–".to_owned(),
                |mean| format!("[{:.2}, {:.2}]", 100.0 * mean.low, 100.0 * mean.high),
            )
        };
        let replaced = |cost: Option<Cost>| {
            cost.map_or_else(|| "all".to_owned(), |cost| cost.replaced.to_string())
        };
        format!(
            "{}, {}: {} of {} answers measured ({} `no_statements`, {} `no_facts`, {} `judge_failed`); factual F1 {}, \
             hallucination F1 {}; without an entailed fact {}, without a contradicted fact {}",
            cell(&self.system),
            cell(&self.setting),
            one.measured,
            one.answers,
            one.no_statements,
            one.no_facts,
            one.judge_failed,
            bounds(one.factual_f1),
            bounds(one.hallucination_f1),
            replaced(one.tokens_per_entailed_fact),
            replaced(one.tokens_per_contradicted_fact),
        )
    }
}

/// Validation of a decomposer and a judge by humans. A figure is `None` if it was not measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Validation {
    /// SMAPE of the numbers of statements.
    pub smape: Option<f64>,
    /// Share of human statements that the decomposer left out.
    pub omission_rate: Option<f64>,
    /// F1 of the judge against the majority of the humans, weighted by support.
    pub weighted_f1: Option<f64>,
    /// Cohen's κ of the judge with the majority of the humans.
    pub kappa: Option<Interval>,
    /// Fleiss' κ of the humans.
    pub fleiss_kappa: Option<f64>,
}

impl Validation {
    /// The measured figures, in the columns of the published table.
    pub fn markdown(&self) -> String {
        let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
        let kappa = self.kappa.map_or_else(
            || "–".to_owned(),
            |kappa| format!("{:.2} [{:.2}, {:.2}]", kappa.mean, kappa.low, kappa.high),
        );
        let kappas = VALIDATION.majority_kappa.into_iter();
        let (least, most) = (
            kappas.clone().fold(f64::INFINITY, f64::min),
            kappas.fold(f64::NEG_INFINITY, f64::max),
        );
        format!(
            "| validation | measured | source |\n|---|---|---|\n\
             | SMAPE of the number of statements, % ↓ | {} | {:.1} |\n\
             | omission rate, % ↓ | {} | {:.1} |\n\
             | F1 against the majority, % ↑ | {} | {:.1} |\n\
             | κ with the majority ↑ | {kappa} | {:.2} to {:.2}, of single humans |\n\
             | Fleiss' κ of the humans | {} | {:.2} |\n",
            decimals(percent(self.smape), 1),
            100.0 * VALIDATION.smape,
            decimals(percent(self.omission_rate), 1),
            100.0 * VALIDATION.omission_rate,
            decimals(percent(self.weighted_f1), 1),
            100.0 * VALIDATION.weighted_f1,
            least,
            most,
            decimals(self.fleiss_kappa, 2),
            VALIDATION.fleiss_kappa,
        )
    }
}

fn published_cells(row: &PublishedRow) -> [String; 9] {
    [
        decimals(row.factual_recall, 2),
        decimals(row.factual_precision, 2),
        decimals(Some(row.factual_f1), 2),
        decimals(row.false_claim_rate, 2),
        decimals(row.misrepresentation_rate, 2),
        decimals(Some(row.hallucination_f1), 2),
        decimals(Some(row.tokens_per_entailed_fact), 0),
        decimals(Some(row.tokens_per_contradicted_fact), 0),
        decimals(row.tokens_to_cover_all, 0),
    ]
}

fn decimals(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// A name that cannot end its cell or its line.
fn cell(name: &str) -> String {
    name.replace('|', "\\|").replace(['\r', '\n'], " ")
}
