//! A grammar for constrained decoding: an answer that can cite nothing but this turn's markers (I21).
//!
//! Any text is allowed but opening square brackets; what these open is a list of markers: `[A1]`, `[A1, B2]`. So whatever
//! [`extract`](crate::extract) then finds between square brackets names a source that was handed over. Markdown links and
//! task boxes are not allowed either, since a grammar cannot tell them from citations before it is too late.

use std::collections::BTreeSet;
use std::str::FromStr;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What the grammar is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrammarFormat {
    /// GBNF of llama.cpp; the start symbol is `root`.
    Gbnf,
    /// A regular expression for the whole answer. It has no anchors and looks nowhere but ahead, so the automata of vLLM,
    /// Outlines and their like can run it.
    Regex,
    /// A JSON schema for structured output: `{"sentences": [{"text": "…", "citations": ["A1"]}]}`, in the subset that
    /// providers agree on.
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

/// A format that no grammar is written in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown grammar format \"{0}\"")]
pub struct UnknownGrammarFormat(pub String);

/// Something that was given as a marker and is none: a marker is upper-case letters and a number, or a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no marker")]
pub struct InvalidMarker(pub String);

/// What opens a square bracket: ASCII, 【 and ［, written as each format escapes them. The same three as the scanner's.
const OPENING_GBNF: &str = r"\[\u3010\uFF3B";
const OPENING_REGEX: &str = r"\[【［";

/// The grammar of answers that cite these markers and no others. One given twice counts once; with none, an answer cites
/// nothing.
///
/// # Errors
/// [`InvalidMarker`] for the first that is not spelled as a marker. What passes holds nothing that any of the formats would
/// have to escape.
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
    // An empty enumeration is no valid schema.
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
