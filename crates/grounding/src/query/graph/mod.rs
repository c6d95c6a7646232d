//! The mini knowledge graph (C4): when entities repeat across turns, the passages of their neighbours are nominated.
//!
//! The application puts the edges: a source and a target by name, what relates them, and the passage that says so ([`edges`]).
//! A turn asks in four steps, of which the first and the third need the table of edges:
//!
//! 1. [`ConversationText::keys`]: every stretch of what was said that could be the name of a node; those that are one come back;
//! 2. [`ConversationText::repeated`]: which of these nodes the conversation keeps naming;
//! 3. their edges, in either direction, as [`Neighbour`]s;
//! 4. [`nominate`]: the passages that say these edges, in one order, and [`ranked`], the first of them as a list of
//!    its own for the fusion.

mod edge;
mod mentions;
mod names;
mod neighbours;

pub use edge::{Edge, edges, invalid};
pub use mentions::ConversationText;
pub use names::{LONGEST_NAME, normal_name};
pub use neighbours::{Neighbour, nominate, ranked};

#[cfg(test)]
mod tests;
