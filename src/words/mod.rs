//! The words of a text, as a text search configuration makes them.
//!
//! They are the words of `to_tsvector`, each as often as it occurs, without the limits of a tsvector: 256 positions per word,
//! 16,383 positions and 1 MB.

mod bigrams;
mod cache;
mod config;
mod parse_text;
mod scratch;

pub use cache::{each_lexeme, each_position};
pub use config::{config_exists, config_oid, find_config, qualified_name};
