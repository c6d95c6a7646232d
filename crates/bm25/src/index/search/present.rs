//! Reads the present content of an index, whose pages maintenance may reuse meanwhile.

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

use crate::index::error::{IndexError, Result};

/// Number of attempts. An attempt fails only if a page is reused between the read of the meta page and that of the page.
const ATTEMPTS: u32 = 100;

/// Calls `read`, which begins with the meta page, and again as long as pages were reused meanwhile. No lock keeps maintenance away, so
/// inserts do not wait for searches.
///
/// # Errors
/// Errors of `read`. [`IndexError::Reused`] after a hundred attempts.
pub fn read_present<T>(mut read: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match read() {
            Err(IndexError::Reused { .. }) => check_interrupt(CHECK_INTERVAL),
            other => return other,
        }
    }
    read()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REUSED: IndexError = IndexError::Reused { block: 7 };

    /// Fails with an error a number of times. Returns the result and the number of calls.
    fn failing(error: IndexError, times: u32) -> (Result<&'static str>, u32) {
        let mut calls = 0;
        let result = read_present(|| {
            calls += 1;
            if calls > times {
                Ok("read")
            } else {
                Err(error)
            }
        });
        (result, calls)
    }

    #[test]
    fn only_reused_pages_are_read_again_and_not_for_ever() {
        let damaged = IndexError::Corrupt {
            block: 7,
            problem: "it is the wrong page",
        };
        assert_eq!(failing(REUSED, 0), (Ok("read"), 1));
        assert_eq!(failing(REUSED, 99), (Ok("read"), 100));
        assert_eq!(failing(REUSED, 100), (Err(REUSED), 100));
        assert_eq!(failing(damaged, 1), (Err(damaged), 1));
    }
}
