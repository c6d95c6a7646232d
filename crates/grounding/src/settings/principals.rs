//! Parses the setting with the principals of a caller: a text array literal of PostgreSQL, as in `{user:7,group:2}`.

use crate::error::GroundingError;

/// Returns the elements of a one-dimensional array literal.
///
/// # Errors
/// [`GroundingError::InvalidPrincipals`] for any other text, for a nested array, and for NULL as an element.
pub fn parse(literal: &str) -> Result<Vec<String>, GroundingError> {
    let fault = |fault: &'static str| GroundingError::InvalidPrincipals { fault };
    let inner = literal
        .trim_matches(is_space)
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or_else(|| fault("it is not an array in braces"))?;
    let mut elements = Vec::new();
    let mut rest = inner.trim_start_matches(is_space);
    if rest.is_empty() {
        return Ok(elements);
    }
    loop {
        let (element, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_element(quoted).ok_or_else(|| fault("a quote is not closed"))?,
            None => bare_element(rest).map_err(fault)?,
        };
        elements.push(element);
        let after = after.trim_start_matches(is_space);
        if after.is_empty() {
            return Ok(elements);
        }
        rest = after
            .strip_prefix(',')
            .ok_or_else(|| fault("a comma is missing after a quoted element"))?
            .trim_start_matches(is_space);
    }
}

/// White space between elements, as PostgreSQL defines it.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Reads the rest of a quoted element; `None` if the quote is not closed.
fn quoted_element(text: &str) -> Option<(String, &str)> {
    let mut element = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((element, &text[at + 1..])),
            '\\' => element.push(letters.next()?.1),
            letter => element.push(letter),
        }
    }
    None
}

/// Reads an element without quotes, up to the next comma.
fn bare_element(text: &str) -> Result<(String, &str), &'static str> {
    let mut element = String::new();
    // White space at the end does not belong to the element, unless it is escaped.
    let mut kept = 0;
    let mut escaped = false;
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ',' => {
                end = at;
                break;
            }
            '"' | '{' | '}' => return Err("a quote or brace inside an element must be quoted"),
            '\\' => {
                let (_, letter) = letters.next().ok_or("a backslash ends it")?;
                element.push(letter);
                kept = element.len();
                escaped = true;
            }
            letter => {
                element.push(letter);
                if !is_space(letter) {
                    kept = element.len();
                }
            }
        }
    }
    element.truncate(kept);
    if element.is_empty() {
        return Err("an element is empty");
    }
    if !escaped && element.eq_ignore_ascii_case("null") {
        return Err("an element is NULL");
    }
    Ok((element, &text[end..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The literal that PostgreSQL writes for an array with all elements quoted.
    fn literal(elements: &[String]) -> String {
        let quote = |element: &String| {
            let escaped = element.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{escaped}\"")
        };
        let quoted: Vec<String> = elements.iter().map(quote).collect();
        format!("{{{}}}", quoted.join(","))
    }

    #[test]
    fn literals_are_read_as_postgresql_reads_them() {
        assert_eq!(parse("{}").unwrap(), Vec::<String>::new());
        assert_eq!(parse(" { } ").unwrap(), Vec::<String>::new());
        assert_eq!(parse("{user:7,group:2}").unwrap(), ["user:7", "group:2"]);
        assert_eq!(parse("{ a b , \"c,d\" }").unwrap(), ["a b", "c,d"]);
        assert_eq!(
            parse(r#"{"a\"b",c\ ,\null}"#).unwrap(),
            ["a\"b", "c ", "null"]
        );
        assert_eq!(parse(r#"{"NULL",""}"#).unwrap(), ["NULL", ""]);
    }

    #[test]
    fn other_texts_are_errors() {
        for text in [
            "",
            "user:7",
            "{",
            "}",
            "{a",
            "a}",
            "{a,}",
            "{,a}",
            "{a,,b}",
            "{null}",
            "{NULL}",
            "{{a}}",
            "{\"a}",
            "{\"a\"b}",
            "{a\"b\"}",
            "{a\\}",
            "[1:1]={a}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_list_is_read_back(elements in proptest::collection::vec(any::<String>(), 0..6)) {
            prop_assert_eq!(parse(&literal(&elements)).unwrap(), elements);
        }

        #[test]
        fn any_text_ends(text in any::<String>()) {
            let _ = parse(&text);
        }
    }
}
