//! Counting checks for interrupts, for any text.

use reground_interrupt::test_support::assert_checked;
use reground_tokens::{boundaries, count};

#[test]
fn counting_checks_for_interrupts() {
    assert_checked("count", 1, count);
    assert_checked("boundaries", 1, boundaries);
}
