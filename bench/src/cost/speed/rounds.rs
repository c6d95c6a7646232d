//! Runs the turns. The order of the measurements changes from turn to turn.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::answer;
use super::extension::{Begun, Call, Extension};
use super::floor::Floor;
use super::hybrid::{HybridSearch, HybridSession};
use super::workload::{Conversation, Question};
use crate::database::server::Address;
use crate::progress::Progress;
use crate::statistics::times::median;

/// The measurements of one turn.
pub struct Turn {
    /// The two candidate queries alone.
    pub candidates: Duration,
    /// The hybrid searches, in the order of [`Rounds::searches`].
    pub hybrid: Vec<Duration>,
    /// `begin_turn`.
    pub begin: Call,
    /// `end_turn`.
    pub end: Call,
    /// The floor of `end_turn`, of the turn before.
    pub floor: Option<Duration>,
}

/// All measurements, without the warm-up.
pub struct Rounds {
    /// The turns.
    pub turns: Vec<Turn>,
    /// Names of the hybrid searches.
    pub searches: Vec<&'static str>,
}

/// Runs the conversations; the first is the warm-up.
///
/// # Errors
/// Errors of the server.
pub fn run(
    address: &Address,
    corpus: &str,
    conversations: &[Conversation],
    searches: &[HybridSearch],
) -> Result<Rounds> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let mut sessions = Sessions {
        extension: Extension::connect(address, corpus)?,
        hybrid: HybridSession::connect(address, searches)?,
        floor: Floor::connect(address)?,
        number: 0,
    };
    let total = conversations.iter().map(|one| one.questions.len()).sum();
    let progress = Progress::new("speed: turns", total);
    let mut turns = Vec::new();
    for (index, conversation) in conversations.iter().enumerate() {
        let name = format!("speed-{now}-{}", conversation.id);
        for question in &conversation.questions {
            let turn = sessions
                .turn(&name, question)
                .with_context(|| format!("conversation {name}: {}", question.query))?;
            progress.step(1);
            if index > 0 {
                turns.push(turn);
            }
        }
    }
    progress.finish();
    Ok(Rounds {
        turns,
        searches: searches.iter().map(|search| search.name).collect(),
    })
}

/// One session for each kind of measurement.
struct Sessions {
    extension: Extension,
    hybrid: HybridSession,
    floor: Floor,
    number: usize,
}

impl Sessions {
    fn turn(&mut self, conversation: &str, question: &Question) -> Result<Turn> {
        self.number += 1;
        let (mut candidates, mut begun, mut hybrid) = (None, None, Vec::new());
        for step in rotated([0, 1, 2], self.number) {
            match step {
                0 => candidates = Some(self.extension.candidates(question)?),
                1 => begun = Some(self.extension.begin(conversation, question)?),
                _ => hybrid = self.hybrid.run(question, self.number)?,
            }
        }
        let Begun {
            call: begin,
            turn,
            sources,
        } = begun.context("begin_turn was not called")?;

        let answer = answer::write(&sources).unwrap_or_else(|| "There is no source.".to_owned());
        let (mut end, mut floor) = (None, None);
        for step in rotated([0, 1], self.number) {
            match step {
                0 => floor = self.floor.run()?,
                _ => end = Some(self.extension.end(turn, &answer)?),
            }
        }
        self.floor.take(turn)?;
        Ok(Turn {
            candidates: candidates.context("the candidate queries were not run")?,
            hybrid,
            begin,
            end: end.context("end_turn was not called")?,
            floor,
        })
    }
}

/// The steps in the order of this turn.
fn rotated<const N: usize>(mut steps: [usize; N], turn: usize) -> [usize; N] {
    steps.rotate_left(turn % N);
    steps
}

impl Rounds {
    /// Median time of each stage of a function, in the order of the stages.
    pub fn stages(&self, calls: impl Fn(&Turn) -> &Call) -> Vec<(String, Duration)> {
        let mut order: Vec<String> = Vec::new();
        let mut times: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        for (stage, time) in self.turns.iter().flat_map(|turn| &calls(turn).stages) {
            if !order.contains(stage) {
                order.push(stage.clone());
            }
            times.entry(stage.clone()).or_default().push(*time);
        }
        order
            .into_iter()
            .map(|stage| {
                let times = times.remove(&stage).unwrap_or_default();
                (stage, median(times))
            })
            .collect()
    }
}
