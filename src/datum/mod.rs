//! PostgreSQL's values as Rust's.

mod json;
mod tsvector;
mod vector;

use pgrx::pg_sys;

pub use json::Json;
pub use tsvector::TsVectorBytes;
pub use vector::Vector;

/// Reads the payload of a value of variable length, which may be compressed or stored elsewhere.
///
/// # Safety
/// The datum is such a value, and not null.
pub unsafe fn payload<T>(datum: pg_sys::Datum, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: as the caller promises. What is read does not outlive a detoasted copy, which is freed here.
    unsafe {
        let packed = datum.cast_mut_ptr::<pg_sys::varlena>();
        let plain = pg_sys::pg_detoast_datum_packed(packed);
        let value = read(pgrx::varlena_to_byte_slice(plain));
        if plain != packed {
            pg_sys::pfree(plain.cast());
        }
        value
    }
}

/// Reads a type from a datum that is not null and whose type SQL declares as its own.
macro_rules! from_datum {
    ($type:ident, $read:expr) => {
        impl pgrx::FromDatum for $type {
            unsafe fn from_polymorphic_datum(
                datum: pgrx::pg_sys::Datum,
                is_null: bool,
                _type: pgrx::pg_sys::Oid,
            ) -> Option<Self> {
                if is_null {
                    return None;
                }
                // SAFETY: not null, and of the type that whoever asks for this one has declared in SQL.
                unsafe { $read(datum) }
            }
        }
    };
}
pub(crate) use from_datum;

/// Makes a type that has `FromDatum` one that functions take as an argument. `instead` is what stands for a datum that is
/// none; NULL is no such: functions that take the type itself are STRICT, and others take an `Option`.
macro_rules! argument {
    ($type:ident, $instead:expr) => {
        // SAFETY: unboxes through FromDatum, which checks for NULL.
        unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for $type {
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: the caller hands us the argument in this position, of the type that SQL declares.
                unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or_else(|| $instead)
            }

            unsafe fn unbox_nullable_arg(
                arg: pgrx::callconv::Arg<'_, 'fcx>,
            ) -> pgrx::nullable::Nullable<Self> {
                // SAFETY: as above.
                unsafe { arg.unbox_arg_using_from_datum() }.into()
            }
        }
    };
}
pub(crate) use argument;
