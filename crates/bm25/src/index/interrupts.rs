//! How often work on postings and rows checks for interrupts.

/// Work to report for each posting: an interrupt check happens every 8,192 postings.
pub const WORK_PER_POSTING: usize = reground_interrupt::CHECK_INTERVAL >> 13;

/// Work to report for the address of each row that is read: an interrupt check happens every 64 rows, because each can be on a page of
/// its own.
pub const WORK_PER_ROW: usize = reground_interrupt::CHECK_INTERVAL >> 6;
