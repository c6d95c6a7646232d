//! Writes markup. No other module does. Names of elements and attributes are literals of this crate; everything else is escaped
//! text.

use std::fmt::Write;

use reground_interrupt::checked;

/// Names and values of attributes. Names are literals; values can be data.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A fragment of a page.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Returns the markup.
    #[must_use]
    pub fn finish(self) -> String {
        self.0
    }

    /// Writes an element with its content.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        inside(self);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
    }

    /// Writes an element that contains only text.
    pub fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// Writes a void element, such as `meta`.
    pub fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
    }

    /// Writes escaped text.
    pub fn text(&mut self, text: &str) {
        escape(text, &mut self.0);
    }

    /// Writes a line break into the source, for readability.
    pub fn line(&mut self) {
        self.0.push('\n');
    }

    /// Writes an address: a link if it is safe to follow, otherwise text.
    pub fn address(&mut self, uri: &str) {
        if is_linkable(uri) {
            let attributes = [("href", uri), ("rel", "noopener noreferrer nofollow")];
            self.leaf("a", &attributes, uri);
        } else {
            self.leaf("span", &[("class", "uri")], uri);
        }
    }

    /// Writes a literal of this crate without escaping, such as the style sheet.
    pub(crate) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(value, &mut self.0);
            self.0.push('"');
        }
        self.0.push('>');
    }
}

/// Returns whether an address becomes a link: it is http or https with a host, and contains no character that disguises it.
#[must_use]
pub fn is_linkable(uri: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        let (head, rest) = uri.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_alphanumeric() || c == '[')
            && checked(rest.chars()).all(|c| !c.is_whitespace() && !is_invisible(c) && c != '\\')
    })
}

/// Returns whether a character is invisible but changes how text is displayed, or is not allowed in HTML. Such characters are shown
/// by their code points. Joiners within words (U+200C, U+200D) are part of scripts and emoji, and are kept.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
        || (u32::from(c) & 0xfffe) == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

fn escape(text: &str, into: &mut String) {
    let mut after_return = false;
    for c in checked(text.chars()) {
        match c {
            // HTML parsers normalise line ends the same way.
            '\r' => into.push('\n'),
            '\n' if after_return => {}
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            c if is_invisible(c) => {
                // Writing to a String cannot fail.
                let _ = write!(into, "[U+{:04X}]", u32::from(c));
            }
            c => into.push(c),
        }
        after_return = c == '\r';
    }
}

/// Returns the first `max` characters of a text, with an ellipsis if it was cut.
#[must_use]
pub fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.finish()
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            text("<b onclick='x(\"y\")'>&amp;</b>"),
            "&lt;b onclick=&#39;x(&quot;y&quot;)&#39;&gt;&amp;amp;&lt;/b&gt;"
        );
        assert_eq!(text("a\r\nb\rc\n\rd\te"), "a\nb\nc\n\nd\te");
    }

    #[test]
    fn invisible_characters_are_shown() {
        assert_eq!(text("user\u{202e}nimda"), "user[U+202E]nimda");
        assert_eq!(
            text("\u{0}\u{1b}\u{e0041}\u{10ffff}"),
            "[U+0000][U+001B][U+E0041][U+10FFFF]"
        );
        // Hebrew, Persian with a joiner, and an emoji family are ordinary text.
        let ordinary = "שלום می\u{200c}خواهم 👩\u{200d}👧";
        assert_eq!(text(ordinary), ordinary);
    }

    #[test]
    fn only_web_addresses_are_linked() {
        for uri in [
            "http://a.example",
            "HTTPS://a.example/b?c=d&e=f#g",
            "https://[::1]/",
            "https://bücher.example/",
        ] {
            assert!(is_linkable(uri), "{uri}");
        }
        for uri in [
            "javascript:alert(1)",
            "JavaScript://a.example/%0aalert(1)",
            "data:text/html,<script>",
            " https://a.example",
            "https://",
            "https:///a",
            "https://a.example/ b",
            "https://a.example/\u{202e}b",
            "https:\\\\a.example",
            "https://\\a.example",
            "//a.example",
            "docs/a.md",
            "htt",
            "ħttps://a.example",
            "",
        ] {
            assert!(!is_linkable(uri), "{uri}");
        }
    }

    #[test]
    fn quotes_in_addresses_are_escaped() {
        let mut html = Html::default();
        html.address("https://a.example/\"onmouseover=\"x");
        assert_eq!(
            html.finish(),
            "<a href=\"https://a.example/&quot;onmouseover=&quot;x\" rel=\"noopener noreferrer nofollow\">https://a.example/&quot;onmouseover=&quot;x</a>"
        );
        let mut html = Html::default();
        html.address("javascript:alert(1)");
        assert_eq!(
            html.finish(),
            "<span class=\"uri\">javascript:alert(1)</span>"
        );
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("grün ist", 4), "grün…");
        assert_eq!(shortened("grün", 4), "grün");
    }
}
