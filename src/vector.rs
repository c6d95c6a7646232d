//! pgvector's `vector` as an argument. Statements get it back as `real[]`, which pgvector casts.

use pgrx::FromDatum;
use pgrx::callconv::{Arg, ArgAbi};
use pgrx::nullable::Nullable;
use pgrx::pg_sys;

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
        // SAFETY: the SQL declaration types this argument as vector, so the datum is a varlena; the detoasted copy
        // lives in the current memory context and its payload is read within its own length.
        let bytes = unsafe {
            let detoasted = pg_sys::pg_detoast_datum(datum.cast_mut_ptr());
            pgrx::varlena_to_byte_slice(detoasted)
        };
        let components = bytes.get(HEADER..)?.chunks_exact(size_of::<f32>());
        Some(Self(
            components
                .map(|chunk| f32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
                .collect(),
        ))
    }
}

// SAFETY: unboxes through FromDatum, which checks for NULL.
unsafe impl<'fcx> ArgAbi<'fcx> for Vector {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: the caller hands us the argument in this position; see FromDatum above.
        unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or(Self(Vec::new()))
    }

    unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
        // SAFETY: as above.
        unsafe { arg.unbox_arg_using_from_datum() }.into()
    }
}
