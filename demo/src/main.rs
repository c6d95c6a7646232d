//! Not yet written.
fn main() {}
