//! Names of files: `report.pdf`.

/// Extensions of documents. A file name with one of them in brackets is a citation.
const DOCUMENTS: [&str; 19] = [
    "pdf", "doc", "docx", "ppt", "pptx", "xls", "xlsx", "odt", "odp", "ods", "rtf", "epub", "html",
    "htm", "md", "mdx", "rst", "adoc", "txt",
];
/// Extensions of other files that sources may have. Such a name is a citation only with a word or coordinates.
const OTHERS: [&str; 13] = [
    "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "log", "tex", "eml", "msg", "vtt", "srt",
];

/// Returns the length in bytes of the first file name of a text, up to its extension. It may contain spaces.
pub(super) fn first(text: &str) -> Option<usize> {
    text.match_indices('.').find_map(|(dot, _)| {
        let rest = &text[dot + 1..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (extension, after) = rest.split_at(length);
        let named =
            text[..dot].ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '_' | '-'));
        let ends = after.is_empty() || after.starts_with([',', ';', ':', ' ', '&', '(']);
        (named && ends && is_extension(extension)).then_some(dot + 1 + length)
    })
}

/// Returns whether a text is a file name without spaces.
pub(super) fn is_one(text: &str) -> bool {
    let signs = |c: char| c.is_alphanumeric() || "-_.+~%/@".contains(c);
    text.chars().all(signs) && first(text) == Some(text.len())
}

/// Returns whether a file name is that of a document.
pub(super) fn is_document(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    among(&DOCUMENTS, extension)
}

fn is_extension(text: &str) -> bool {
    among(&DOCUMENTS, text) || among(&OTHERS, text)
}

fn among(extensions: &[&str], text: &str) -> bool {
    extensions
        .iter()
        .any(|known| text.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_end_with_their_extension() {
        for (text, name) in [
            ("a.pdf, p. 1", Some("a.pdf")),
            ("Annual report 2.0.PDF p. 3", Some("Annual report 2.0.PDF")),
            ("notes.v2.txt", Some("notes.v2.txt")),
            (".md", None),
            ("a.pdfs", None),
            ("e.g. this", None),
        ] {
            assert_eq!(first(text).map(|end| &text[..end]), name, "{text}");
        }
        assert!(is_one("docs/guide-2.md") && is_document("docs/guide-2.md"));
        assert!(is_one("data.csv") && !is_document("data.csv"));
        assert!(!is_one("see a.pdf") && !is_one("a.pdf, b.pdf"));
    }
}
