//! How often work on postings checks for interrupts.

/// Work to report for each posting: an interrupt check happens every 8,192 postings.
pub const WORK_PER_POSTING: usize = reground_interrupt::CHECK_INTERVAL >> 13;
