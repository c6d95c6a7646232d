//! The least that each figure must reach.

use anyhow::{Result, ensure};

use super::report::Figure;

/// Floors by the name of the figure. What is judged by text is held at the threshold that keeps false alarms within
/// [`MOST_ALARMS`].
const FLOORS: [(&str, f64); 12] = [
    ("unknown marker", 1.0),
    ("unknown marker, named", 1.0),
    ("number out of range", 1.0),
    ("number out of range, named", 1.0),
    ("page out of bounds, document shown", 1.0),
    ("page out of bounds, document shown, named", 1.0),
    ("page out of bounds, document not shown", 1.0),
    ("page out of bounds, document not shown, named", 1.0),
    ("marker of an earlier turn, named", 1.0),
    ("marker of another passage", 0.7),
    ("markers of one sentence exchanged", 0.9),
    ("invented content", 0.5),
];

/// Floors of the places by book, chapter and verse, which are measured where the text is given.
const PLACES: [(&str, f64); 2] = [
    ("true places resolve", 1.0),
    ("invented places are out of bounds", 1.0),
];

/// The most false alarms on citations that were not touched, as a share of them.
pub const MOST_ALARMS: f64 = 0.05;

/// Holds the figures against their floors, those of places too if these were measured.
///
/// # Errors
/// Names every figure below its floor, or not measured.
pub fn check(figures: &[Figure], places: bool) -> Result<()> {
    let reached = |name: &str| {
        figures
            .iter()
            .find(|figure| figure.0 == name)
            .map(|figure| figure.1)
    };
    let below: Vec<String> = FLOORS
        .iter()
        .chain(PLACES.iter().filter(|_| places))
        .filter(|(name, floor)| reached(name).is_none_or(|value| value < *floor))
        .map(|(name, floor)| match reached(name) {
            Some(value) => format!("{name}: {value:.4} is below its floor {floor}"),
            None => format!("{name}: not measured, its floor is {floor}"),
        })
        .collect();
    ensure!(below.is_empty(), "{}", below.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FLOORS, check};

    #[test]
    fn what_is_below_or_missing_fails() {
        let mut figures: Vec<_> = FLOORS.map(|(name, floor)| (name.to_owned(), floor)).into();
        assert!(check(&figures, false).is_ok());
        assert!(check(&figures, true).is_err());
        assert!(check(&figures[1..], false).is_err());
        figures[0].1 -= 0.01;
        assert!(check(&figures, false).is_err());
    }
}
