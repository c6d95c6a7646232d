//! What kind of file a document is, as far as its address or its id tells: the ending of its name.

/// The ending of the last name in the address's path, or else in the id, in lower case: `pdf` of
/// `https://x.example/a/B.PDF?page=2`. `None` where there is none: a letter and up to seven more letters or digits (ASCII) after a dot, which
/// is not the first character of its name.
#[must_use]
pub fn document_type(uri: Option<&str>, doc_id: Option<&str>) -> Option<String> {
    let ending = uri.and_then(|uri| ending(path(uri)));
    let ending = ending.or_else(|| doc_id.and_then(self::ending));
    ending.map(str::to_ascii_lowercase)
}

/// An address without its query, its fragment, its scheme and its host.
fn path(uri: &str) -> &str {
    let uri = uri
        .find(['?', '#'])
        .map_or(uri, |end| uri.get(..end).unwrap_or_default());
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri;
    };
    let mut letters = scheme.chars();
    let is_scheme = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    if is_scheme {
        rest.find('/')
            .map_or("", |start| rest.get(start..).unwrap_or_default())
    } else {
        uri
    }
}

/// The ending of a name.
fn ending(path: &str) -> Option<&str> {
    let (name, ending) = path.rsplit_once('.')?;
    let mut characters = ending.chars();
    let is_ending = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric())
        && ending.len() <= 8;
    let has_name = name
        .chars()
        .next_back()
        .is_some_and(|last| !['/', '.'].contains(&last));
    (is_ending && has_name).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        for (uri, doc_id, expected) in [
            (
                Some("https://x.example/a/B.PDF?x=1.md#p.2"),
                Some("z.md"),
                Some("pdf"),
            ),
            (Some("https://x.example"), Some("notes.txt"), Some("txt")),
            (Some("https://x.example"), None, None),
            (Some("a/b.d/c"), None, None),
            (Some("/home/.profile"), None, None),
            (Some("..md"), None, None),
            (Some("a.tar.gz"), None, Some("gz")),
            (Some("a.7z"), Some("b.c"), Some("c")),
            (Some("a.markdown"), None, Some("markdown")),
            (Some("a.markdowns"), None, None),
            (Some("ä.é"), None, None),
            (Some("ä.md"), None, Some("md")),
            (Some("1://x.example/a.md"), None, Some("md")),
            (None, None, None),
        ] {
            assert_eq!(
                document_type(uri, doc_id).as_deref(),
                expected,
                "{uri:?} {doc_id:?}"
            );
        }
    }
}
