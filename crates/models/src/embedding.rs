//! The request and the result of the kind `embed`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ModelError;

/// The request for a text.
#[must_use]
pub fn request(text: &str) -> Value {
    json!({"text": text, "input_type": "document"})
}

/// The beginning of a text that has at most this many tokens of o200k_base.
#[must_use]
pub fn cut(text: &str, max_tokens: u32) -> &str {
    let most = usize::try_from(max_tokens).unwrap_or(usize::MAX);
    // A token has at least one byte, so most texts need no count.
    if text.len() <= most {
        return text;
    }
    let ends = reground_tokens::boundaries(text);
    if ends.len() <= most {
        return text;
    }
    let end = most
        .checked_sub(1)
        .and_then(|last| ends.get(last))
        .copied()
        .unwrap_or_default();
    text.get(..text.floor_char_boundary(end))
        .unwrap_or_default()
}

/// Reads the result.
///
/// # Errors
/// It has another shape or another number of dimensions, or a number is not finite as a single precision float.
pub fn read(result: Value, dimensions: i32) -> Result<Vec<f32>, ModelError> {
    #[derive(Deserialize)]
    struct Embedded {
        embedding: Vec<f64>,
    }
    let Embedded { embedding } =
        serde_json::from_value(result).map_err(|error| ModelError::Result(error.to_string()))?;
    if i32::try_from(embedding.len()) != Ok(dimensions) {
        return Err(ModelError::Result(format!(
            "the embedding has {} dimensions, not {dimensions}",
            embedding.len()
        )));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "pgvector stores single precision"
    )]
    let embedding: Vec<f32> = embedding.into_iter().map(|value| value as f32).collect();
    if embedding.iter().any(|value| !value.is_finite()) {
        return Err(ModelError::Result(
            "the embedding has numbers that are not finite".into(),
        ));
    }
    if embedding.iter().all(|value| *value == 0.0) {
        return Err(ModelError::Result(
            "all numbers of the embedding are 0".into(),
        ));
    }
    Ok(embedding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_token() {
        assert_eq!(cut("one two three", 2), "one two");
        assert_eq!(cut("one two three", 3), "one two three");
        assert_eq!(cut("one two three", 100), "one two three");
        assert_eq!(cut("", 1), "");
        assert!("🦀🦀🦀🦀".starts_with(cut("🦀🦀🦀🦀", 3)));
    }

    #[test]
    fn an_embedding_has_the_dimensions_of_its_model_and_finite_numbers() {
        assert_eq!(
            read(json!({"embedding": [1, -0.5]}), 2),
            Ok(vec![1.0, -0.5])
        );
        for (result, fault) in [
            (json!({"embedding": [1]}), "1 dimensions, not 2"),
            (json!({"embedding": [1, 1e39]}), "not finite"),
            (json!({"embedding": [0, 0]}), "are 0"),
            (json!({"embedding": ["1", 2]}), "invalid type"),
            (json!({"vector": [1, 2]}), "missing field"),
            (json!([1, 2]), "invalid type"),
        ] {
            let error = read(result.clone(), 2).map_err(|error| error.to_string());
            assert!(
                error.as_ref().is_err_and(|text| text.contains(fault)),
                "{result}: {error:?}"
            );
        }
    }
}
