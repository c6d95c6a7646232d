//! Turns per second with several sessions, and pairs of candidate queries per second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};

use super::answer;
use super::extension::Extension;
use super::workload::Conversation;
use crate::database::server::Address;

/// Rates of both measurements.
pub struct Throughput {
    /// Sessions.
    pub clients: usize,
    /// Pairs of candidate queries per second.
    pub candidates: f64,
    /// Whole turns per second, with their commits.
    pub turns: f64,
}

/// Alternates both measurements twice; each takes `length` in total.
///
/// # Errors
/// Errors of the server.
pub fn measure(
    address: &Address,
    corpus: &str,
    conversations: &[Conversation],
    clients: usize,
    length: Duration,
) -> Result<Throughput> {
    const TIMES: u32 = 2;
    let mut sessions = (0..clients)
        .map(|_| Extension::connect(address, corpus))
        .collect::<Result<Vec<_>>>()?;
    let (mut candidates, mut turns) = (0.0, 0.0);
    for _ in 0..TIMES {
        for whole in [false, true] {
            let rate = rate(&mut sessions, conversations, length / TIMES, whole)?;
            let sum = if whole { &mut turns } else { &mut candidates };
            *sum += rate / f64::from(TIMES);
        }
    }
    Ok(Throughput {
        clients,
        candidates,
        turns,
    })
}

/// Turns (`whole`) or pairs of candidate queries per second, of all sessions together.
fn rate(
    sessions: &mut [Extension],
    conversations: &[Conversation],
    length: Duration,
    whole: bool,
) -> Result<f64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let work = |session: &mut Extension| -> Result<usize> {
        let mut done = 0;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let conversation = &conversations[number % conversations.len()];
            let name = format!("rate-{now}-{number}");
            for question in &conversation.questions {
                if begun.elapsed() >= length {
                    return Ok(done);
                }
                if whole {
                    let turn = session.begin(&name, question)?;
                    if let Some(answer) = answer::write(&turn.sources) {
                        session.end(turn.turn, &answer)?;
                    }
                } else {
                    session.candidates(question)?;
                }
                done += 1;
            }
        }
    };
    let done = thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter_mut()
            .map(|session| scope.spawn(|| work(session)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(anyhow!("a session panicked")))
            })
            .sum::<Result<usize>>()
    })?;
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}
