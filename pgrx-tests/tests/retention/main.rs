//! Retention removes old rows, keeps young ones, and archives each removed turn, also with concurrent sessions.

mod aged;
mod conversations;
mod traces;
