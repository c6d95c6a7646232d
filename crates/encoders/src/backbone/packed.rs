//! A batch without padding.

/// The tokens of some texts, one text after the other.
#[derive(Default)]
pub(crate) struct Packed {
    pub(crate) ids: Vec<u32>,
    /// 1 in the second text of a pair, if the model distinguishes them.
    pub(crate) types: Vec<u32>,
    pub(crate) lengths: Vec<usize>,
}

impl Packed {
    /// Returns the first row of each text and its number of rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        self.lengths.iter().scan(0, |next, length| {
            let first = *next;
            *next += length;
            Some((first, *length))
        })
    }
}
