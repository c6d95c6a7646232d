//! The command `extraction`: citations read out of real answers, held against what they literally cite.

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
/// Arguments that are none, data that cannot be read, an interpreter that refuses, a citation that was not read.
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
    // What stands there literally is read, or it is not.
    ensure!(
        !options.check || f1 == 1.0,
        "F1 of {f1} where 1 is the floor"
    );
    Ok(())
}
