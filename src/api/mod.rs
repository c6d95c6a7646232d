//! The SQL functions, in folders by topic. `sql/install` declares and documents them.

mod answer;
mod arguments;
mod audit;
mod conversation;
mod corpus;
mod factuality;
mod judge;
mod keys;
mod models;
mod turn;

pub(crate) use arguments::{given, given_since_update, names, not_empty, writable};
pub(crate) use audit::maintenance;
