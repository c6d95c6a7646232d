//! Parses the name of a text search configuration that comes from a row of a table.

/// Returns the schema, if one is given, and the name. Letters outside double quotes become lower case, as in SQL. Returns
/// `None` for text that is not a name; this is not an error, because a row may hold any text.
pub fn name_parts(name: &str) -> Option<(Option<String>, String)> {
    let mut parts = Vec::new();
    let mut rest = name.trim();
    loop {
        let (part, after) = part(rest)?;
        parts.push(part);
        let after = after.trim_start();
        if after.is_empty() {
            break;
        }
        rest = after.strip_prefix('.')?.trim_start();
    }
    let object = parts.pop()?;
    let schema = parts.pop();
    parts.is_empty().then_some((schema, object))
}

/// Returns the first part of the name and the rest of the text.
fn part(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
        let (part, rest) = text.split_at(end.unwrap_or(text.len()));
        let begins = part.starts_with(|c: char| c.is_alphabetic() || c == '_');
        return begins.then(|| (part.to_ascii_lowercase(), rest));
    };
    let mut part = String::new();
    let mut rest = quoted;
    loop {
        let (piece, after) = rest.split_once('"')?;
        part.push_str(piece);
        match after.strip_prefix('"') {
            // A doubled quote stands for one quote in the name.
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None => return (!part.is_empty()).then_some((part, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::name_parts;

    #[test]
    fn parses_names_like_sql() {
        let two = |schema: &str, name: &str| Some((Some(schema.to_owned()), name.to_owned()));
        assert_eq!(name_parts(" German "), Some((None, "german".to_owned())));
        assert_eq!(name_parts("pg_catalog.german"), two("pg_catalog", "german"));
        assert_eq!(
            name_parts(r#"Public . "My ""own"".""#),
            two("public", "My \"own\".")
        );
        for none in ["", "1", "de-AT", "a.b.c", "a.", ".a", "\"a", "\"\"", "a b"] {
            assert_eq!(name_parts(none), None, "{none}");
        }
    }
}
