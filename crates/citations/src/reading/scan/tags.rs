//! Markup around a cited fact: `<co: 0>…</co: 0>`, `<source id="1">`, `<cite>…</cite>`, `[span_1](start_span)`.

use std::ops::Range;

use super::found::ClaimScope;
use super::scanner::{OpenMarkup, Scanner};
use crate::MAX_CITATIONS;
use crate::citation::ParsedCitation;
use crate::reading::forms;
use crate::{Family, Form, Malformed, Position, Reference};

/// Longest tag, in bytes.
const MAX_TAG: usize = 256;
/// Largest number of open markup. Deeper nesting is read without its ends.
const MAX_OPEN: usize = 8;
/// Attributes of a tag that name a source.
const ATTRIBUTES: [&str; 7] = ["id", "ids", "index", "source", "sources", "doc", "ref"];

impl Scanner<'_> {
    /// Reads the tag at `open`. Returns the position to continue at.
    pub(super) fn tag(&mut self, open: usize, limit: usize) -> usize {
        let text = self.text;
        let bytes = text.as_bytes();
        let window = &bytes[open + 1..limit.min(open + MAX_TAG)];
        let known = [&b"co"[..], b"/co", b"source", b"/source", b"cite", b"/cite"];
        if !self.is_on(Family::Tag) || !known.iter().any(|name| window.starts_with(name)) {
            return open + 1;
        }
        let Some(close) = window.iter().position(|b| matches!(b, b'<' | b'>' | b'\n')) else {
            return open + 1;
        };
        if window[close] != b'>' {
            return open + 1;
        }
        let inside = &text[open + 1..open + 1 + close];
        let bytes = open..open + close + 2;
        match inside.strip_prefix('/') {
            Some(closing) => self.tag_end(bytes, closing),
            None => self.tag_start(bytes, inside),
        }
    }

    fn tag_start(&mut self, bytes: Range<usize>, inside: &str) -> usize {
        let Some((form, label)) = tag_name(inside) else {
            return bytes.start + 1;
        };
        let read = match form {
            Form::CohereSpan => forms::enclosed_names(form.clone(), label),
            _ => attribute(inside).and_then(|value| named_or_id(form.clone(), value)),
        };
        let named = read.is_some();
        let read = match (read, &form) {
            (Some(read), _) => read,
            // The enclosed text may name the source.
            (None, Form::CiteTag) => ParsedCitation::malformed(Form::CiteTag, Malformed::EmptyName),
            (None, _) => return bytes.start + 1,
        };
        let label = match form {
            Form::CohereSpan => label.to_owned(),
            _ => String::new(),
        };
        self.opened(bytes.end, form, label, named);
        self.push(bytes, read)
    }

    fn tag_end(&mut self, bytes: Range<usize>, inside: &str) -> usize {
        let Some((form, label)) = tag_name(inside) else {
            return bytes.start + 1;
        };
        // `</co>` closes any open tag.
        if !self.closed(bytes.start, &form, label) {
            return bytes.start + 1;
        }
        self.push_markup(bytes, form)
    }

    /// Reads `[span_1](start_span)` and `[cite_start]`. Returns the position to continue at.
    pub(super) fn anchor(
        &mut self,
        span: Range<usize>,
        inside: &str,
        limit: usize,
    ) -> Option<usize> {
        if !self.is_on(Family::Gemini) {
            return None;
        }
        if inside == "cite_start" {
            return Some(self.push_markup(span, Form::GeminiCite));
        }
        let number = inside.strip_prefix("span_")?.parse().ok()?;
        let after = &self.text[span.end..limit];
        if after.starts_with("(start_span)") {
            let end = span.end + "(start_span)".len();
            self.opened(end, Form::GeminiSpan, inside.to_owned(), true);
            return Some(self.push(
                span.start..end,
                ParsedCitation::number(Form::GeminiSpan, number),
            ));
        }
        let end = after
            .starts_with("(end_span)")
            .then_some(span.end + "(end_span)".len())?;
        self.closed(span.start, &Form::GeminiSpan, inside);
        Some(self.push_markup(span.start..end, Form::GeminiSpan))
    }

    fn opened(&mut self, inner: usize, form: Form, label: String, named: bool) {
        if self.open.len() < MAX_OPEN {
            self.open.push(OpenMarkup {
                form,
                label,
                inner,
                found: self.found.len(),
                named,
            });
        }
    }

    /// Closes the innermost markup of a form. Returns whether there was any.
    fn closed(&mut self, end: usize, form: &Form, label: &str) -> bool {
        let fits =
            |open: &OpenMarkup| open.form == *form && (label.is_empty() || open.label == label);
        let Some(at) = self.open.iter().rposition(fits) else {
            return false;
        };
        let open = self.open.remove(at);
        let enclosed = open.inner..end;
        let enclosed_text = &self.text[enclosed.clone()];
        let innermost = self.found.len() == open.found + 1;
        let may_name = innermost && !open.named && enclosed_text.len() <= MAX_TAG;
        let read = may_name
            .then(|| forms::enclosed_names(open.form, enclosed_text))
            .flatten();
        match (open.named, read) {
            // `<cite>1</cite>`: the enclosed text names the source, and the sentence is the claim.
            (false, Some(read)) => self.replace(open.found, read, end),
            // `<cite>fact [1]</cite>`: the number is the citation.
            (false, None) if !innermost => {
                let markup = ParsedCitation::new(form.clone());
                let end = self
                    .found
                    .get(open.found)
                    .map_or(end, |found| found.bytes.end);
                self.replace(open.found, markup, end);
            }
            _ => {
                if let Some(found) = self.found.get_mut(open.found) {
                    found.scope = ClaimScope::Enclosed(enclosed);
                }
            }
        }
        true
    }

    fn replace(&mut self, index: usize, mut inside: ParsedCitation, end: usize) {
        if let Some(found) = self.found.get_mut(index) {
            let others = self.listed - found.parsed.references.len();
            inside.references.truncate(MAX_CITATIONS - others);
            self.listed = others + inside.references.len();
            found.parsed = inside;
            found.bytes.end = end;
        }
    }
}

/// Returns the form of a tag and the rest of it.
fn tag_name(inside: &str) -> Option<(Form, &str)> {
    let names = [
        ("co", Form::CohereSpan),
        ("source", Form::SourceTag),
        ("cite", Form::CiteTag),
    ];
    let inside = inside.trim_end_matches('/').trim();
    names.into_iter().find_map(|(name, form)| {
        let rest = inside.strip_prefix(name)?;
        if form == Form::CohereSpan {
            let label = rest.trim_start_matches(':').trim();
            let whole = rest.is_empty() || rest.starts_with([':', ' ']);
            return whole.then_some((form, label));
        }
        let whole = rest.is_empty() || rest.starts_with(' ');
        whole.then_some((form, ""))
    })
}

/// Returns the value of the first attribute that names a source.
fn attribute(inside: &str) -> Option<&str> {
    let (_, attributes) = inside.trim_end_matches('/').split_once(' ')?;
    let mut rest = attributes;
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, next) = match after.chars().next()? {
            quote @ ('"' | '\'') => after[1..].split_once(quote)?,
            _ => after.split_once(' ').unwrap_or((after, "")),
        };
        if ATTRIBUTES.contains(&name.trim()) {
            return Some(value.trim());
        }
        rest = next;
    }
    None
}

fn named_or_id(form: Form, value: &str) -> Option<ParsedCitation> {
    if value.is_empty() {
        return None;
    }
    forms::enclosed_names(form.clone(), value).or_else(|| {
        let id = value.to_owned();
        Some(ParsedCitation::one(
            form,
            Reference::Id {
                id,
                at: Position::default(),
            },
        ))
    })
}
