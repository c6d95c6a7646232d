//! Runs each ```sql block of the README and of the guide, from top to bottom, with one database per page, and compares the results of
//! psql sessions with the printed rows.

use std::path::{Path, PathBuf};

use anyhow::Result;
use reground_tests::pages::{rows, steps};
use reground_tests::server::Database;

fn pages() -> Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(root.join("docs/guide"))? {
        let path = entry?.path();
        // tests/start.rs runs the page "From a table to a cited chat".
        if path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("start.md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages.push(root.join("README.md"));
    Ok(pages)
}

#[test]
fn every_statement_of_the_documentation_runs_and_prints_what_it_says() -> Result<()> {
    let (mut blocks, mut results) = (0, 0);
    let mut faults = Vec::new();
    for (number, page) in pages()?.into_iter().enumerate() {
        let database = Database::create(&format!("docs_{number}"))?;
        let mut client = database.connect()?;
        let text = std::fs::read_to_string(&page)?;
        for step in steps(&text) {
            let place = format!("{}:{}", page.display(), step.line);
            match (rows(&mut client, &step.sql), step.printed) {
                (Err(error), _) => {
                    let cause = error
                        .as_db_error()
                        .map_or_else(|| error.to_string(), ToString::to_string);
                    faults.push(format!("{place}: {cause}"));
                }
                (Ok(_), None) => blocks += 1,
                (Ok(found), Some(printed)) => {
                    results += 1;
                    if found != printed {
                        faults.push(format!("{place}: {found:?} instead of {printed:?}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(blocks > 20, "only {blocks} blocks were found");
    assert!(results > 1, "only {results} printed results were found");
    Ok(())
}
