//! Lower bounds of the figures.

use anyhow::{Result, ensure};

use super::report::Figure;

/// Floors by the name of the figure. Figures that depend on support are measured at the threshold that limits false alarms to
/// [`MOST_ALARMS`].
const FLOORS: [(&str, f64); 38] = [
    ("unknown marker", 1.0),
    ("unknown marker, named", 1.0),
    ("number out of range", 1.0),
    ("number out of range, named", 1.0),
    ("page out of bounds, document shown", 1.0),
    ("page out of bounds, document shown, named", 1.0),
    ("page out of bounds, document not shown", 1.0),
    ("page out of bounds, document not shown, named", 1.0),
    ("marker of an earlier turn, named", 1.0),
    ("marker of another passage", 0.95),
    ("markers of one sentence exchanged", 0.9),
    ("invented content", 0.98),
    ("number changed", 0.97),
    ("negation inserted", 0.94),
    ("name swapped", 0.72),
    ("near number", 0.94),
    ("denial added or removed", 0.92),
    ("name of another passage", 0.6),
    ("generated, other number", 0.98),
    ("generated, denied", 0.98),
    ("generated, other name", 0.64),
    ("generated, two facts under one citation", 0.98),
    ("right answers accepted", 0.98),
    ("answers with false citations refused", 0.9),
    ("corrected wrong markers, precision", 0.91),
    ("corrected wrong markers, recall", 0.89),
    ("corrected missing citations, precision", 0.95),
    ("corrected missing citations, recall", 0.88),
    ("corrected nothing, right citations kept", 0.99),
    ("conflicts, copied, number", 0.89),
    ("conflicts, copied, denial", 0.89),
    ("conflicts, words of an answer, number", 0.63),
    ("conflicts, words of an answer, denial", 0.55),
    ("conflicts, generated, number", 0.99),
    ("conflicts, generated, denial", 0.99),
    ("conflicts, none in clapnq", 0.985),
    ("conflicts, none in cloud", 0.95),
    ("conflicts, none in fiqa", 0.98),
];

/// Floors of places by book, chapter and verse, which need the text.
const PLACES: [(&str, f64); 2] = [
    ("true places resolve", 1.0),
    ("invented places are out of bounds", 1.0),
];

/// Floors of corrected answers of models, which need AttributionBench.
const MODELS: [(&str, f64); 3] = [
    ("corrected models, wrong markers, precision", 0.38),
    ("corrected models, wrong markers, recall", 0.7),
    ("corrected models, nothing, right citations kept", 0.985),
];

/// Largest share of false alarms on unchanged citations.
pub const MOST_ALARMS: f64 = 0.048;

/// Checks the figures against their floors; `places` and `models` include those of places and of the answers of models.
///
/// # Errors
/// Lists every figure that is below its floor or was not measured.
pub fn check(figures: &[Figure], places: bool, models: bool) -> Result<()> {
    let reached = |name: &str| {
        figures
            .iter()
            .find(|figure| figure.0 == name)
            .map(|figure| figure.1)
    };
    let below: Vec<String> = FLOORS
        .iter()
        .chain(PLACES.iter().filter(|_| places))
        .chain(MODELS.iter().filter(|_| models))
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
    fn a_figure_below_its_floor_or_missing_fails() {
        let mut figures: Vec<_> = FLOORS.map(|(name, floor)| (name.to_owned(), floor)).into();
        assert!(check(&figures, false, false).is_ok());
        assert!(check(&figures, true, false).is_err());
        assert!(check(&figures, false, true).is_err());
        assert!(check(&figures[1..], false, false).is_err());
        figures[0].1 -= 0.01;
        assert!(check(&figures, false, false).is_err());
    }
}
