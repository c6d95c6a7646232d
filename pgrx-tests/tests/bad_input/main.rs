//! Unusual input: each call returns a clear error or a correct result and writes nothing by halves.

mod answers;
mod encoding;
mod fixture;
mod large;
mod names;
mod read_only;
mod refused;
