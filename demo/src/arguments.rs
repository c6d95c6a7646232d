//! Command-line arguments of the demo.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

/// `reground-demo --uri URI --docs FOLDER [--worker ADDRESS]`
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// libpq URI of a database with the extension.
    pub uri: String,
    /// Folder with .md and .txt files.
    pub docs: PathBuf,
    /// Base address of the worker. Without a worker, search is lexical only.
    pub worker: Option<String>,
}

impl Arguments {
    /// Parses the arguments after the program name.
    ///
    /// # Errors
    /// An unknown option, an option without a value, or a missing option.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Self> {
        const USAGE: &str = "usage: reground-demo --uri URI --docs FOLDER [--worker ADDRESS]";
        let (mut uri, mut docs, mut worker) = (None, None, None);
        let mut words = words;
        while let Some(option) = words.next() {
            let slot = match option.as_str() {
                "--uri" => &mut uri,
                "--docs" => &mut docs,
                "--worker" => &mut worker,
                other => bail!("unknown option {other}\n{USAGE}"),
            };
            *slot = Some(
                words
                    .next()
                    .with_context(|| format!("{option} needs a value\n{USAGE}"))?,
            );
        }
        Ok(Self {
            uri: uri.with_context(|| format!("--uri is missing\n{USAGE}"))?,
            docs: docs
                .with_context(|| format!("--docs is missing\n{USAGE}"))?
                .into(),
            worker,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments> {
        Arguments::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_can_be_in_any_order() {
        let read = read("--docs manual --uri postgresql://h/d").unwrap();
        assert_eq!((read.uri.as_str(), read.worker), ("postgresql://h/d", None));
    }

    #[test]
    fn missing_options_are_errors() {
        for (line, message) in [
            ("--uri u", "--docs is missing"),
            ("--uri", "--uri needs a value"),
            ("--verbose", "unknown option --verbose"),
        ] {
            assert!(read(line).unwrap_err().to_string().starts_with(message));
        }
    }
}
