//! The command `simulation`: the published ten-turn table of strategies, compared with its own model and with measured replays.

mod fitted;
pub mod measured;
mod model;
mod options;
mod printed;
mod report;

use anyhow::Result;

use fitted::Fitted;
use options::Options;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable measurements.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let measured = options
        .measured
        .as_deref()
        .map(measured::read)
        .transpose()?;
    let fitted = Fitted::to_the_table()?;
    let stated = fitted.as_stated();
    report::parameters(&fitted);
    report::table(&fitted.conversation, &stated, measured.as_deref());
    report::ablation(&fitted.conversation);
    report::verdicts(&fitted)?;
    report::replays(&fitted.conversation.model, measured.as_deref());
    Ok(())
}
