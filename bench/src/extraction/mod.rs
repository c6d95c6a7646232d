//! The command `extraction`: citations extracted from real answers, compared with human labels.

mod expertqa;
mod options;
mod raw_answers;
mod sample;
mod speed;

use anyhow::{Result, ensure};

use self::options::{Options, USAGE};

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the interpreter, with `--check` a citation that was not found.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let f1 = expertqa::print(&expertqa::answers(&options.data)?);
    let raw = raw_answers::answers(&options.data)?;
    raw_answers::print(&raw);
    speed::print(&raw, options.rounds, options.python.as_deref())?;
    sample::print(&raw, options.show, options.seed);
    // Literal citations must all be found, so the floor is 1.
    ensure!(!options.check || f1 == 1.0, "F1 is {f1}, its floor is 1");
    Ok(())
}
