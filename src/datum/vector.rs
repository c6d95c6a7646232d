//! pgvector's `vector` as an argument. It is passed to statements as `real[]`, which pgvector casts.

use super::from_datum::{argument, from_datum, payload};

/// The components of a `vector`.
#[derive(Clone, Debug)]
pub struct Vector(pub Vec<f32>);

/// Bytes before the components: two int16, the dimensions and a reserved field.
const HEADER: usize = 4;

from_datum!(Vector, |datum| payload(datum, |bytes| {
    let components = bytes.get(HEADER..)?.as_chunks().0;
    Some(Vector(
        components.iter().copied().map(f32::from_ne_bytes).collect(),
    ))
}));

argument!(Vector, Vector(Vec::new()));
