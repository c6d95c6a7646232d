//! Questions about turns that were served.

pub mod probe;
pub mod shadow;
pub mod source_state;
