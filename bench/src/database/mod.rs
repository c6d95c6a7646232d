//! The database under test: connections, corpora, turns.

pub mod duplicates;
pub mod load;
pub mod machine;
pub mod server;
pub mod turn_session;
