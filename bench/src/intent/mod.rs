//! The command `intent`: accuracy of the intent classification, by the public functions of the crate.

mod comparisons;
mod conversations;
mod cross_validation;
mod labelled_turns;
mod options;
mod past_turns;
mod report;
mod scores;

use anyhow::{Result, ensure};

use crate::data::{Domain, Folder};
use conversations::{Conversation, Library};
use cross_validation::Cases;
use labelled_turns::{SpliceKind, later_turns, new_topics};
use options::Options;
use past_turns::KnownHistory;

/// Lower bounds of the macro-F1 and of the AUROC of new topics, on held-out conversations with all history known. They are raised
/// when a figure rises, never lowered.
const FLOORS: (f64, f64) = (0.67, 0.95);

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments, missing data, figures below their floors.
pub fn run(arguments: lexopt::Parser) -> Result<()> {
    let Some(options) = Options::read(arguments)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let folder = Folder::below(&options.data)?;
    let read = |domain| Library::read(&folder, domain);
    let libraries: Vec<Library> = Domain::ORIGINAL
        .into_iter()
        .map(read)
        .collect::<Result<_>>()?;
    let mut conversations: Vec<Conversation> = Vec::new();
    for library in &libraries {
        conversations.extend(library.conversations(&folder)?);
    }
    let later = later_turns(&libraries, &conversations);
    let kinds = [SpliceKind::Opening, SpliceKind::Rewrite];
    let mut examples = new_topics(&libraries, &conversations, &later, &kinds, 2);
    examples.extend(&later);

    report::heading(&examples);
    let mut reached = (0.0, 0.0);
    for known in KnownHistory::ALL {
        let cases = Cases::of(&libraries, &examples, known);
        let (held_out, shipped) = (cases.held_out(&cases), cases.as_shipped());
        reached = report::row(known, &held_out, &shipped);
        if options.weights {
            report::weights(&cases.weights());
        }
        if known == KnownHistory::ALL[KnownHistory::ALL.len() - 1] {
            report::classes(&held_out);
            report::reliability(&held_out);
            report::dependency(&held_out);
        }
    }
    report::splices_heading();
    for kind in SpliceKind::ALL {
        let spliced = new_topics(&libraries, &conversations, &later, &[kind], 1);
        let held_out = |known| {
            let cases = Cases::of(&libraries, &examples, known);
            let later = Cases::of(&libraries, &later, known).held_out(&cases);
            (
                Cases::of(&libraries, &spliced, known).held_out(&cases),
                later,
            )
        };
        report::splices(kind, &KnownHistory::ALL.map(held_out));
    }
    report::comparisons(
        &comparisons::labelled(&conversations),
        &comparisons::seeded(&libraries),
    );
    let (macro_f1, auroc) = FLOORS;
    ensure!(
        !options.check || (reached.0 >= macro_f1 && reached.1 >= auroc),
        "below the floors: macro-F1 {:.3} of {macro_f1}, AUROC {:.3} of {auroc}",
        reached.0,
        reached.1
    );
    Ok(())
}
