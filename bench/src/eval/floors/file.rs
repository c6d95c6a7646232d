//! The lower bound of each figure, in a file of the repository. Commands raise floors and never lower them. docs/evaluation.md
//! explains each floor that was lowered by hand.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::figures::Figure;

/// Floors are multiples of 1 / STEPS.
const STEPS: f64 = 10_000.0;

/// Actions on the floors.
#[derive(Debug, Clone, Copy)]
pub struct FloorActions {
    /// Fail if a figure is below its floor.
    pub check: bool,
    /// Raise the floors to the measured values.
    pub ratchet: bool,
}

/// The floors of a file.
pub struct Floors {
    path: PathBuf,
    wanted: FloorActions,
    kept: FloorFile,
}

/// Floors by the name of the figure.
type ByName = BTreeMap<String, f64>;

/// The file: floors of the whole evaluation and of the sample.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FloorFile {
    full: ByName,
    sample: ByName,
}

/// A figure that is below its floor, or was not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Below {
    /// The figure.
    pub name: String,
    /// Its floor.
    pub floor: f64,
    /// The measured value.
    pub measured: Option<f64>,
}

impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.measured {
            Some(value) => write!(
                f,
                "{}: {value:.4} is below its floor {:.4}",
                self.name, self.floor
            ),
            None => write!(
                f,
                "{}: not measured, its floor is {:.4}",
                self.name, self.floor
            ),
        }
    }
}

/// A raised floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Raised {
    /// The figure.
    pub name: String,
    /// The old floor, if there was one.
    pub from: Option<f64>,
    /// The new floor.
    pub to: f64,
}

/// The figures and their floors.
pub struct Comparison {
    /// Number of floors.
    pub floors: usize,
    /// Figures below their floors.
    pub below: Vec<Below>,
    /// The new floors, if floors are to be raised.
    pub raised: Option<Vec<Raised>>,
}

impl Floors {
    /// Reads the file; a missing file has no floors, and only `ratchet` accepts it.
    ///
    /// # Errors
    /// A file that is malformed, or missing without `ratchet`.
    pub fn read(path: PathBuf, wanted: FloorActions) -> Result<Self> {
        let kept = if path.exists() || !wanted.ratchet {
            parse(&std::fs::read_to_string(&path).with_context(|| of(&path))?)
                .with_context(|| of(&path))?
        } else {
            FloorFile::default()
        };
        Ok(Self { path, wanted, kept })
    }

    /// Compares the figures with the floors of the sample or of the whole.
    pub fn compare(&self, sample: bool, figures: &[Figure]) -> Comparison {
        let floors = if sample {
            &self.kept.sample
        } else {
            &self.kept.full
        };
        Comparison {
            floors: floors.len(),
            below: below(floors, figures),
            raised: self.wanted.ratchet.then(|| raised(floors, figures)),
        }
    }

    /// Whether a figure below its floor is an error.
    pub fn check(&self) -> bool {
        self.wanted.check
    }

    /// Writes the file with raised floors.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, sample: bool, raised: &[Raised]) -> Result<()> {
        let mut kept = FloorFile {
            full: self.kept.full.clone(),
            sample: self.kept.sample.clone(),
        };
        let floors = if sample {
            &mut kept.sample
        } else {
            &mut kept.full
        };
        floors.extend(raised.iter().map(|raised| (raised.name.clone(), raised.to)));
        let text = serde_json::to_string_pretty(&kept)? + "\n";
        std::fs::write(&self.path, text).with_context(|| of(&self.path))
    }
}

fn of(path: &Path) -> String {
    format!("floors of {}", path.display())
}

fn parse(text: &str) -> Result<FloorFile> {
    let kept: FloorFile = serde_json::from_str(text)?;
    for (name, floor) in kept.full.iter().chain(&kept.sample) {
        ensure!(
            (0.0..=1.0).contains(floor),
            "{name} has the floor {floor}, which is not in [0, 1]"
        );
    }
    Ok(kept)
}

/// The figures below their floors, and the floors whose figures were not measured.
fn below(floors: &ByName, figures: &[Figure]) -> Vec<Below> {
    floors
        .iter()
        .map(|(name, &floor)| Below {
            name: name.clone(),
            floor,
            measured: measured(name, figures),
        })
        // Tolerates rounding: another machine may sum the values of a mean in another order.
        .filter(|one| one.measured.is_none_or(|value| value + 1e-9 < one.floor))
        .collect()
}

/// The raised floors: the measured value minus its margin, rounded down.
fn raised(floors: &ByName, figures: &[Figure]) -> Vec<Raised> {
    figures
        .iter()
        .map(|figure| Raised {
            name: figure.name.clone(),
            from: floors.get(&figure.name).copied(),
            // The small addend keeps a value that is one bit below a multiple of the step.
            to: ((figure.value - figure.margin).max(0.0) * STEPS + 1e-6).floor() / STEPS,
        })
        .filter(|raised| raised.from.is_none_or(|from| raised.to > from))
        .collect()
}

fn measured(name: &str, figures: &[Figure]) -> Option<f64> {
    figures
        .iter()
        .find(|figure| figure.name == name)
        .map(|figure| figure.value)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
