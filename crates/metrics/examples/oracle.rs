//! Computes measures for cases on standard input, one JSON object per line, and writes one JSON object of values per case.
//! `oracle/compare.py` generates the cases and compares the values with reference implementations.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufWriter, Write, stdin, stdout};

use reground_metrics::comparison::{Answer, shares};
use reground_metrics::mann_whitney::{Method, two_sided};
use reground_metrics::proportion::wilson;
use reground_metrics::ranking::{average_precision, ndcg, precision, recall, reciprocal_rank, run};
use reground_metrics::rouge::rouge_l;
use reground_metrics::squad::{exact_match, token_f1};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "measure", rename_all = "snake_case")]
enum Case {
    Ranking {
        judged: BTreeMap<String, f64>,
        scored: BTreeMap<String, f64>,
        k: usize,
    },
    MannWhitney {
        first: Vec<f64>,
        second: Vec<f64>,
    },
    Wilson {
        successes: u64,
        trials: u64,
        confidence: f64,
    },
    Shares {
        answers: Vec<Answer>,
    },
    RougeL {
        text: String,
        reference: String,
    },
    Squad {
        answer: String,
        reference: String,
    },
}

/// The value is null when a measure is undefined.
type Values = BTreeMap<&'static str, Option<f64>>;

fn measure(case: Case) -> Values {
    let truth = |is_so| f64::from(u8::from(is_so));
    match case {
        Case::Ranking { judged, scored, k } => {
            let ranking = run(scored.into_iter().collect());
            Values::from([
                ("ndcg_cut", ndcg(&ranking, &judged, k)),
                ("recall", recall(&ranking, &judged, k)),
                ("P", precision(&ranking, &judged, k)),
                ("recip_rank", reciprocal_rank(&ranking, &judged)),
                ("map", average_precision(&ranking, &judged)),
            ])
        }
        Case::MannWhitney { first, second } => {
            let test = two_sided(&first, &second);
            Values::from([
                ("statistic", test.map(|test| test.statistic)),
                ("p_value", test.map(|test| test.p_value)),
                ("effect", test.map(|test| test.effect)),
                (
                    "exact",
                    test.map(|test| truth(test.method == Method::Exact)),
                ),
            ])
        }
        Case::Wilson {
            successes,
            trials,
            confidence,
        } => {
            let interval = wilson(successes, trials, confidence);
            Values::from([
                ("low", interval.map(|interval| interval.low)),
                ("high", interval.map(|interval| interval.high)),
            ])
        }
        Case::Shares { answers } => {
            let found = shares(&answers);
            Values::from([
                ("p_value", found.map(|found| found.p_value)),
                ("difference", found.map(|found| found.difference)),
                ("low", found.map(|found| found.low)),
                ("high", found.map(|found| found.high)),
                ("effect", found.map(|found| found.effect)),
            ])
        }
        Case::RougeL { text, reference } => {
            let shared = rouge_l(&text, &reference);
            Values::from([
                ("precision", shared.map(|shared| shared.precision)),
                ("recall", shared.map(|shared| shared.recall)),
                ("f1", shared.map(|shared| shared.f1)),
            ])
        }
        Case::Squad { answer, reference } => Values::from([
            ("exact_match", Some(truth(exact_match(&answer, &reference)))),
            ("f1", Some(token_f1(&answer, &reference))),
        ]),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = BufWriter::new(stdout().lock());
    for line in stdin().lines() {
        let values = measure(serde_json::from_str(&line?)?);
        writeln!(output, "{}", serde_json::to_string(&values)?)?;
    }
    Ok(output.flush()?)
}
