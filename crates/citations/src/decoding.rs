//! Grammars for constrained decoding: an answer can cite only the markers of this turn.
//!
//! A grammar allows any text except opening square brackets, and lists of markers in square brackets: `[A1]`, `[A1,
//! B2]`. So every citation that [`extract`](crate::extract) finds between square brackets names a source of the
//! context. Markdown links and task boxes are excluded too, because a grammar cannot tell them from citations in
//! time.

use std::collections::BTreeSet;
use std::str::FromStr;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The format of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrammarFormat {
    /// GBNF of llama.cpp; the start symbol is `root`.
    Gbnf,
    /// A regular expression for the whole answer. It has no anchors and no look-behind, so the automata of vLLM,
    /// Outlines and similar systems can run it.
    Regex,
    /// A JSON schema for structured output: `{"sentences": [{"text": "…", "citations": ["A1"]}]}`. It uses the subset
    /// that the providers have in common.
    JsonSchema,
}

impl FromStr for GrammarFormat {
    type Err = UnknownGrammarFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "gbnf" => Ok(Self::Gbnf),
            "regex" => Ok(Self::Regex),
            "json_schema" => Ok(Self::JsonSchema),
            _ => Err(UnknownGrammarFormat(name.to_owned())),
        }
    }
}

/// The name of an unknown format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown grammar format \"{0}\"")]
pub struct UnknownGrammarFormat(pub String);

/// A text that is not a marker. A marker is upper-case letters and a number, or a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a marker")]
pub struct InvalidMarker(pub String);

/// The characters that open a square bracket: ASCII, 【 and ［, escaped for each format. The scanner reads the same
/// three.
const OPENING_GBNF: &str = r"\[\u3010\uFF3B";
const OPENING_REGEX: &str = r"\[【［";

/// Returns a grammar of the answers that cite only these markers. Repeated markers count once. Without markers, an
/// answer cannot cite.
///
/// # Errors
/// [`InvalidMarker`] for the first text that is not a marker. Valid markers contain no characters that a format has
/// to escape.
pub fn citation_grammar<M: AsRef<str>>(
    markers: &[M],
    format: GrammarFormat,
) -> Result<String, InvalidMarker> {
    let mut seen = BTreeSet::new();
    let mut admitted = Vec::new();
    for marker in checked(markers).map(AsRef::as_ref) {
        if !is_marker(marker) {
            return Err(InvalidMarker(marker.to_owned()));
        }
        if seen.insert(marker) {
            admitted.push(marker);
        }
    }
    Ok(match format {
        GrammarFormat::Gbnf => gbnf(&admitted),
        GrammarFormat::Regex => regex(&admitted),
        GrammarFormat::JsonSchema => json_schema(&admitted),
    })
}

fn is_marker(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

fn gbnf(markers: &[&str]) -> String {
    if markers.is_empty() {
        return format!("root ::= [^{OPENING_GBNF}]*\n");
    }
    let literals: Vec<String> = markers.iter().map(|m| format!("\"{m}\"")).collect();
    format!(
        "root ::= ([^{OPENING_GBNF}] | citation)*\n\
         citation ::= \"[\" marker (\",\" \" \"? marker)* \"]\"\n\
         marker ::= {}\n",
        literals.join(" | ")
    )
}

fn regex(markers: &[&str]) -> String {
    if markers.is_empty() {
        return format!("[^{OPENING_REGEX}]*");
    }
    let marker = format!("({})", markers.join("|"));
    format!(r"([^{OPENING_REGEX}]|\[{marker}(, ?{marker})*\])*")
}

fn json_schema(markers: &[&str]) -> String {
    // A JSON schema does not allow an empty enumeration.
    let citations = if markers.is_empty() {
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 0})
    } else {
        json!({"type": "array", "items": {"type": "string", "enum": markers}})
    };
    let sentence = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "pattern": format!("^[^{OPENING_REGEX}]*$")},
            "citations": citations,
        },
        "required": ["text", "citations"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence}},
        "required": ["sentences"],
        "additionalProperties": false,
    })
    .to_string()
}
