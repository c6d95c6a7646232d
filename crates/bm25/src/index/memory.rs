//! Pages in memory: the twin of the server's, for tests and for measuring the index alone.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::fault::{Fault, Result};
use super::page::BODY;
use super::store::{Extent, Pages, Store};

/// Pages in memory.
#[derive(Debug, Default)]
pub struct Memory {
    pages: RefCell<Vec<Rc<[u8]>>>,
    moment: Cell<u64>,
    /// Moments up to this one are past.
    past: Cell<u64>,
    /// Changes and writes that still succeed, where they are counted.
    left: Cell<Option<u64>>,
}

impl Memory {
    /// Nobody reads what was given up so far.
    pub fn let_pass(&self) {
        self.past.set(self.moment.get());
    }

    /// After so many more changes nothing is written any more, as in a crash.
    pub fn crash_after(&self, changes: Option<u64>) {
        self.left.set(changes);
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.pages.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts other bytes into a page, to see what becomes of them.
    pub fn damage(&self, block: u32, damage: impl FnOnce(&mut [u8])) {
        if let Some(page) = self.pages.borrow_mut().get_mut(block as usize) {
            let mut bytes = page.to_vec();
            damage(&mut bytes);
            *page = bytes.into();
        }
    }

    fn spend(&self) -> Result<()> {
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

/// What fails after a crash.
const CRASHED: Fault = Fault::Full {
    what: "it has crashed",
};

impl Pages for Memory {
    type Page = Rc<[u8]>;

    fn read(&self, block: u32) -> Result<Self::Page> {
        let page = self.pages.borrow().get(block as usize).cloned();
        page.ok_or(Fault::Corrupt {
            block,
            what: "it lies beyond the end",
        })
    }

    fn look<T>(&self, block: u32, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        look(&self.read(block)?)
    }
}

impl Store for Memory {
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
        self.spend()?;
        for (&block, copy) in blocks.iter().zip(copies) {
            self.damage(block, |page| page.copy_from_slice(&copy));
        }
        Ok(true)
    }

    fn write(&self, block: u32, body: &[u8]) -> Result<()> {
        self.spend()?;
        self.read(block)?;
        self.damage(block, |page| page.copy_from_slice(body));
        Ok(())
    }

    fn extend(&self, most: u32) -> Result<Extent> {
        let mut pages = self.pages.borrow_mut();
        let start = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        pages.extend((0..most).map(|_| Rc::from(vec![0; BODY])));
        Ok(Extent {
            start,
            length: most,
        })
    }

    fn maintain<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        work()
    }

    fn now(&self) -> u64 {
        self.moment.set(self.moment.get() + 1);
        self.moment.get()
    }

    fn is_past(&self, moment: u64) -> bool {
        moment <= self.past.get()
    }

    fn announce_reuse(&self, _block: u32, _moment: u64) {}
}
