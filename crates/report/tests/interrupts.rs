//! Writing a page of megabytes is interruptible.

use reground_interrupt::test_support::assert_checked;
use reground_report::conversation::{Answer, Citation, Conversation, Turn};

#[test]
fn pages_check_for_interrupts() {
    assert_checked("a conversation", 2, |text| {
        let answer = Answer {
            answer: Some(text.to_owned()),
            citations: vec![Citation::default()],
            ..Answer::default()
        };
        let turn = Turn {
            answers: vec![answer],
            ..Turn::default()
        };
        let turns = vec![turn];
        Conversation {
            turns,
            ..Conversation::default()
        }
        .page()
    });
}
