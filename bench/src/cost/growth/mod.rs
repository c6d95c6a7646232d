//! The command `growth`: times of turns late in a conversation, and in a database with many conversations.

mod generate;
mod options;
mod report;

use anyhow::Result;

use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::turn_session::TurnSession;
use crate::database::{load, machine, server};
use options::Options;
use report::{Measured, Row};

/// Domain of the passages.
const DOMAIN: Domain = Domain::Clapnq;

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let corpus = Corpus::read(&folder, DOMAIN)?;
    let mut sessions = Vec::new();
    for (uri, sources) in [(&options.few, options.least), (&options.many, options.most)] {
        let address = server::resolve(uri)?;
        let mut client = server::connect(&address)?;
        load::load(&mut client, &corpus)?;
        generate::fill(&mut client, &DOMAIN.corpus(), sources)?;
        sessions.push((sources, TurnSession::new(client, &DOMAIN.corpus())?));
    }
    drop(corpus);
    let [(least, few), (most, many)] = &mut sessions[..] else {
        return Ok(());
    };

    let by_turn: Vec<String> = options
        .turns
        .iter()
        .map(|&turn| few.start_at_turn(turn))
        .collect::<Result<_>>()?;
    // The second database becomes as warm as the first one is from its longest conversation.
    many.start_at_turn(options.turns.iter().copied().max().unwrap_or(1))?;
    let fresh = [few.start_at_turn(1)?, many.start_at_turn(1)?];
    let mut turns: Vec<Measured> = vec![Measured::default(); by_turn.len()];
    let mut sizes = [Measured::default(), Measured::default()];
    // Each round has one turn of each row, so that other load affects all rows alike.
    for round in 0..options.rounds {
        for ((measured, name), turn) in turns.iter_mut().zip(&by_turn).zip(&options.turns) {
            measured.add(few.turn(name, turn - 1 + round)?);
        }
        sizes[0].add(few.turn(&fresh[0], round)?);
        sizes[1].add(many.turn(&fresh[1], round)?);
    }
    let named = options.turns.iter().zip(turns);
    let turns = named.map(|(turn, measured)| Row::new(format!("from turn {turn} on"), measured));
    let sizes = [*least, *most].into_iter().zip(sizes);
    let sizes = sizes.map(|(rows, measured)| Row::new(format!("{rows} sources"), measured));
    report::print(
        &options,
        &machine::describe(&mut few.client, &server::resolve(&options.few)?)?,
        &turns.collect::<Vec<_>>(),
        &sizes.collect::<Vec<_>>(),
    );
    Ok(())
}
