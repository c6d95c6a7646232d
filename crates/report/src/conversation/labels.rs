//! Tags and word lists of turns and answers.

use crate::html::{Html, shortened};
use crate::verdict::words;

/// Writes the application's tags, given as (name, value).
pub(super) fn show_tags(html: &mut Html, tags: &[(String, Option<String>)]) {
    if tags.is_empty() {
        return;
    }
    html.element("ul", &[("class", "tags")], |html| {
        for (name, value) in tags {
            html.element("li", &[("class", "tag")], |html| {
                html.leaf("bdi", &[], &shortened(name, 80));
                html.text(": ");
                html.leaf(
                    "bdi",
                    &[],
                    &shortened(value.as_deref().unwrap_or("null"), 200),
                );
            });
        }
    });
}

/// Returns the names as words, separated by commas.
pub(super) fn join_words(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| words(name)).collect();
    names.join(", ")
}
