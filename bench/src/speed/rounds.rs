//! Turn after turn through every competitor, in an order that changes from turn to turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::answer;
use super::compare;
use super::extension::{Begun, Call, Extension};
use super::floor::Floor;
use super::python::{self, Python};
use super::workload::{Conversation, Question};
use crate::progress::Progress;
use crate::server::Address;

/// A turn as every competitor held it.
pub struct Turn {
    /// The two candidate queries alone.
    pub candidates: Duration,
    /// begin_turn and end_turn.
    pub begin: Call,
    /// As above.
    pub end: Call,
    /// The least that end_turn of the turn before had to do.
    pub floor: Option<Duration>,
    /// The same in Python.
    pub python: Option<PythonTurn>,
}

/// A turn in Python.
pub struct PythonTurn {
    /// Its candidate queries alone.
    pub candidates: Duration,
    /// Its two halves.
    pub begin: python::Call,
    /// As above.
    pub end: python::Call,
}

/// What was measured, the warm-up left out.
pub struct Rounds {
    /// The turns.
    pub turns: Vec<Turn>,
    /// Rows of both halves that were held against the Python competitor's.
    pub rows_compared: usize,
}

/// Holds the conversations, the first of them to warm up.
///
/// # Errors
/// Those of the server, and rows that differ between competitors.
pub fn run(
    address: &Address,
    conversations: &[Conversation],
    python: Option<&Path>,
) -> Result<Rounds> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let mut field = Field {
        extension: Extension::connect(address)?,
        floor: Floor::connect(address)?,
        python: python
            .map(|program| Python::start(program, address))
            .transpose()?,
        number: 0,
    };
    let total = conversations.iter().map(|one| one.questions.len()).sum();
    let progress = Progress::new("speed: turns", total);
    let mut turns = Vec::new();
    for (index, conversation) in conversations.iter().enumerate() {
        let name = format!("speed-{now}-{}", conversation.id);
        for question in &conversation.questions {
            let turn = field
                .turn(&name, question)
                .with_context(|| format!("conversation {name}: {}", question.query))?;
            progress.step(1);
            if index > 0 {
                turns.push(turn);
            }
        }
    }
    progress.finish();
    let rows_compared = turns
        .iter()
        .filter_map(|turn| turn.python.as_ref())
        .map(|turn| turn.begin.rows.len() + turn.end.rows.len())
        .sum();
    Ok(Rounds {
        turns,
        rows_compared,
    })
}

/// Everyone who takes part.
struct Field {
    extension: Extension,
    floor: Floor,
    python: Option<Python>,
    number: usize,
}

impl Field {
    fn turn(&mut self, conversation: &str, question: &Question) -> Result<Turn> {
        self.number += 1;
        let (mut candidates, mut begun) = (None, None);
        let (mut python_candidates, mut python_begun) = (None, None);
        for step in rotated([0, 1, 2, 3], self.number) {
            match (step, self.python.as_mut()) {
                (0, _) => candidates = Some(self.extension.candidates(question)?),
                (1, _) => begun = Some(self.extension.begin(conversation, question)?),
                (2, Some(python)) => python_candidates = Some(python.candidates(question)?),
                (3, Some(python)) => python_begun = Some(python.begin(conversation, question)?),
                _ => {}
            }
        }
        let Begun {
            call: begin,
            turn,
            sources,
        } = begun.context("nothing was begun")?;
        if let Some((python, _)) = &python_begun {
            compare::same(&begin.rows, &python.rows).context("begin_turn and Python differ")?;
        }

        let answer = answer::write(&sources).unwrap_or_else(|| "There is no source.".to_owned());
        let (mut end, mut floor, mut python_end) = (None, None, None);
        for step in rotated([0, 1, 2], self.number) {
            match (step, self.python.as_mut(), &python_begun) {
                (0, ..) => floor = self.floor.run()?,
                (1, ..) => end = Some(self.extension.end(turn, &answer)?),
                (2, Some(python), Some((_, turn))) => {
                    python_end = Some(python.end(*turn, &answer)?);
                }
                _ => {}
            }
        }
        let end = end.context("nothing was ended")?;
        if let Some(python) = &python_end {
            compare::same(&end.rows, &python.rows).context("end_turn and Python differ")?;
        }
        self.floor.take(turn)?;
        let python = match (python_candidates, python_begun, python_end) {
            (Some(candidates), Some((begin, _)), Some(end)) => Some(PythonTurn {
                candidates,
                begin,
                end,
            }),
            _ => None,
        };
        Ok(Turn {
            candidates: candidates.context("no candidates were asked for")?,
            begin,
            end,
            floor,
            python,
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
                let mut times = times.remove(&stage).unwrap_or_default();
                times.sort_unstable();
                let median = times.get(times.len() / 2).copied().unwrap_or_default();
                (stage, median)
            })
            .collect()
    }
}
