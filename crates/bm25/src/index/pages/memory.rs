//! A store in memory, for tests and for benchmarks of the index alone.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::index::error::{IndexError, Result};
use crate::index::pages::page::BODY_BYTES;
use crate::index::pages::store::{Extent, Pages, Store};

/// Pages in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    pages: RefCell<Vec<Rc<[u8]>>>,
    /// Number of changes and writes that still succeed; `None` for no limit.
    left: Cell<Option<u64>>,
}

impl MemoryStore {
    /// Simulates a crash after a number of changes: later changes and writes fail.
    pub fn crash_after(&self, changes: Option<u64>) {
        self.left.set(changes);
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.pages.borrow().len()
    }

    /// Returns whether there are no pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes the bytes of a page, to simulate damage.
    pub fn damage(&self, block: u32, damage: impl FnOnce(&mut [u8])) {
        if let Some(page) = self.pages.borrow_mut().get_mut(block as usize) {
            let mut bytes = page.to_vec();
            damage(&mut bytes);
            *page = bytes.into();
        }
    }

    fn count_change(&self) -> Result<()> {
        match self.left.get() {
            Some(0) => Err(CRASHED),
            Some(left) => {
                self.left.set(Some(left - 1));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The error of every change after a simulated crash.
const CRASHED: IndexError = IndexError::Full {
    problem: "it has crashed",
};

impl Pages for MemoryStore {
    type Page = Rc<[u8]>;

    fn read(&self, block: u32) -> Result<Self::Page> {
        let page = self.pages.borrow().get(block as usize).cloned();
        page.ok_or(IndexError::Corrupt {
            block,
            problem: "it lies beyond the end",
        })
    }

    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        look(&self.read(block)?)
    }
}

impl Store for MemoryStore {
    fn change(
        &self,
        blocks: &[u32],
        change: impl FnOnce(&mut [&mut [u8]]) -> Result<bool>,
    ) -> Result<bool> {
        let mut copies = Vec::new();
        for &block in blocks {
            copies.push(self.read(block)?.to_vec());
        }
        let mut bodies: Vec<&mut [u8]> = copies.iter_mut().map(Vec::as_mut_slice).collect();
        if !change(&mut bodies)? {
            return Ok(false);
        }
        self.count_change()?;
        for (&block, copy) in blocks.iter().zip(copies) {
            self.damage(block, |page| page.copy_from_slice(&copy));
        }
        Ok(true)
    }

    fn write(&self, block: u32, body: &[u8]) -> Result<()> {
        self.count_change()?;
        self.read(block)?;
        self.damage(block, |page| page.copy_from_slice(body));
        Ok(())
    }

    fn extend(&self, most: u32) -> Result<Extent> {
        let mut pages = self.pages.borrow_mut();
        let start = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        pages.extend((0..most).map(|_| Rc::from(vec![0; BODY_BYTES])));
        Ok(Extent {
            start,
            length: most,
        })
    }

    fn blocks(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    fn maintain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        work()
    }
}
