//! Runs each ```sql block of the README and of the guide, from top to bottom, with one database per
//! page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use reground_tests::server::Database;

/// The fenced sql blocks of a Markdown text, each with the number of its first line.
fn sql_blocks(markdown: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (&mut open, line.trim_end()) {
            (None, "```sql") => open = Some((index + 2, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, block)), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn pages() -> Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(root.join("docs/guide"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages.push(root.join("README.md"));
    Ok(pages)
}

#[test]
fn every_sql_block_of_the_documentation_runs() -> Result<()> {
    let mut ran = 0;
    let mut faults = Vec::new();
    for (number, page) in pages()?.into_iter().enumerate() {
        let database = Database::create(&format!("docs_{number}"))?;
        let mut client = database.connect()?;
        let text = std::fs::read_to_string(&page)?;
        for (line, block) in sql_blocks(&text) {
            ran += 1;
            if let Err(error) = client.batch_execute(&block) {
                let cause = error
                    .as_db_error()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                faults.push(format!("{}:{line}: {cause}", page.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(ran > 20, "only {ran} blocks were found");
    Ok(())
}
