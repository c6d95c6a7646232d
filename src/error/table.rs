//! The macro that declares [`Error`](super::Error), so that the report of each variant is written next to it.

/// Declares the enum `Error` and its conversion into an `ErrorReport`. An entry is a variant, whose values have names, and
/// an expression of its report.
macro_rules! error_table {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident
            $(($($value:ident: $value_type:ty),+))?
            $({ $($field:ident: $field_type:ty),+ })?
            => $report:expr;
    )+) => {
        /// An error of the extension, or of one of its crates.
        #[derive(Debug)]
        pub enum Error {
            $(
                $(#[doc = $doc])+
                $variant $(($($value_type),+))? $({ $($field: $field_type),+ })?,
            )+
        }

        impl From<Error> for ErrorReport {
            fn from(error: Error) -> Self {
                match error {
                    $(Error::$variant $(($($value),+))? $({ $($field),+ })? => $report,)+
                }
            }
        }
    };
}
