//! The place of a passage in its document.

use reground_documents::PageRange;
use serde_json::Value;

use super::CharRange;

/// The metadata key with the structured locator of a passage: `"Genesis 1:1-5"`.
pub const LOCATOR: &str = "locator";
/// Characters of the longest structured locator. A longer one is cut.
const MAX_CHARS: usize = 300;
/// Between the places of the first and the last passage of a merged passage.
const FROM_TO: &str = " … ";

/// The place of a passage for readers: the structured locator and the pages, otherwise the characters.
///
/// ```
/// use reground_documents::PageRange;
/// use reground_grounding::passage::locator;
///
/// let pages = PageRange::of(Some(12), Some(12));
/// assert_eq!(locator(Some("Genesis 3:16-19"), pages, None).as_deref(), Some("Genesis 3:16-19, p. 12"));
/// ```
#[must_use]
pub fn locator(
    structured: Option<&str>,
    pages: Option<PageRange>,
    chars: Option<CharRange>,
) -> Option<String> {
    match (structured, pages, chars) {
        (Some(place), Some(pages), _) => Some(format!("{place}, {pages}")),
        (Some(place), None, _) => Some(place.to_owned()),
        (None, Some(pages), _) => Some(pages.to_string()),
        (None, None, Some(range)) => Some(format!("chars {}–{}", range.start, range.end)),
        (None, None, None) => None,
    }
}

/// The structured locator in the metadata of a passage, on one line; `None` if there is none.
#[must_use]
pub fn structured_locator(metadata: &Value) -> Option<String> {
    let place = metadata.get(LOCATOR)?.as_str()?;
    // The longest locator and the same number of control characters or spaces are read, not a whole text.
    let start = place.chars().take(2 * MAX_CHARS);
    let line: String = start
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let place: String = words.chars().take(MAX_CHARS).collect();
    (!place.is_empty()).then_some(place)
}

/// The structured locator of two adjacent passages together: from the place of the first to that of the second.
pub(crate) fn joined_locators(first: Option<&str>, second: Option<&str>) -> Option<String> {
    let (Some(first), Some(second)) = (first, second) else {
        return first.or(second).map(str::to_owned);
    };
    let (start, _) = ends_of(first);
    let (_, end) = ends_of(second);
    if start == end {
        return Some(start.to_owned());
    }
    Some(format!("{start}{FROM_TO}{end}"))
}

/// The places where a structured locator starts and ends. They are equal for a passage that was not merged.
pub(crate) fn ends_of(locator: &str) -> (&str, &str) {
    let start = locator.split(FROM_TO).next().unwrap_or(locator);
    let end = locator.rsplit(FROM_TO).next().unwrap_or(locator);
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_for_readers() {
        let pages = PageRange::of(Some(12), Some(14));
        let chars = CharRange::of(Some(120), Some(124));
        for (structured, pages, chars, expected) in [
            (None, None, None, None),
            (None, None, chars, Some("chars 120–124")),
            (None, pages, chars, Some("pp. 12–14")),
            (Some("§ 12(2)"), None, chars, Some("§ 12(2)")),
            (Some("§ 12(2)"), pages, chars, Some("§ 12(2), pp. 12–14")),
        ] {
            assert_eq!(locator(structured, pages, chars).as_deref(), expected);
        }
    }

    #[test]
    fn structured_locators_are_one_line_of_bounded_length() {
        let read = |value: Value| structured_locator(&json!({ LOCATOR: value }));
        assert_eq!(
            read(json!("Genesis 1:1-5")).as_deref(),
            Some("Genesis 1:1-5")
        );
        assert_eq!(read(json!(" a\n\u{b}b\u{0}")).as_deref(), Some("a b"));
        assert_eq!(
            read(json!("x".repeat(1_000_000))).map(|place| place.len()),
            Some(MAX_CHARS)
        );
        for none in [json!(""), json!(" \n"), json!(3), json!(null), json!(["a"])] {
            assert_eq!(read(none), None);
        }
        assert_eq!(structured_locator(&Value::Null), None);
    }

    #[test]
    fn a_merged_passage_reaches_from_the_first_place_to_the_last() {
        let two = joined_locators(Some("Genesis 1:1-5"), Some("Genesis 1:6-10")).unwrap();
        assert_eq!(two, "Genesis 1:1-5 … Genesis 1:6-10");
        let three = joined_locators(Some(&two), Some("Genesis 1:11")).unwrap();
        assert_eq!(three, "Genesis 1:1-5 … Genesis 1:11");
        assert_eq!(ends_of(&three), ("Genesis 1:1-5", "Genesis 1:11"));
        assert_eq!(
            joined_locators(Some("§ 1"), Some("§ 1")).as_deref(),
            Some("§ 1")
        );
        assert_eq!(joined_locators(None, Some("§ 1")).as_deref(), Some("§ 1"));
        assert_eq!(joined_locators(None, None), None);
    }
}
