//! A verdict on the intent from the caller or from a function of the application.

use serde::Deserialize;
use serde_json::Value;

use super::judgement::{Dependency, Intent};

/// Maximum number of comparison members that are searched.
const MOST_ENTITIES: usize = 8;

/// The origin of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The caller, for this turn.
    Caller,
    /// The function that the setting `intent_function` names.
    Function,
}

impl Judge {
    /// Its name among the signals.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Function => "intent_function",
        }
    }
}

/// A verdict that replaces the judgement by cues.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The intent.
    pub intent: Intent,
    /// The likelihood that it is right, in [0, 1].
    pub confidence: f64,
    /// How far the turn depends on earlier ones; `None` leaves this to the cues.
    pub dependency: Option<Dependency>,
    /// Members of the comparison under `compare`; if empty, those that the cues find.
    pub entities: Vec<String>,
    /// The origin.
    pub by: Judge,
}

/// A verdict of the caller.
impl From<Intent> for Verdict {
    fn from(intent: Intent) -> Self {
        Self {
            intent,
            confidence: 1.0,
            dependency: None,
            entities: Vec::new(),
            by: Judge::Caller,
        }
    }
}

/// A verdict in the JSON of a function. Unknown fields may be omitted or null.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionVerdict {
    intent: Intent,
    confidence: Option<f64>,
    dependency: Option<Dependency>,
    entities: Option<Vec<String>>,
}

impl Verdict {
    /// Parses the JSON that a function returned: `{"intent": "drill_down", "confidence": 0.9, "dependency": "hard",
    /// "entities": []}`, where only the intent is required. `None` for null. The first eight distinct entities are
    /// used.
    ///
    /// # Errors
    /// A description of invalid JSON.
    pub fn read(json: &str) -> Result<Option<Self>, String> {
        let value: Value = serde_json::from_str(json).map_err(|fault| fault.to_string())?;
        if value.is_null() {
            return Ok(None);
        }
        if !value.is_object() {
            return Err(format!("{value} is not an object"));
        }
        let verdict: FunctionVerdict =
            serde_json::from_value(value).map_err(|fault| fault.to_string())?;
        let confidence = verdict.confidence.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&confidence) {
            return Err(format!("confidence {confidence} is not within 0 to 1"));
        }
        let mut entities: Vec<String> = Vec::new();
        for entity in verdict.entities.into_iter().flatten() {
            let entity = entity.trim();
            if entities.len() < MOST_ENTITIES
                && !entity.is_empty()
                && !entities.iter().any(|known| known == entity)
            {
                entities.push(entity.to_owned());
            }
        }
        Ok(Some(Self {
            intent: verdict.intent,
            confidence,
            dependency: verdict.dependency,
            entities,
            by: Judge::Function,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_verdicts_are_parsed() {
        let read = |json| Verdict::read(json).unwrap().unwrap();
        let said = read(
            r#"{"intent": "compare", "confidence": 0.5, "dependency": "hard", "entities": [" tea", "", "tea", "rye"]}"#,
        );
        assert_eq!((said.intent, said.confidence), (Intent::Compare, 0.5));
        assert_eq!(said.dependency, Some(Dependency::Hard));
        assert_eq!(said.entities, ["tea", "rye"]);
        assert_eq!(said.by, Judge::Function);
        let bare = read(
            r#"{"intent": "drill_down", "confidence": null, "dependency": null, "entities": null}"#,
        );
        assert_eq!((bare.confidence, bare.dependency), (1.0, None));
        assert_eq!(bare, read(r#"{"intent": "drill_down"}"#));
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let many = serde_json::json!({"intent": "compare", "entities": many}).to_string();
        assert_eq!(read(&many).entities.len(), MOST_ENTITIES);
        assert_eq!(Verdict::read("null"), Ok(None));
    }

    #[test]
    fn invalid_verdicts_are_errors() {
        for (said, fault) in [
            (r#"{"confidence": 1}"#, "missing field `intent`"),
            (r#"{"intent": "chat"}"#, "unknown variant `chat`"),
            (
                r#"{"intent": "compare", "confidence": 7}"#,
                "confidence 7 is not within 0 to 1",
            ),
            (
                r#"{"intent": "compare", "sure": true}"#,
                "unknown field `sure`",
            ),
            (r#"["compare", 0.5, null, []]"#, "is not an object"),
            ("3", "3 is not an object"),
            ("{", "EOF"),
        ] {
            let found = Verdict::read(said).unwrap_err();
            assert!(found.contains(fault), "{said}: {found}");
        }
    }
}
