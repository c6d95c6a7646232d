//! The object that [`answer_parts`](crate::answer_parts) adds to citations.

use serde_json::Value;

use super::reader::text;
use crate::{Position, Reference};

/// Key of the object.
pub(crate) const EXTENSION: &str = "reground";

/// The source that the object names: by its marker, otherwise by the document.
pub(super) fn reference(ours: &Value) -> Option<Reference> {
    if let Some(marker) = text(ours, "marker") {
        let number = marker
            .parse()
            .ok()
            .filter(|_| marker.bytes().all(|byte| byte.is_ascii_digit()));
        return Some(match number {
            Some(number) => Reference::Ordinal {
                number,
                at: Position::default(),
            },
            None => Reference::Marker {
                marker: marker.to_owned(),
                name: None,
                at: Position::default(),
            },
        });
    }
    text(ours, "doc_id").map(|name| Reference::Document {
        name: name.to_owned(),
        at: Position::default(),
    })
}
