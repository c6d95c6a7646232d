//! The knowledge graph: if entities repeat across turns, the passages of their neighbours are nominated.
//!
//! The application provides the edges: a source and a target by name, their relation, and the passage that states it
//! ([`edges`]). A turn has four steps; the first and the third need the table of edges:
//!
//! 1. [`ConversationText::keys`]: all spans of the conversation that could be the name of an entity. The glue returns
//!    those that are entities.
//! 2. [`ConversationText::repeated`]: the entities that the conversation repeats.
//! 3. Their edges, in either direction, as [`Neighbour`]s.
//! 4. [`nominate`]: the passages of these edges in one order, and [`neighbour_list`], the first of them as a list for fusion.

mod edge;
mod mentions;
mod names;
mod neighbours;

pub use edge::{Edge, edges, invalid};
pub use mentions::ConversationText;
pub use names::{LONGEST_NAME, normal_name};
pub use neighbours::{Neighbour, neighbour_list, nominate};

#[cfg(test)]
mod tests;
