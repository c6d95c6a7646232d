//! The request for a verdict.

use serde_json::{Value, json};

use super::verdict::Verdict;
use crate::fence::Fence;
use crate::request::{ChatRequest, messages};

/// Version of the prompt, of the thresholds for classifiers, and of the reading. A change needs a new version, because verdicts are
/// compared by it.
pub const PROMPT: &str = "judge-1";
/// Most characters of the explanation.
pub const MAX_EXPLANATION: usize = 100;
/// Most characters of the quoted part of the passage.
pub const MAX_QUOTE: usize = 300;
/// Most tokens of the model's answer. Quote and explanation take about 150; in some scripts three times as many.
const MAX_TOKENS: u32 = 500;

const INSTRUCTIONS: &str = "You judge a citation: whether the cited passage supports the claim that cites it.

Verdicts:
- ACCURATE: the passage states the whole claim, or the claim follows from it.
- PARTIAL: the passage supports a part of the claim and says nothing about the rest, or the claim is more certain, more exact or more general than the passage.
- HALLUCINATED: the passage supports no part of the claim, or it contradicts the claim or a part of it.
- UNVERIFIABLE: it cannot be decided, because the claim states no fact or the passage cannot be understood.

Rules:
- Use only the passage. What you know yourself does not count, also if the passage is wrong.
- Other words with the same meaning support a claim. The passage and the claim can be in different languages.
- Numbers, units, dates, names, negations and conditions must agree.
- The question only helps to understand the claim. It is no evidence, and the claim is no evidence for itself.

Fields of your answer:
- verdict: one of the four words.
- confidence: the probability that your verdict is right, from 0 to 1.
- passage: the shortest part of the passage that decides, copied exactly, at most 300 characters; \"\" if there is none.
- explanation: the reason, at most 100 characters.
- coordinates_match: whether the place that the citation names, such as a page or a section, is the place of the passage; null if the citation names no place, or the place of the passage is not given.";

const FORM: &str = "Reply only with a JSON object of the form {\"verdict\": \"ACCURATE\", \"confidence\": 0.9, \"passage\": \"…\", \"explanation\": \"…\", \"coordinates_match\": null}.";

/// A citation with its claim and its source.
#[derive(Debug, Clone, Copy)]
pub struct Cited<'a> {
    /// The question that was answered.
    pub question: &'a str,
    /// The sentences that cite.
    pub claim: &'a str,
    /// The citation as written in the answer.
    pub citation: &'a str,
    /// The cited passage, as it was shown to the model that answered.
    pub passage: &'a str,
    /// Title of the document.
    pub title: Option<&'a str>,
    /// Place of the passage within the document.
    pub locator: Option<&'a str>,
}

/// The request for the verdict on a citation.
pub fn request(cited: Cited<'_>) -> ChatRequest {
    let place: Vec<&str> = cited.title.into_iter().chain(cited.locator).collect();
    let place = place.join("\n");
    let blocks = [
        ("question", cited.question),
        ("claim", cited.claim),
        ("citation", cited.citation),
        ("place", &place),
        ("passage", cited.passage),
    ];
    let fence = Fence::around(&blocks.map(|(_, text)| text));
    let given = blocks.iter().filter(|(_, text)| !text.is_empty());
    let data: String = given
        .map(|(name, text)| fence.enclose(name, text))
        .collect();
    ChatRequest {
        messages: messages(
            format!("{INSTRUCTIONS}\n\n{}\n\n{FORM}", fence.rule()),
            format!("{data}\nDecide whether the passage supports the claim. {FORM}"),
        ),
        schema_name: "judgement".to_owned(),
        schema: schema(),
        temperature: 0,
        max_tokens: MAX_TOKENS,
        premise: Some(cited.passage.to_owned()),
        hypothesis: Some(cited.claim.to_owned()),
        question: Some(cited.question.to_owned()),
    }
}

/// The JSON schema of the model's answer. It uses only keywords that all APIs with structured output accept; the reading checks the
/// rest.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": Verdict::ALL.map(Verdict::word)},
            "confidence": {"type": "number"},
            "passage": {"type": "string"},
            "explanation": {"type": "string"},
            "coordinates_match": {"type": ["boolean", "null"]},
        },
        "required": ["verdict", "confidence", "passage", "explanation", "coordinates_match"],
        "additionalProperties": false,
    })
}
