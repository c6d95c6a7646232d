//! What is known about the key of a value, and how a value without its key is read.

use std::rc::Rc;

use crate::key::TenantKey;

/// How values without a key are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For computations: a value without its key is an error. A value whose key is destroyed is empty, as after an erasure.
    Strict,
    /// For readers: `sealed` or `erased` stands for the value.
    Shown,
}

/// What is known about a key.
#[derive(Clone)]
pub enum Opened {
    /// The key of this tenant.
    Key {
        /// The tenant.
        tenant: Rc<str>,
        /// Its key.
        key: Rc<TenantKey>,
    },
    /// There is no master key at hand.
    Locked,
    /// The key was destroyed.
    Erased,
    /// There is no such key, or the reader may not use it.
    Unknown,
}
