//! Tables of the report: citations by model and document type, by stage and by verdict, and lists of documents.

use reground_metrics::proportion::wilson;
use serde::Deserialize;

use crate::html::Html;
use crate::page::{count, percent, rate, share};
use crate::plot::{bar, interval_bar};
use crate::table::{Column, DRAWN, NUMBER, TEXT, headed_row, row, section};
use crate::verdict::{VerdictKind, words};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Citations of answers with one property.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CitationGroup {
    /// The model or the document type.
    pub value: Option<String>,
    /// Number of citations.
    pub citations: u64,
    /// Number of citations that can be judged.
    pub judged: u64,
    /// Number of citations that hold.
    pub holding: u64,
    /// Mean support of the claims by their sources.
    pub support: Option<f64>,
}

/// A stage of the pipeline.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Stage {
    /// Name of the stage.
    pub name: String,
    /// Number of citations that reached the stage.
    pub reached: u64,
    /// Number of citations that passed the stage.
    pub survived: u64,
}

/// Citations with one status.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// The status.
    pub status: String,
    /// Whether citations with this status hold.
    pub holds: Option<bool>,
    /// Meaning of the status.
    pub meaning: String,
    /// Number of citations.
    pub citations: u64,
}

/// A document.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Document {
    /// The application's id of the document.
    pub doc_id: String,
    /// Title of the document.
    pub title: Option<String>,
    /// Number of contexts that contain the document.
    pub contexts: u64,
    /// Number of citations of the document.
    pub citations: u64,
    /// Number of its citations that hold.
    pub holding: u64,
}

/// Writes how many citations hold, by a property. `unnamed` is shown for a missing value. `all` is the number of values, listed or not.
pub(super) fn groups(
    html: &mut Html,
    property: &str,
    unnamed: &str,
    groups: &[CitationGroup],
    all: u64,
) {
    let columns: [Column<'_>; 7] = [
        (property, TEXT),
        ("Citations", NUMBER),
        ("Judged", NUMBER),
        ("Hold", NUMBER),
        ("Share", NUMBER),
        ("95 % interval", DRAWN),
        ("Support", NUMBER),
    ];
    let title = format!("Citations that hold, by {}", property.to_lowercase());
    section(html, &title, &columns, |html| {
        for group in groups {
            let name = group.value.as_deref().unwrap_or(unnamed);
            row(html, &columns, name, |cells| {
                for figure in [group.citations, group.judged, group.holding] {
                    cells.count(figure);
                }
                cells.text(&percent(rate(group.holding, group.judged)));
                cells.cell(|html| interval(html, group.holding, group.judged));
                cells.text(&share(group.support));
            });
        }
    });
    more(html, all, groups.len());
}

/// Writes the stages that lose citations.
pub(super) fn stages(html: &mut Html, stages: &[Stage]) {
    let largest = stages.iter().map(|stage| stage.reached).max().unwrap_or(0);
    let columns: [Column<'_>; 6] = [
        ("Stage", TEXT),
        ("Reached", NUMBER),
        ("Survived", NUMBER),
        ("Rate", NUMBER),
        ("Share of all", DRAWN),
        ("95 % interval", DRAWN),
    ];
    section(html, "Where citations are lost", &columns, |html| {
        for stage in stages {
            row(html, &columns, &stage.name, |cells| {
                cells.count(stage.reached);
                cells.count(stage.survived);
                cells.text(&percent(rate(stage.survived, stage.reached)));
                let part = rate(stage.survived, largest).unwrap_or(0.0);
                cells.cell(|html| bar(html, "holds", part));
                cells.cell(|html| interval(html, stage.survived, stage.reached));
            });
        }
    });
}

/// Writes the citations by verdict.
pub(super) fn statuses(html: &mut Html, statuses: &[Status]) {
    let all: u64 = statuses.iter().map(|status| status.citations).sum();
    let columns: [Column<'_>; 5] = [
        ("Verdict", TEXT),
        ("Citations", NUMBER),
        ("Share", NUMBER),
        ("", DRAWN),
        ("Meaning", TEXT),
    ];
    section(html, "Verdicts", &columns, |html| {
        for status in statuses {
            let kind = VerdictKind::of(&status.status, status.holds);
            let heading = |html: &mut Html| {
                html.leaf("b", &[], kind.sign());
                html.text(&format!(" {}", words(&status.status)));
            };
            headed_row(html, &columns, kind.class(), heading, |cells| {
                let share = rate(status.citations, all);
                cells.count(status.citations);
                cells.text(&percent(share));
                cells.cell(|html| bar(html, kind.class(), share.unwrap_or(0.0)));
                cells.text(&status.meaning);
            });
        }
    });
}

/// Writes a list of documents. `all` is the number of documents of this kind, listed or not.
pub(super) fn documents(
    html: &mut Html,
    title: &str,
    none: &str,
    documents: &[Document],
    all: u64,
) {
    if documents.is_empty() {
        html.element("section", &[], |html| {
            html.leaf("h2", &[], title);
            html.leaf("p", &[("class", "none")], none);
        });
        return;
    }
    let columns: [Column<'_>; 4] = [
        ("Document", TEXT),
        ("Contexts", NUMBER),
        ("Citations", NUMBER),
        ("Hold", NUMBER),
    ];
    section(html, title, &columns, |html| {
        for document in documents {
            let name = document.title.as_deref().unwrap_or(&document.doc_id);
            row(html, &columns, name, |cells| {
                for figure in [document.contexts, document.citations, document.holding] {
                    cells.count(figure);
                }
            });
        }
    });
    more(html, all, documents.len());
}

/// Draws a rate with its interval.
fn interval(html: &mut Html, part: u64, whole: u64) {
    match wilson(part, whole, CONFIDENCE) {
        Some(bounds) => interval_bar(html, bounds.mean, bounds.low, bounds.high),
        None => html.text("–"),
    }
}

/// Writes how many rows are not listed.
fn more(html: &mut Html, all: u64, listed: usize) {
    let more = all.saturating_sub(listed as u64);
    if more > 0 {
        let text = format!("And {} more.", count(more));
        html.leaf("p", &[("class", "none")], &text);
    }
}
