//! Long answers of a dozen models, unchanged.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use reground_citations::{Families, extract};
use serde::Deserialize;

use crate::data::json_lines;

#[derive(Deserialize)]
struct Report {
    article: String,
}

#[derive(Deserialize)]
struct Scholar {
    answer_text: String,
}

#[derive(Deserialize)]
struct Summary {
    summary: Vec<String>,
}

/// The answers of all three files, in order.
///
/// # Errors
/// A missing or malformed file.
pub fn answers(data: &Path) -> Result<Vec<String>> {
    let folder = data.join("raw_answers");
    let reports: Vec<Report> =
        json_lines(&folder.join("deep_research_bench_claude-3-7-sonnet_raw.jsonl.gz"))?;
    let scholars: Vec<Scholar> =
        json_lines(&folder.join("scholarqabench_openscholar_gpt4o.jsonl.gz"))?;
    let path = folder.join("summhay_eval_benchmark_data.json.gz");
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    let summaries: Vec<Summary> = serde_json::from_reader(MultiGzDecoder::new(file))
        .with_context(|| path.display().to_string())?;
    let reports = reports.into_iter().map(|report| report.article);
    let scholars = scholars.into_iter().map(|scholar| scholar.answer_text);
    let summaries = summaries
        .into_iter()
        .map(|summary| summary.summary.join("\n"));
    Ok(reports.chain(scholars).chain(summaries).collect())
}

/// Prints the number of citations of each form.
pub fn print(answers: &[String]) {
    let mut forms: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut rows, mut sentences, mut claims) = (0, 0, 0);
    for answer in answers {
        let extraction = extract(answer, &Families::ALL);
        let mut last = None;
        for citation in &extraction.citations {
            let (strings, things) = forms.entry(citation.form.to_string()).or_default();
            *strings += usize::from(last != Some(citation.span.bytes.start));
            *things += 1;
            last = Some(citation.span.bytes.start);
        }
        rows += extraction.citations.len();
        sentences += extraction.sentences.len();
        claims += extraction.claims.len();
    }
    println!("## {} raw answers\n", answers.len());
    println!("{rows} citations on {claims} claims of {sentences} sentences.\n");
    println!("| form | strings | cited things |\n|---|---:|---:|");
    for (form, (strings, things)) in &forms {
        println!("| {form} | {strings} | {things} |");
    }
    println!();
}
