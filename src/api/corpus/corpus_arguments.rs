//! Checks of the arguments of functions that create, register and change corpora. Errors: 22023.

use crate::error::{Error, Result};

pub(super) fn checked_metric(metric: &str) -> Result<&str> {
    match metric {
        "cosine" | "l2" | "inner_product" => Ok(metric),
        other => Err(Error::Bad {
            argument: "metric",
            fault: format!("\"{other}\""),
            hint: "One of cosine, l2, inner_product.".into(),
        }),
    }
}

pub(super) fn checked_embedding_type(kind: &str) -> Result<&str> {
    match kind {
        "vector" | "halfvec" => Ok(kind),
        other => Err(Error::Bad {
            argument: "embedding_type",
            fault: format!("\"{other}\""),
            hint: "One of vector, halfvec.".into(),
        }),
    }
}

pub(super) fn checked_title_weight(weight: i32) -> Result<u8> {
    let invalid = || Error::Bad {
        argument: "title_weight",
        fault: weight.to_string(),
        hint: "From 1 to 100, or 0 to leave titles out.".into(),
    };
    let weight_of = u8::try_from(weight).ok().filter(|weight| *weight <= 100);
    weight_of.ok_or_else(invalid)
}

pub(super) fn checked_keep_versions(count: Option<i32>) -> Result<Option<i32>> {
    match count {
        Some(count) if count < 0 => Err(Error::Bad {
            argument: "keep_versions",
            fault: count.to_string(),
            hint: "The number of newest versions to keep, or 0 to keep all.".into(),
        }),
        count => Ok(count),
    }
}

/// pgvector stores up to 16,000 dimensions.
pub(super) fn checked_dimensions(dimensions: Option<i32>) -> Result<()> {
    match dimensions {
        Some(count) if !(1..=16_000).contains(&count) => Err(Error::Bad {
            argument: "dimensions",
            fault: count.to_string(),
            hint: "From 1 to 16000, or NULL for a corpus without embeddings.".into(),
        }),
        _ => Ok(()),
    }
}
