//! Runs each ```sql block of the README and of the guide, from top to bottom, with one database per page, and compares the results of
//! psql sessions with the printed rows.

use std::path::{Path, PathBuf};

use anyhow::Result;
use postgres::{Client, SimpleQueryMessage, SimpleQueryRow};
use reground_tests::server::Database;

/// The statements of a page, in order: each sql block as a whole, and each statement of a psql session with its printed rows.
struct Step {
    /// Number of its first line.
    line: usize,
    sql: String,
    /// The printed rows, as trimmed cells; `None` for a sql block.
    printed: Option<Vec<Vec<String>>>,
}

/// The steps of a Markdown text. A psql session is a text block with the prompt `=> `.
fn steps(markdown: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut open: Option<(&str, usize, String)> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (&mut open, line.trim_end()) {
            (None, "```sql") => open = Some(("sql", index + 2, String::new())),
            (None, "```text") => open = Some(("text", index + 2, String::new())),
            (Some(_), "```") => match open.take() {
                Some(("text", line, block)) => steps.extend(session(line, &block)),
                Some((_, line, sql)) => steps.push(Step {
                    line,
                    sql,
                    printed: None,
                }),
                None => {}
            },
            (Some((_, _, block)), line) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    steps
}

/// The statements of a psql session with their printed rows.
fn session(first_line: usize, block: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = (first_line..).zip(block.lines());
    while let Some((line, text)) = lines.next() {
        let Some(start) = text.strip_prefix("=> ") else {
            continue;
        };
        let mut sql = start.to_owned();
        while !sql.trim_end().ends_with(';') {
            let more = lines.next();
            assert!(more.is_some(), "line {line}: the statement has no end");
            sql.push('\n');
            sql.extend(more.map(|(_, text)| text));
        }
        let table = lines
            .by_ref()
            .map(|(_, row)| row)
            .take_while(|row| !row.is_empty());
        // The first two lines are the names of the columns and a rule.
        let cells = |row: &str| row.split('|').map(|cell| cell.trim().to_owned()).collect();
        let printed = table.skip(2).map(cells).collect();
        steps.push(Step {
            line,
            sql,
            printed: Some(printed),
        });
    }
    steps
}

/// The rows of a statement, with NULL as an empty text, as psql prints them.
fn rows(client: &mut Client, sql: &str) -> std::result::Result<Vec<Vec<String>>, postgres::Error> {
    let messages = client.simple_query(sql)?;
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let cells = |row: SimpleQueryRow| {
        (0..row.len())
            .map(|column| row.get(column).unwrap_or_default().trim().to_owned())
            .collect()
    };
    Ok(rows.map(cells).collect())
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
