//! Results as Markdown on standard output.

use std::time::Duration;

use super::options::Options;
use crate::database::turn_session::TurnTimes;
use crate::statistics::times::{median, ms};

/// The times of one row.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    begin: Vec<Duration>,
    end: Vec<Duration>,
}

impl Measured {
    /// Adds a turn.
    pub fn add(&mut self, took: TurnTimes) {
        self.begin.push(took.begin);
        self.end.push(took.end);
    }
}

/// A row of a table: medians in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    name: String,
    begin: f64,
    end: f64,
}

impl Row {
    /// The medians of the times.
    pub fn new(name: String, measured: Measured) -> Self {
        Self {
            name,
            begin: ms(median(measured.begin)),
            end: ms(median(measured.end)),
        }
    }
}

/// Prints both tables; the ratios are to their first rows.
pub fn print(options: &Options, machine: &[(&str, String)], turns: &[Row], sizes: &[Row]) {
    println!("# Turns in long conversations and large databases\n");
    for (what, value) in machine {
        println!("- {what}: {value}");
    }
    println!(
        "\nMedians of {} consecutive turns per row, in milliseconds. Each round runs one turn of each row. Default settings, 12,707 \
         passages with both indexes. The ratio to the first row is in brackets.\n",
        options.rounds
    );
    println!("## Long conversations\n");
    table(turns);
    println!("## Many conversations\n");
    println!(
        "First turns of a conversation, in a database with remembered sources of other conversations, ten each, and as many markers.\n"
    );
    table(sizes);
}

fn table(rows: &[Row]) {
    println!("| | begin_turn | end_turn | both |");
    println!("|---|---:|---:|---:|");
    let Some(first) = rows.first() else {
        return;
    };
    for row in rows {
        let cell = |of: fn(&Row) -> f64| format!("{:.1} ({:.2})", of(row), of(row) / of(first));
        println!(
            "| {} | {} | {} | {} |",
            row.name,
            cell(|row| row.begin),
            cell(|row| row.end),
            cell(|row| row.begin + row.end)
        );
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_medians() {
        let mut measured = Measured::default();
        for (begin, end) in [(9, 1), (2, 3), (4, 2)] {
            let [begin, end] = [begin, end].map(Duration::from_millis);
            measured.add(TurnTimes { begin, end });
        }
        let row = Row::new("x".into(), measured);
        assert_eq!((row.begin, row.end), (4.0, 2.0));
    }
}
