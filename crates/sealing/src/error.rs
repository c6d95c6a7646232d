//! The errors of the crate.

/// Why a value cannot be sealed or unsealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    /// The text of a master key is not 64 hexadecimal digits.
    #[error("a master key has 64 hexadecimal digits")]
    MasterKey,
    /// A value is sealed, and the key is not at hand.
    #[error("a value is sealed")]
    Locked,
}
