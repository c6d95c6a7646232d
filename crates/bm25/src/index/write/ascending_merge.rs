//! A merge of posting lists whose documents ascend.

use crate::index::error::Result;

/// Merges lists of postings. `next` returns the next posting of a list; its documents ascend, and no document is in two lists.
pub struct AscendingMerge<F> {
    next: F,
    /// The first posting of each list that was not returned yet.
    heads: Vec<Option<(u32, u32)>>,
    /// The list that is being read.
    current: usize,
    /// The first document of the other lists.
    until: u32,
}

impl<F: FnMut(usize) -> Result<Option<(u32, u32)>>> AscendingMerge<F> {
    /// Creates a merge of `lists` lists.
    ///
    /// # Errors
    /// Errors of `next`.
    pub fn new(lists: usize, mut next: F) -> Result<Self> {
        let heads = (0..lists).map(&mut next).collect::<Result<_>>()?;
        Ok(Self {
            next,
            heads,
            current: 0,
            until: 0,
        })
    }

    /// Chooses the list with the lowest document. Returns whether there is one.
    fn choose(&mut self) -> bool {
        let (mut lowest, mut second) = (u32::MAX, u32::MAX);
        for (at, head) in self.heads.iter().enumerate() {
            let Some((document, _)) = *head else {
                continue;
            };
            if document < lowest {
                (lowest, second, self.current) = (document, lowest, at);
            } else {
                second = second.min(document);
            }
        }
        self.until = second;
        lowest < u32::MAX
    }
}

impl<F: FnMut(usize) -> Result<Option<(u32, u32)>>> Iterator for AscendingMerge<F> {
    type Item = Result<(u32, u32)>;

    fn next(&mut self) -> Option<Self::Item> {
        let until = self.until;
        let head = self.heads.get_mut(self.current)?;
        let posting = match head.take_if(|(document, _)| *document < until) {
            Some(posting) => posting,
            None if self.choose() => self.heads.get_mut(self.current)?.take()?,
            None => return None,
        };
        match (self.next)(self.current) {
            Ok(next) => self.heads[self.current] = next,
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(posting))
    }
}
