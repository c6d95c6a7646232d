//! Tags of turns and answers.

use crate::html::{Html, shortened};

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
