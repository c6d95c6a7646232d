//! The command `keys`: what the encryption of sources adds to a turn.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use lexopt::prelude::{Long, ValueExt};

use crate::arguments::required;
use crate::data::corpus::Corpus;
use crate::data::{Domain, Folder};
use crate::database::turn_session::{TurnSession, TurnTimes};
use crate::database::{load, machine, server};
use crate::statistics::times::{ms, percentile};

/// Domain of the passages.
const DOMAIN: Domain = Domain::Clapnq;

/// Turns of a conversation.
const TURNS: usize = 10;

const USAGE: &str = "usage: reground-bench keys --uri URI --sealed URI --data FOLDER [OPTION]…

  --uri URI      database with the extension and without keys
  --sealed URI   another database of the same server, in which the command makes keys
  --data FOLDER  folder that contains mtrag/
  --rounds N     turns in each database (default 400)";

/// Gives the session a master key, and its tenant a key.
const KEYS: &str = "SELECT set_config('reground.master_key', repeat('5', 64), false); \
                    SELECT reground.rotate_tenant_key() WHERE NOT EXISTS (SELECT FROM reground.tenant_keys)";

/// Parsed arguments.
struct Options {
    plain: String,
    sealed: String,
    data: PathBuf,
    rounds: usize,
}

impl Options {
    /// Reads the arguments; `None` for help.
    fn read(mut parser: lexopt::Parser) -> Result<Option<Self>> {
        let (mut plain, mut sealed, mut data, mut rounds) = (None, None, None, 400);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") => return Ok(None),
                Long("uri") => plain = Some(parser.value()?.string()?),
                Long("sealed") => sealed = Some(parser.value()?.string()?),
                Long("data") => data = Some(PathBuf::from(parser.value()?)),
                Long("rounds") => rounds = parser.value()?.parse()?,
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        ensure!(rounds > 0, "--rounds must be at least 1");
        Ok(Some(Self {
            plain: required(plain, "--uri", USAGE)?,
            sealed: required(sealed, "--sealed", USAGE)?,
            data: required(data, "--data", USAGE)?,
            rounds,
        }))
    }
}

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, unreadable data, errors of the server, encrypted sources in the first database, or none in the second.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let corpus = Corpus::read(&Folder::below(&options.data)?, DOMAIN)?;
    let mut sessions = Vec::new();
    for (uri, keys) in [(&options.plain, ""), (&options.sealed, KEYS)] {
        let mut client = server::connect(&server::resolve(uri)?)?;
        load::load(&mut client, &corpus)?;
        client.batch_execute(keys)?;
        sessions.push(TurnSession::new(client, &DOMAIN.corpus())?);
    }
    drop(corpus);
    let mut times = [Vec::new(), Vec::new()];
    let mut names = vec![String::new(); sessions.len()];
    // Each round has a turn in each database, and each is the first in every other round. The first conversation is the warm-up.
    for round in 0..options.rounds + TURNS {
        if round % TURNS == 0 {
            for (session, name) in sessions.iter_mut().zip(&mut names) {
                *name = session.start_with_settings(&round.to_string(), "{}")?;
            }
        }
        for place in [round % 2, 1 - round % 2] {
            let took = sessions[place].turn(&names[place], round)?;
            if round >= TURNS {
                times[place].push(took);
            }
        }
    }
    for (session, sealed) in sessions.iter_mut().zip([false, true]) {
        let found: bool = session.client.query_one(
            "SELECT coalesce(bool_or(title LIKE 'sealed:%'), false) FROM reground.message_citations",
            &[],
        )?.get(0);
        ensure!(
            found == sealed,
            "a database has encrypted sources: {found}, expected: {sealed}"
        );
    }
    println!("# The cost of encrypted sources\n");
    let address = server::resolve(&options.plain)?;
    for (what, value) in machine::describe(&mut sessions[0].client, &address)? {
        println!("- {what}: {value}");
    }
    println!(
        "\n{} turns in each database, one of each per round, in conversations of {TURNS} turns over 12,707 passages. Median times in milliseconds, and \
         the median of the ratios to the turn of the same round without keys.\n",
        options.rounds
    );
    print(&times);
    Ok(())
}

/// The time of a part of a turn, in milliseconds.
type Part = fn(&TurnTimes) -> f64;

fn print([plain, sealed]: &[Vec<TurnTimes>; 2]) {
    println!("| | without keys | with keys | ratio |");
    println!("|---|---:|---:|---:|");
    let parts: [(&str, Part); 3] = [
        ("begin_turn", |took| ms(took.begin)),
        ("end_turn", |took| ms(took.end)),
        ("both", |took| ms(took.begin + took.end)),
    ];
    for (name, part) in parts {
        let [plain, sealed] =
            [plain, sealed].map(|times| -> Vec<f64> { times.iter().map(part).collect() });
        let ratios = sealed
            .iter()
            .zip(&plain)
            .map(|(sealed, plain)| sealed / plain);
        println!(
            "| {name} | {:.2} | {:.2} | {:.3} |",
            percentile(&plain, 0.5),
            percentile(&sealed, 0.5),
            percentile(&ratios.collect::<Vec<_>>(), 0.5)
        );
    }
}
