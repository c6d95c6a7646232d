//! The commands that measure time and space.

pub mod audit;
pub mod growth;
pub mod keys;
pub mod lexical;
pub mod provenance;
pub mod recording;
pub mod repair;
mod rounds;
pub mod scale;
pub mod speed;
