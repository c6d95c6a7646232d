//! The request and the result of the kind `rerank`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ModelError;

/// The request for a query and its candidates.
#[must_use]
pub fn request(query: &str, passages: &[&str]) -> Value {
    json!({"query": query, "passages": passages})
}

/// Reads the scores, in the order of the passages; `None` for a passage without a score.
///
/// # Errors
/// It has another shape or another number of scores, or no passage has a score.
pub fn read(result: Value, passages: usize) -> Result<Vec<Option<f64>>, ModelError> {
    #[derive(Deserialize)]
    struct Scored {
        scores: Vec<Option<f64>>,
    }
    let Scored { scores } =
        serde_json::from_value(result).map_err(|error| ModelError::Result(error.to_string()))?;
    if scores.len() != passages {
        return Err(ModelError::Result(format!(
            "{} scores for {passages} passages",
            scores.len()
        )));
    }
    if passages > 0 && scores.iter().all(Option::is_none) {
        return Err(ModelError::Result("no passage has a score".into()));
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_passage_has_a_score_or_none() {
        assert_eq!(
            read(json!({"scores": [0.5, null]}), 2),
            Ok(vec![Some(0.5), None])
        );
        assert!(read(json!({"scores": [0.5]}), 2).is_err());
        assert!(read(json!({"scores": [null, null]}), 2).is_err());
        assert!(read(json!({"scores": ["1"]}), 1).is_err());
        assert_eq!(read(json!({"scores": []}), 0), Ok(vec![]));
    }
}
