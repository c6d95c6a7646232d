//! Requests and statements of long texts are interruptible.

use reground_interrupt::test_support::assert_checked;
use reground_models::fence::escape;
use reground_models::{decompose, entail};
use serde_json::json;

#[test]
fn long_texts_check_for_interrupts() {
    assert_checked("escape", 1, |text| escape(text).into_owned());
    assert_checked("decompose", 1, |text| {
        decompose::request(Some("Who?"), text)
    });
    assert_checked("premise", 1, |text| entail::request(text, "It rains."));
    assert_checked("hypothesis", 1, |text| entail::request("It rains.", text));
    assert_checked("spans", 1, |text| {
        entail::read_result(&json!({"spans": []}), text)
    });
}
