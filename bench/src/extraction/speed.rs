//! Speed of the extraction, and of the same forms as regular expressions of Python's `re`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reground_citations::{Families, extract};
use serde::Deserialize;

/// Path of the script.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/extraction.py");

/// The output of the script.
#[derive(Deserialize)]
struct Reply {
    seconds: f64,
    found: usize,
}

/// Passes per measurement, because the kernel counts processor time in steps of some milliseconds.
const PASSES: usize = 10;

/// Prints the throughput on one core in processor time: best and median of the rounds.
///
/// # Errors
/// An interpreter that does not start, or a script that fails.
pub fn print(answers: &[String], rounds: usize, python: Option<&Path>) -> Result<()> {
    let bytes: usize = answers.iter().map(String::len).sum();
    let rate = |took: f64| bytes as f64 / 1e6 / took;
    let mut rounds_took = Vec::with_capacity(rounds);
    for _ in 0..rounds.max(1) {
        let begun = clock()?;
        for answer in std::iter::repeat_n(answers, PASSES).flatten() {
            std::hint::black_box(extract(std::hint::black_box(answer), &Families::ALL));
        }
        let took = clock()?.saturating_sub(begun);
        rounds_took.push(took.as_secs_f64() / PASSES as f64);
    }
    rounds_took.sort_unstable_by(f64::total_cmp);
    let (best, median) = (rounds_took[0], rounds_took[rounds_took.len() / 2]);
    println!("## Speed\n");
    println!(
        "{:.2} MB in {:.1} ms on one core: {:.0} MB/s, with sentences and claims; {:.0} in the median of {} rounds.",
        bytes as f64 / 1e6,
        best * 1e3,
        rate(best),
        rate(median),
        rounds_took.len()
    );
    if let Some(python) = python {
        let reply = ask(python, answers, rounds)?;
        println!(
            "Python's re finds {} citation strings at {:.2} MB/s, without sentences and claims; it takes {:.0} times as long.",
            reply.found,
            rate(reply.seconds),
            reply.seconds / best
        );
    }
    println!();
    Ok(())
}

/// Processor time of this thread, from Linux' `schedstat`; other load does not affect it.
fn clock() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let run = stat
        .split_whitespace()
        .next()
        .context("schedstat is empty")?;
    Ok(Duration::from_nanos(run.parse()?))
}

fn ask(python: &Path, answers: &[String], rounds: usize) -> Result<Reply> {
    let mut child = Command::new(python)
        .args([SCRIPT, "--rounds", &rounds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", python.display()))?;
    let mut input = child.stdin.take().context("no standard input")?;
    input.write_all(&serde_json::to_vec(answers)?)?;
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{SCRIPT} fails");
    serde_json::from_slice(&output.stdout).with_context(|| SCRIPT.to_owned())
}
