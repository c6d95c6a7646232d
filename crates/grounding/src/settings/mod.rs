//! The settings of a turn: their table, their types, and how layers of JSON become one struct.

mod choices;
pub mod filter;
pub mod hook;
pub mod principals;
mod resolve;
pub mod strategy;
mod table;
mod values;

pub use choices::{
    CarryActivation, Fusion, KeepCandidates, LexicalSearch, LexicalStatistics, MarkerStyle,
    PassageOrder, Provenance, QueryFrom, StoreAnswers, VectorSearch,
};
pub use resolve::is_set;
pub use table::{Kind, SETTINGS, SettingInfo};
pub use values::{BranchWeights, Settings};
