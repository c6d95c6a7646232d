//! The command `extraction`: citations read out of real answers, held against what they literally cite.

mod literal;
mod options;
mod raw;
mod sample;
mod speed;

use anyhow::Result;

use self::options::{Options, USAGE};

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Arguments that are none, data that cannot be read, an interpreter that refuses.
pub fn run(parser: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(parser)? else {
        println!("{USAGE}");
        return Ok(());
    };
    literal::print(&literal::answers(&options.data)?);
    let raw = raw::answers(&options.data)?;
    raw::print(&raw);
    speed::print(&raw, options.rounds, options.python.as_deref())?;
    sample::print(&raw, options.show, options.seed);
    Ok(())
}
