//! Questions about turns that were served.

pub mod probe;
pub mod same_context;
pub mod shadow;
pub mod source_state;
