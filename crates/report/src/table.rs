//! Tables. Each cell names its column, because a narrow screen shows a row as a list of its cells, without the heading.

use crate::html::{Html, shortened};
use crate::page::count;

/// A column: its name and the CSS class of its cells.
pub type Column<'a> = (&'a str, &'static str);

/// CSS class of a cell with a figure.
pub const NUMBER: &str = "number";
/// CSS class of a cell with words.
pub const TEXT: &str = "text";
/// CSS class of a cell with a bar.
pub const DRAWN: &str = "drawn";

/// Writes a section with a title and a table.
pub fn section(html: &mut Html, title: &str, columns: &[Column<'_>], rows: impl FnOnce(&mut Html)) {
    html.element("section", &[], |html| {
        html.leaf("h2", &[], title);
        table(html, columns, rows);
    });
    html.line();
}

/// Writes a table. The first column has the names of the rows.
pub fn table(html: &mut Html, columns: &[Column<'_>], rows: impl FnOnce(&mut Html)) {
    html.element("table", &[], |html| {
        html.element("thead", &[], |html| {
            html.element("tr", &[], |html| {
                for (column, class) in columns {
                    html.leaf("th", &[("scope", "col"), ("class", class)], column);
                }
            });
        });
        html.element("tbody", &[], rows);
    });
}

/// Writes a row with its name, shortened.
pub fn row(
    html: &mut Html,
    columns: &[Column<'_>],
    name: &str,
    cells: impl FnOnce(&mut Cells<'_>),
) {
    let heading = |html: &mut Html| html.leaf("bdi", &[], &shortened(name, 120));
    headed_row(html, columns, "", heading, cells);
}

/// Writes a row. `heading` writes the name of the row, in a cell of the CSS class `class`.
pub fn headed_row(
    html: &mut Html,
    columns: &[Column<'_>],
    class: &str,
    heading: impl FnOnce(&mut Html),
    cells: impl FnOnce(&mut Cells<'_>),
) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row"), ("class", class)], heading);
        let columns = columns.get(1..).unwrap_or_default();
        cells(&mut Cells { html, columns });
    });
}

/// Writes the cells of a row, in the order of the columns.
pub struct Cells<'a> {
    html: &'a mut Html,
    columns: &'a [Column<'a>],
}

impl Cells<'_> {
    /// Writes a cell with a count.
    pub fn count(&mut self, value: u64) {
        self.text(&count(value));
    }

    /// Writes a cell with text.
    pub fn text(&mut self, text: &str) {
        self.cell(|html| html.text(text));
    }

    /// Writes a cell.
    pub fn cell(&mut self, inside: impl FnOnce(&mut Html)) {
        let Some(((name, class), rest)) = self.columns.split_first() else {
            return;
        };
        self.columns = rest;
        self.html
            .element("td", &[("class", class), ("data-name", name)], inside);
    }
}
