//! pgvector's `vector` as an argument. Statements get it back as `real[]`, which pgvector casts.

use pgrx::FromDatum;
use pgrx::pg_sys;

use super::{argument, payload};

/// The components of a `vector`.
#[derive(Clone, Debug)]
pub struct Vector(pub Vec<f32>);

/// Bytes before the components: two int16, dimensions and a reserved one.
const HEADER: usize = 4;

impl FromDatum for Vector {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _type: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: not null, and the SQL declaration types the argument as vector.
        unsafe {
            payload(datum, |bytes| {
                let components = bytes.get(HEADER..)?.as_chunks().0;
                Some(Self(
                    components.iter().copied().map(f32::from_ne_bytes).collect(),
                ))
            })
        }
    }
}

argument!(Vector, Vector(Vec::new()));
