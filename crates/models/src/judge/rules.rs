//! How much is judged for a tenant.

use crate::error::ModelError;

/// Checks a share of citations.
///
/// # Errors
/// It is not between 0 and 1.
pub fn sample(share: f32) -> Result<f32, ModelError> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(invalid("sample", "it is not between 0 and 1")),
    }
}

/// Checks a budget.
///
/// # Errors
/// It is negative.
pub fn budget(max_per_hour: i32) -> Result<i32, ModelError> {
    match max_per_hour {
        0.. => Ok(max_per_hour),
        _ => Err(invalid("max_per_hour", "it is below 0")),
    }
}

fn invalid(property: &'static str, fault: &str) -> ModelError {
    ModelError::Property {
        property,
        fault: fault.to_owned(),
        hint: "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_budgets_have_ranges() {
        assert_eq!(sample(0.0), Ok(0.0));
        assert_eq!(sample(1.0), Ok(1.0));
        for share in [-0.01, 1.01, f32::NAN, f32::INFINITY] {
            let error = sample(share).map_err(|error| error.to_string());
            let expected = "invalid sample: it is not between 0 and 1".to_owned();
            assert_eq!(error, Err(expected), "{share}");
        }
        assert_eq!(budget(0), Ok(0));
        assert_eq!(budget(i32::MAX), Ok(i32::MAX));
        assert!(budget(-1).is_err());
    }
}
