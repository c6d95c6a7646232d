//! Complaints of users of other systems, one test each, named after the complaint. Each test provokes the problem and compares
//! the result with the tables of the application, with plain SQL, or with its own notes.

mod dialogue;
mod ids;
mod judging;
mod markers;
mod retrieval;
