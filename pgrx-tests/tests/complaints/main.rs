//! What users of other systems complain of, a test each, named after the complaint. Each provokes it on purpose, and compares
//! what comes out with the application's own tables, with plain SQL, or with what the test itself wrote down.

mod dialogue;
mod ids;
mod judging;
mod markers;
mod retrieval;
