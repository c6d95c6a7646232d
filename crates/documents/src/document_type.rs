//! File type of a document, taken from its address or id.

/// Returns the file extension in lower case, of the address or otherwise of the id: `pdf` for
/// `https://x.example/a/B.PDF?page=2`. An extension is an ASCII letter and up to seven more ASCII letters or digits after a dot
/// that does not start the name. `None` if there is none.
#[must_use]
pub fn document_type(uri: Option<&str>, doc_id: Option<&str>) -> Option<String> {
    let extension = uri.and_then(|uri| extension(path(uri)));
    let extension = extension.or_else(|| doc_id.and_then(self::extension));
    extension.map(str::to_ascii_lowercase)
}

/// Returns an address without its query, fragment, scheme and host.
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

/// Returns the extension of a file name.
fn extension(path: &str) -> Option<&str> {
    let (name, extension) = path.rsplit_once('.')?;
    let mut characters = extension.chars();
    let is_extension = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric())
        && extension.len() <= 8;
    let has_name = name
        .chars()
        .next_back()
        .is_some_and(|last| !['/', '.'].contains(&last));
    (is_extension && has_name).then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_addresses_and_ids() {
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
