//! Which kinds of citation a corpus or a conversation looks for.

use serde::{Deserialize, Serialize};

/// The families of citation formats, each switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Families {
    /// Our own markers: `[A1]`, `[A1, B2]`, `[A1, p. 12]`.
    pub marker: bool,
    /// Numbers: `[1]`, `[1, 2]`, `[1-3]`.
    pub ordinal: bool,
    /// Documents by name: `[Source: report.pdf, pp. 12–14]`.
    pub document: bool,
    /// Author and year: `(Smith et al., 2020)`.
    pub author_year: bool,
}

impl Families {
    /// Everything that can be read.
    pub const ALL: Self = Self {
        marker: true,
        ordinal: true,
        document: true,
        author_year: true,
    };
    /// Nothing but our own markers.
    pub const MARKERS: Self = Self {
        marker: true,
        ordinal: false,
        document: false,
        author_year: false,
    };
}

impl Default for Families {
    fn default() -> Self {
        Self::ALL
    }
}
