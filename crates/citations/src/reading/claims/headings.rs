//! Recognises the headings of an answer in Markdown, and of its tables.

use std::ops::Range;

/// Whether a sentence is a heading: `# So`, a line in bold without a full stop, or a line above `---`, `===` or the border of a table.
pub(super) fn is_heading(text: &str, sentence: Range<usize>) -> bool {
    let raw = text.get(sentence.clone()).unwrap_or_default();
    if raw.starts_with('#') {
        return true;
    }
    let end = sentence.start + raw.trim_end().len();
    let Some((rest, after)) = text
        .get(end..)
        .map(|rest| rest.split_once('\n').unwrap_or((rest, "")))
    else {
        return false;
    };
    let raw = raw.trim_end();
    if !rest.trim().is_empty() || raw.contains('\n') {
        return false;
    }
    is_bold(raw.trim_end_matches([':', '：'])) || is_rule(after.lines().next().unwrap_or_default())
}

/// Whether a line is in bold as a whole, and no sentence.
fn is_bold(line: &str) -> bool {
    ["**", "__"].iter().any(|sign| {
        let inside = line
            .strip_prefix(sign)
            .and_then(|line| line.strip_suffix(sign));
        inside.is_some_and(|inside| {
            !inside.contains(sign)
                && !inside
                    .trim_end()
                    .ends_with(['.', '!', '?', '。', '！', '？'])
        })
    })
}

/// Whether a line consists of the signs of a rule: `---`, `===`, `|---|:--|`.
fn is_rule(line: &str) -> bool {
    let signs = line.chars().all(|c| " \t\r|:-=+".contains(c));
    signs && (line.contains("--") || line.contains("=="))
}

#[cfg(test)]
mod tests {
    use super::is_heading;

    #[test]
    fn headings_state_nothing() {
        for (text, sentence, heading) in [
            ("# Cows\n", "# Cows", true),
            ("**Cows**\n\nSo.", "**Cows**", true),
            ("**Cows:**\n", "**Cows:**", true),
            ("**Cows**:\n", "**Cows**:", true),
            ("**Cows give milk.**\n", "**Cows give milk.**", false),
            ("**Cows** give **milk**\n", "**Cows** give **milk**", false),
            ("Cows\n====\n", "Cows", true),
            (
                "| Animal | Gives |\n|---|---|\n| Cow | Milk |",
                "| Animal | Gives |",
                true,
            ),
            (
                "| Animal | Gives |\n|---|---|\n| Cow | Milk |",
                "| Cow | Milk |",
                false,
            ),
            ("Cows give milk. So.\n---", "Cows give milk.", false),
            ("Cows give milk.", "Cows give milk.", false),
        ] {
            let start = text.find(sentence).unwrap_or_default();
            assert_eq!(
                is_heading(text, start..start + sentence.len()),
                heading,
                "{text}"
            );
        }
    }
}
