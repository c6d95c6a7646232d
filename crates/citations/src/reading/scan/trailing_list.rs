//! `Citation: [p1, p2]` on the last line of an answer. It cites for the whole answer.

use crate::reading::reference_lists::is_label;

/// Longest label with its emphasis, in bytes.
const MAX_LABEL: usize = 48;

/// Returns the opening bracket of such a list.
pub(super) fn find(text: &str) -> Option<usize> {
    let body = text.trim_end();
    if !body.ends_with([']', '】']) {
        return None;
    }
    let line = body.rfind('\n').map_or(0, |newline| newline + 1);
    let (label, rest) = body[line..].split_once(['[', '【'])?;
    let announced = label.len() <= MAX_LABEL && label.contains([':', '：']) && is_label(label);
    let one = !rest.contains(['[', '【']);
    (announced && one).then_some(line + label.len())
}
