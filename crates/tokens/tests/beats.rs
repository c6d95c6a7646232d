//! Counting can be given up, whatever is counted.

use reground_pulse::felt::check;
use reground_tokens::{boundaries, count};

#[test]
fn counting_beats() {
    check("count", 1, count);
    check("boundaries", 1, boundaries);
}
