//! Counting can be given up, whatever is counted.

use reground_interrupt::test_support::assert_checked;
use reground_tokens::{boundaries, count};

#[test]
fn counting_beats() {
    assert_checked("count", 1, count);
    assert_checked("boundaries", 1, boundaries);
}
