//! The command line of the commands that run turns with different settings in rounds.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;

const USAGE: &str = "--uri URI --data FOLDER [OPTION]…

  --uri URI      database with the extension
  --data FOLDER  folder that contains mtrag/
  --rounds N     turns with each of the settings (default 60)";

/// Parsed arguments.
pub struct Options {
    /// Database with the extension.
    pub uri: String,
    /// Folder that contains mtrag/.
    pub data: PathBuf,
    /// Turns with each of the settings.
    pub rounds: usize,
}

impl Options {
    /// Reads the arguments of a command. For help it prints the usage and returns `None`.
    ///
    /// # Errors
    /// Unknown options, missing required options, numbers out of range.
    pub fn read(command: &str, mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let usage = format!("usage: reground-bench {command} {USAGE}");
        let (mut uri, mut data, mut rounds) = (None, None, 60);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => {
                    println!("{usage}");
                    return Ok(None);
                }
                Long("uri") => uri = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{usage}", other.unexpected()),
            }
        }
        ensure!(rounds > 0, "--rounds must be at least 1");
        Ok(Some(Self {
            uri: required(uri, "--uri", &usage)?,
            data: required(data, "--data", &usage)?,
            rounds,
        }))
    }
}

/// The percentile of the times, as a share (nearest rank).
pub fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share * sorted.len() as f64).ceil().max(1.0) as usize - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(
            (percentile(&times, 0.5), percentile(&times, 0.95)),
            (10.0, 19.0)
        );
        assert_eq!(percentile(&[7.0], 0.95), 7.0);
    }
}
