//! Reading of datums, and macros for types that are read from datums.

use pgrx::pg_sys;

/// Reads the payload of a value of variable length, which can be compressed or stored out of line.
///
/// # Safety
/// The datum is a value of variable length, and not null.
pub unsafe fn payload<T>(datum: pg_sys::Datum, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: as the caller promises. A detoasted copy is freed after `read`, whose result does not borrow from it.
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

/// Implements `FromDatum` for a type, for datums of the SQL type that the function declares.
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
                // SAFETY: the datum is not null, and the SQL declaration gives its type.
                unsafe { $read(datum) }
            }
        }
    };
}
pub(crate) use from_datum;

/// Makes a type with `FromDatum` usable as an argument of a function. `instead` replaces a datum that cannot be read. It does not
/// replace NULL: functions with an argument of the type itself are STRICT, the others take an `Option`.
macro_rules! argument {
    ($type:ident, $instead:expr) => {
        // SAFETY: unboxes through FromDatum, which checks for NULL.
        unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for $type {
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: the argument at this position has the type that SQL declares.
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
