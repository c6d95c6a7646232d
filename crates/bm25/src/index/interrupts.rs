//! How often work on postings and rows checks for interrupts.

/// Work to report for each posting: an interrupt check happens every 8,192 postings.
pub const WORK_PER_POSTING: usize = reground_interrupt::CHECK_INTERVAL >> 13;

/// Work to report for each page with addresses of rows: an interrupt check happens every 64 pages, because each may have to be read from
/// the disk.
pub const WORK_PER_ROW_PAGE: usize = reground_interrupt::CHECK_INTERVAL >> 6;
