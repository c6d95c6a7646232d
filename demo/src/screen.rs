//! Terminal output: colours if the output is a terminal, and lines of at most 100 columns.

use std::io::{IsTerminal as _, Write as _};

/// Columns of the output.
pub const WIDTH: usize = 100;

/// Text styles.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// Headings.
    Bold,
    /// Less important text.
    Dim,
    /// Citations that hold.
    Good,
    /// Citations that do not hold.
    Bad,
    /// Labels.
    Label,
}

/// Capabilities of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    coloured: bool,
    progress: bool,
}

impl Screen {
    /// Detects the capabilities of standard output and standard error. `NO_COLOR` disables colours.
    pub fn of_stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            coloured: std::io::stdout().is_terminal() && !plain,
            progress: std::io::stderr().is_terminal(),
        }
    }

    /// Returns the text in a style.
    pub fn paint(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Label => "36",
        };
        if self.coloured {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Shows a progress line that the next call replaces. An empty text clears it.
    pub fn progress(&self, text: &str) {
        if self.progress {
            eprint!("\r\u{1b}[K{}", clip(text, WIDTH));
            // A failed flush only delays the display.
            let _ = std::io::stderr().flush();
        }
    }
}

/// Returns the number of columns of a text, without colour codes.
pub fn columns(text: &str) -> usize {
    let mut count = 0;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => escaped = true,
            'm' if escaped => escaped = false,
            _ if escaped => {}
            _ => count += 1,
        }
    }
    count
}

/// Breaks the text into lines at spaces. The first line begins at column `indent`, the others are indented by it. A no-break space
/// does not break and is printed as a space.
pub fn wrap(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut column = indent;
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let width = columns(word);
        if column > indent && column + 1 + width > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out.replace('\u{a0}', " ")
}

/// Returns the text in one line of at most `width` columns, with an ellipsis if it was cut.
pub fn clip(text: &str, width: usize) -> String {
    let line: Vec<char> = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .collect();
    if line.len() <= width {
        return line.into_iter().collect();
    }
    let kept: String = line.into_iter().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colour_codes_have_no_width() {
        let screen = Screen {
            coloured: true,
            progress: false,
        };
        let painted = screen.paint(Style::Good, "✓ [A1]");
        assert_eq!((columns(&painted), painted.contains("32m")), (6, true));
        assert_eq!(clip("one  two three", 8), "one two…");
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_the_width(words in proptest::collection::vec("[a-z\u{a0}]{1,20}", 0..80), indent in 0usize..20) {
            let text = words.join(" ");
            let wrapped = wrap(&text, indent);
            let first = " ".repeat(indent) + &wrapped;
            prop_assert!(first.lines().all(|line| columns(line) <= WIDTH));
            let flat = |text: &str| text.split([' ', '\n', '\u{a0}']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(flat(&wrapped), flat(&text));
        }
    }
}
