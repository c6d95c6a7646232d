//! Writes markup: the one place that does. Names of elements and attributes are those of this crate's source; everything else
//! is text, and is escaped.

use std::fmt::Write;

use reground_interrupt::checked;

/// Names and values of attributes. A name is never data; a value may be.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A piece of a page.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// The markup.
    #[must_use]
    pub fn finish(self) -> String {
        self.0
    }

    /// An element and what is in it.
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

    /// An element that holds text alone.
    pub fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// An element that is empty by nature, such as `meta`.
    pub fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
    }

    /// Text, read as such whatever it says.
    pub fn text(&mut self, text: &str) {
        escape(text, &mut self.0);
    }

    /// A line break in the source, for whoever reads that.
    pub fn line(&mut self) {
        self.0.push('\n');
    }

    /// An address: a link where it is one that a browser may follow, and else the address as text.
    pub fn address(&mut self, uri: &str) {
        if follows(uri) {
            let attributes = [("href", uri), ("rel", "noopener noreferrer nofollow")];
            self.leaf("a", &attributes, uri);
        } else {
            self.leaf("span", &[("class", "uri")], uri);
        }
    }

    /// Markup of this crate's own that needs no escaping: a style sheet.
    pub(crate) fn own(&mut self, markup: &'static str) {
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

/// Whether a browser may be led there: http or https and a host, without anything in it that shows otherwise than it is.
#[must_use]
pub fn follows(uri: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        let (head, rest) = uri.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_alphanumeric() || c == '[')
            && checked(rest.chars()).all(|c| !c.is_whitespace() && !hidden(c) && c != '\\')
    })
}

/// Characters that no reader sees and that change what he sees, or that no page may hold. They are shown by their number.
/// Joiners within words (U+200C, U+200D) belong to writing and to emoji, and stay.
fn hidden(c: char) -> bool {
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
            // What a parser makes of them anyhow.
            '\r' => into.push('\n'),
            '\n' if after_return => {}
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            c if hidden(c) => {
                // Writing to a String cannot fail.
                let _ = write!(into, "[U+{:04X}]", u32::from(c));
            }
            c => into.push(c),
        }
        after_return = c == '\r';
    }
}

/// Text cut to so many characters, with a sign that it was.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
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
    fn text_is_text() {
        assert_eq!(
            text("<b onclick='x(\"y\")'>&amp;</b>"),
            "&lt;b onclick=&#39;x(&quot;y&quot;)&#39;&gt;&amp;amp;&lt;/b&gt;"
        );
        assert_eq!(text("a\r\nb\rc\n\rd\te"), "a\nb\nc\n\nd\te");
    }

    #[test]
    fn what_hides_is_shown() {
        assert_eq!(text("user\u{202e}nimda"), "user[U+202E]nimda");
        assert_eq!(
            text("\u{0}\u{1b}\u{e0041}\u{10ffff}"),
            "[U+0000][U+001B][U+E0041][U+10FFFF]"
        );
        // Hebrew, Persian with its joiner and a family of emoji are writing.
        let written = "שלום می\u{200c}خواهم 👩\u{200d}👧";
        assert_eq!(text(written), written);
    }

    #[test]
    fn only_the_web_is_linked() {
        for uri in [
            "http://a.example",
            "HTTPS://a.example/b?c=d&e=f#g",
            "https://[::1]/",
            "https://bücher.example/",
        ] {
            assert!(follows(uri), "{uri}");
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
            assert!(!follows(uri), "{uri}");
        }
    }

    #[test]
    fn an_address_keeps_its_quotes_to_itself() {
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
    fn cutting_counts_characters() {
        assert_eq!(shortened("grün ist", 4), "grün…");
        assert_eq!(shortened("grün", 4), "grün");
    }
}
