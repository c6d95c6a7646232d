//! Figures of the publication, as its tables print them (Chen et al., "KnowMT-Bench", arXiv 2509.21856v1, 2025).

use serde::{Deserialize, Serialize};

/// Whether a system answered the question alone or at the end of a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The question alone.
    SingleTurn,
    /// The question after one to four earlier turns that the system answered.
    MultiTurn,
}

impl Setting {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleTurn => "single turn",
            Self::MultiTurn => "multi-turn",
        }
    }
}

/// A row of a published table. Shares are in percent, costs in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedRow {
    /// Number of the table.
    pub table: u8,
    /// Model, or retrieval setting.
    pub system: &'static str,
    /// Setting.
    pub setting: Setting,
    /// Factual recall, where the table has it.
    pub factual_recall: Option<f64>,
    /// Factual precision, where the table has it.
    pub factual_precision: Option<f64>,
    /// Factual F1.
    pub factual_f1: f64,
    /// False claim rate, where the table has it.
    pub false_claim_rate: Option<f64>,
    /// Misrepresentation rate, where the table has it.
    pub misrepresentation_rate: Option<f64>,
    /// Hallucination F1.
    pub hallucination_f1: f64,
    /// Tokens per entailed fact.
    pub tokens_per_entailed_fact: f64,
    /// Tokens per contradicted fact.
    pub tokens_per_contradicted_fact: f64,
    /// Tokens to cover all facts, where the table has it.
    pub tokens_to_cover_all: Option<f64>,
}

/// Table 8: twelve models without retrieval.
///
/// The headings of the columns are lost in the text of the source. Their order is that of the publication's program: recall,
/// precision, F1; statements contradicted, facts contradicted, F1; tokens per entailed fact, per contradicted fact, to cover all.
/// Its text agrees: recall and tokens per contradicted fact are the columns that rise in most dialogues.
pub const MODELS: [PublishedRow; 24] = [
    full(
        "Gemini-2.5-Pro",
        Setting::SingleTurn,
        [
            57.32, 17.79, 23.15, 3.30, 10.96, 3.03, 671.0, 1623.0, 4267.0,
        ],
    ),
    full(
        "GPT-4o",
        Setting::SingleTurn,
        [42.08, 31.81, 28.77, 3.40, 6.87, 2.26, 226.0, 506.0, 1992.0],
    ),
    full(
        "GPT-4o-mini",
        Setting::SingleTurn,
        [39.50, 30.60, 26.85, 4.00, 6.55, 2.40, 254.0, 548.0, 1684.0],
    ),
    full(
        "DeepSeek-R1",
        Setting::SingleTurn,
        [
            52.02, 17.48, 21.55, 4.34, 13.93, 4.11, 603.0, 1228.0, 5890.0,
        ],
    ),
    full(
        "DeepSeek-V3",
        Setting::SingleTurn,
        [48.51, 20.68, 23.80, 3.79, 9.58, 3.21, 343.0, 740.0, 3065.0],
    ),
    full(
        "Qwen-2.5-72B",
        Setting::SingleTurn,
        [43.21, 22.50, 23.97, 3.45, 8.20, 2.44, 358.0, 821.0, 3163.0],
    ),
    full(
        "Llama-3.3-70B",
        Setting::SingleTurn,
        [41.59, 23.85, 24.02, 4.87, 8.99, 3.49, 324.0, 658.0, 2548.0],
    ),
    full(
        "Qwen-2.5-32B",
        Setting::SingleTurn,
        [37.72, 23.30, 22.50, 3.40, 8.58, 2.57, 367.0, 685.0, 2832.0],
    ),
    full(
        "QwQ-32B",
        Setting::SingleTurn,
        [38.35, 23.83, 20.96, 5.37, 6.54, 2.73, 531.0, 919.0, 7673.0],
    ),
    full(
        "Qwen-2.5-14B",
        Setting::SingleTurn,
        [36.77, 24.05, 22.65, 4.14, 9.33, 3.31, 295.0, 513.0, 2674.0],
    ),
    full(
        "Llama-3.1-8B",
        Setting::SingleTurn,
        [32.98, 20.17, 18.02, 11.94, 8.52, 4.01, 405.0, 589.0, 3609.0],
    ),
    full(
        "Qwen-2.5-7B",
        Setting::SingleTurn,
        [34.38, 20.55, 19.67, 4.67, 9.09, 3.57, 366.0, 589.0, 3171.0],
    ),
    full(
        "Gemini-2.5-Pro",
        Setting::MultiTurn,
        [
            51.59, 17.23, 21.62, 4.77, 12.34, 4.33, 695.0, 1417.0, 5109.0,
        ],
    ),
    full(
        "GPT-4o",
        Setting::MultiTurn,
        [42.68, 28.51, 27.63, 3.55, 7.05, 2.48, 254.0, 555.0, 2439.0],
    ),
    full(
        "GPT-4o-mini",
        Setting::MultiTurn,
        [41.10, 26.53, 25.54, 4.08, 8.04, 2.87, 344.0, 782.0, 2702.0],
    ),
    full(
        "DeepSeek-R1",
        Setting::MultiTurn,
        [
            50.67, 15.17, 19.67, 4.51, 13.97, 4.32, 627.0, 1177.0, 4445.0,
        ],
    ),
    full(
        "DeepSeek-V3",
        Setting::MultiTurn,
        [49.06, 15.65, 19.38, 3.96, 10.12, 3.40, 444.0, 888.0, 5213.0],
    ),
    full(
        "Qwen-2.5-72B",
        Setting::MultiTurn,
        [44.51, 17.59, 20.20, 3.33, 9.28, 2.77, 484.0, 900.0, 3749.0],
    ),
    full(
        "Llama-3.3-70B",
        Setting::MultiTurn,
        [41.34, 20.15, 21.16, 5.46, 10.41, 4.25, 437.0, 760.0, 3170.0],
    ),
    full(
        "Qwen-2.5-32B",
        Setting::MultiTurn,
        [40.80, 20.34, 21.62, 3.53, 9.14, 3.02, 435.0, 746.0, 2968.0],
    ),
    full(
        "QwQ-32B",
        Setting::MultiTurn,
        [39.00, 19.78, 19.17, 5.38, 10.03, 3.92, 473.0, 815.0, 5250.0],
    ),
    full(
        "Qwen-2.5-14B",
        Setting::MultiTurn,
        [39.17, 21.11, 21.60, 4.03, 10.07, 3.22, 425.0, 824.0, 3672.0],
    ),
    full(
        "Llama-3.1-8B",
        Setting::MultiTurn,
        [34.67, 18.85, 18.35, 7.25, 9.39, 4.13, 479.0, 753.0, 4105.0],
    ),
    full(
        "Qwen-2.5-7B",
        Setting::MultiTurn,
        [36.21, 15.68, 17.15, 4.33, 10.65, 3.77, 547.0, 847.0, 4476.0],
    ),
];

/// Table 3: Qwen-2.5-7B without retrieval, and with each retrieval setting.
pub const RETRIEVAL: [PublishedRow; 7] = [
    brief(
        "w/o RAG",
        Setting::SingleTurn,
        [19.67, 3.57, 366.41, 588.70],
    ),
    brief("w/o RAG", Setting::MultiTurn, [17.15, 3.77, 546.79, 847.17]),
    brief("Base", Setting::SingleTurn, [42.92, 1.98, 193.42, 451.58]),
    brief("Base", Setting::MultiTurn, [42.55, 2.43, 269.65, 882.00]),
    brief("Last", Setting::MultiTurn, [41.59, 2.78, 231.50, 601.78]),
    brief("Rounds", Setting::MultiTurn, [43.15, 2.14, 215.84, 677.44]),
    brief("All", Setting::MultiTurn, [39.97, 2.48, 245.53, 561.50]),
];

/// Validation of the publication's judges by humans (section 3.3.1, appendix D.3, table 6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedValidation {
    /// SMAPE of the numbers of statements, over 100 answers.
    pub smape: f64,
    /// Share of human statements that the decomposer left out.
    pub omission_rate: f64,
    /// F1 of the judge against the majority of three humans, weighted by support, over 1,687 items.
    pub weighted_f1: f64,
    /// Cohen's κ of the three pairs of humans.
    pub pairwise_kappa: [f64; 3],
    /// Fleiss' κ of the three humans.
    pub fleiss_kappa: f64,
    /// Cohen's κ of each human with the majority.
    pub majority_kappa: [f64; 3],
}

/// The figures of the validation.
pub const VALIDATION: PublishedValidation = PublishedValidation {
    smape: 0.181,
    omission_rate: 0.059,
    weighted_f1: 0.836,
    pairwise_kappa: [0.60, 0.62, 0.63],
    fleiss_kappa: 0.62,
    majority_kappa: [0.80, 0.79, 0.81],
};

/// A row with all columns of table 8, in its order.
const fn full(system: &'static str, setting: Setting, printed: [f64; 9]) -> PublishedRow {
    let [
        recall,
        precision,
        f1,
        claims,
        facts,
        hallucination,
        entailed,
        contradicted,
        all,
    ] = printed;
    PublishedRow {
        table: 8,
        system,
        setting,
        factual_recall: Some(recall),
        factual_precision: Some(precision),
        factual_f1: f1,
        false_claim_rate: Some(claims),
        misrepresentation_rate: Some(facts),
        hallucination_f1: hallucination,
        tokens_per_entailed_fact: entailed,
        tokens_per_contradicted_fact: contradicted,
        tokens_to_cover_all: Some(all),
    }
}

/// A row with the four columns of table 3, in its order.
const fn brief(system: &'static str, setting: Setting, printed: [f64; 4]) -> PublishedRow {
    let [f1, hallucination, entailed, contradicted] = printed;
    PublishedRow {
        table: 3,
        system,
        setting,
        factual_recall: None,
        factual_precision: None,
        factual_f1: f1,
        false_claim_rate: None,
        misrepresentation_rate: None,
        hallucination_f1: hallucination,
        tokens_per_entailed_fact: entailed,
        tokens_per_contradicted_fact: contradicted,
        tokens_to_cover_all: None,
    }
}
