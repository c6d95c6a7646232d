//! The sql blocks and psql sessions of a Markdown page.

use postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

/// A sql block of a page as a whole, or a statement of a psql session with its printed rows.
#[derive(Debug)]
pub struct Step {
    /// Number of its first line.
    pub line: usize,
    /// One statement or several.
    pub sql: String,
    /// The printed rows, as trimmed cells; `None` for a sql block.
    pub printed: Option<Vec<Vec<String>>>,
}

/// The steps of a Markdown text, in order. A psql session is a text block with the prompt `=> `.
///
/// # Panics
/// If a block or a statement is not closed.
#[must_use]
pub fn steps(markdown: &str) -> Vec<Step> {
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
///
/// # Errors
/// If the statement fails.
pub fn rows(
    client: &mut Client,
    sql: &str,
) -> std::result::Result<Vec<Vec<String>>, postgres::Error> {
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
