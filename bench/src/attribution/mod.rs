//! Attribution of sentences to passages by the evaluation's own measure, which shares no code with the extension.

pub mod marking;
pub mod overlap;
