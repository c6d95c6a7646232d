//! Settings resolved from layers of JSON, by the table of settings.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::choices::{Fusion, LexicalStatistics};
use super::strategy::Strategy;
use super::table::{LEXICAL_STATISTICS, SETTINGS, SettingInfo, VISIBLE};
use super::values::Settings;
use crate::error::GroundingError;

/// The defaults of all settings.
static DEFAULTS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let each = SETTINGS.iter();
    each.map(|info| (info.name.to_owned(), info.default_value()))
        .collect()
});

impl Settings {
    /// Settings from layers, weakest first (GUC, corpus, conversation, call). A later layer wins. JSON null and the
    /// empty string mean "not set here", and `"off"` sets an optional setting back to none. `lexical_statistics` is the
    /// exception: `visible` in any layer applies, so a caller cannot switch off what the owner of the corpus has chosen.
    ///
    /// # Errors
    /// [`GroundingError::UnknownSetting`] with the layer and the name;
    /// [`GroundingError::InvalidSetting`] with the layer, the setting, the value and the accepted values;
    /// [`GroundingError::TargetOutOfReach`] if the `accuracy_target` is not below the `accuracy_baseline`.
    pub fn resolve(layers: &[(&'static str, &Value)]) -> Result<Self, GroundingError> {
        let mut set = Map::new();
        for (layer, settings) in layers {
            let layer = typed(layer, settings)?;
            let is_strict = [&set, &layer].into_iter().any(counts_visible);
            set.extend(layer);
            if is_strict {
                set.insert(LEXICAL_STATISTICS.to_owned(), VISIBLE.into());
            }
        }
        let mut merged = DEFAULTS.clone();
        merged.extend(preset(&set));
        merged.extend(fusion_default(&set));
        merged.extend(set);
        let settings = Self::read(merged)?;
        settings.model()?.min_share(settings.accuracy_target)?;
        Ok(settings)
    }

    /// The statistics for a corpus with settings of its own, which need not be a layer of these settings: a turn can search
    /// several corpora.
    #[must_use]
    pub fn lexical_statistics_of(&self, corpus: &Value) -> LexicalStatistics {
        match typed("corpus", corpus) {
            Ok(own) if !counts_visible(&own) => self.lexical_statistics,
            // Stored settings are checked. Faulty ones get the stricter value.
            _ => LexicalStatistics::Visible,
        }
    }

    /// Whether changes to a layer can put the `accuracy_target` out of reach.
    #[must_use]
    pub fn changes_target(changes: &Value) -> bool {
        let decides = ["accuracy_target", "accuracy_baseline"];
        decides.iter().any(|name| changes.get(name).is_some())
    }

    /// Checks that turns with these layers can reach the `accuracy_target`. Other faults of a layer are not reported.
    ///
    /// # Errors
    /// [`GroundingError::TargetOutOfReach`].
    pub fn check_target(layers: &[(&'static str, &Value)]) -> Result<(), GroundingError> {
        match Self::resolve(layers) {
            Err(error @ GroundingError::TargetOutOfReach { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    fn read(merged: Map<String, Value>) -> Result<Self, GroundingError> {
        // The table accepts exactly the values that the struct can hold; a test checks this.
        serde_json::from_value(Value::Object(merged)).map_err(|error| {
            GroundingError::InvalidSetting {
                layer: "settings".to_owned(),
                setting: "settings".to_owned(),
                value: error.to_string(),
                expected: "values that the settings table admits".to_owned(),
            }
        })
    }

    /// Checks one layer before it is stored.
    ///
    /// # Errors
    /// As [`Settings::resolve`], with the layer named `settings`.
    pub fn check(settings: &Value) -> Result<(), GroundingError> {
        typed("settings", settings).map(|_| ())
    }
}

/// Whether a layer chooses the statistics of the visible passages.
fn counts_visible(layer: &Map<String, Value>) -> bool {
    layer.get(LEXICAL_STATISTICS).and_then(Value::as_str) == Some(VISIBLE)
}

/// The preset of the strategy that is set; empty if none is, because the defaults are those of the default strategy.
fn preset(set: &Map<String, Value>) -> Map<String, Value> {
    let strategy = set.get("strategy").cloned().unwrap_or_default();
    let strategy = serde_json::from_value::<Strategy>(strategy).ok();
    match strategy.map(|strategy| serde_json::to_value(strategy.preset())) {
        Some(Ok(Value::Object(preset))) => preset,
        _ => Map::new(),
    }
}

/// The default share of the fusion that is set, if one is.
fn fusion_default(set: &Map<String, Value>) -> Option<(String, Value)> {
    let fusion = set.get("fusion")?;
    let fusion = Fusion::deserialize(fusion).ok()?;
    Some(("vector_share".to_owned(), fusion.vector_share().into()))
}

/// Whether a layer with this value sets the setting. Null and blank texts leave it to the layers below.
#[must_use]
pub fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// The settings of a layer, each in the type of the struct.
fn typed(layer: &str, settings: &Value) -> Result<Map<String, Value>, GroundingError> {
    let object = match settings {
        Value::Null => return Ok(Map::new()),
        Value::Object(object) => object,
        _ => {
            return Err(GroundingError::SettingsNotAnObject {
                layer: layer.to_owned(),
            });
        }
    };
    let mut set = Map::new();
    for (name, value) in object {
        let invalid = |expected: String| GroundingError::InvalidSetting {
            layer: layer.to_owned(),
            setting: name.clone(),
            value: value.to_string(),
            expected,
        };
        let info = SETTINGS
            .iter()
            .find(|info| info.name == name)
            .ok_or_else(|| unknown(layer, name))?;
        if !is_set(value) {
            continue;
        }
        let read = info.read(value).map_err(invalid)?;
        set.insert(name.clone(), read);
    }
    Ok(set)
}

fn unknown(layer: &str, name: &str) -> GroundingError {
    let names = SETTINGS.iter().map(|info: &SettingInfo| info.name);
    // A text of another length has no similar name. The check bounds the cost of a long text.
    let names = names.filter(|known| known.len().abs_diff(name.len()) <= known.len() / 4);
    let nearest = names
        .map(|known| (edit_distance(known, name), known))
        .min_by_key(|(distance, _)| *distance);
    GroundingError::UnknownSetting {
        layer: layer.to_owned(),
        setting: name.to_owned(),
        similar: nearest
            .filter(|(distance, known)| *distance <= known.len() / 4)
            .map(|(_, known)| known),
    }
}

/// Number of bytes to insert, remove or replace to turn one text into the other (Levenshtein distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (x, deleted) in a.bytes().zip(1..) {
        let mut diagonal = deleted - 1;
        let mut left = deleted;
        if let Some(first) = row.first_mut() {
            *first = deleted;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let replaced = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::strategy::{Refresh, RetrieveAt};
    use crate::settings::{BranchWeights, MarkerStyle};
    use serde_json::json;

    #[test]
    fn a_change_may_not_put_the_target_out_of_reach() {
        let corpus = json!({"accuracy_baseline": 0.8});
        for (changes, fits) in [
            (json!({"accuracy_target": 0.79}), true),
            (json!({"accuracy_target": 0.8}), false),
            (json!({"accuracy_target": "0.95"}), false),
            (
                json!({"accuracy_target": 0.95, "accuracy_baseline": 0.96}),
                true,
            ),
            // The corpus has a baseline below the default target already.
            (json!({"accuracy_target": null}), false),
            (json!({"max_sources": 3}), true),
        ] {
            let layers = [("corpus", &corpus), ("conversation", &changes)];
            let checked = Settings::check_target(&layers);
            let refused = Settings::changes_target(&changes) && checked.is_err();
            assert_eq!(refused, !fits, "{changes}: {checked:?}");
        }
    }

    #[test]
    fn the_table_and_the_struct_agree() {
        assert_eq!(Settings::resolve(&[]).unwrap(), Settings::default());
        let fields = serde_json::to_value(Settings::default()).unwrap();
        let mut names: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        let mut table: Vec<_> = SETTINGS.iter().map(|info| info.name.to_owned()).collect();
        names.sort();
        table.sort();
        assert_eq!(names, table);
    }

    #[test]
    fn an_unknown_name_suggests_the_setting_with_a_similar_name() {
        for (name, hint) in [
            ("max_sorces", "Did you mean \"max_sources\"?"),
            ("max_source", "Did you mean \"max_sources\"?"),
            ("rrfk", "Did you mean \"rrf_k\"?"),
            ("colour", "The view reground.settings lists all settings."),
            ("", "The view reground.settings lists all settings."),
        ] {
            let error = Settings::check(&json!({ name: 1 })).unwrap_err();
            assert_eq!(error.hint(), hint);
            let text = format!("unrecognized setting \"{name}\" in settings");
            assert_eq!(error.to_string(), text);
        }
        let distances = [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3)];
        for (a, b, distance) in distances {
            assert_eq!(edit_distance(a, b), distance);
        }
    }

    #[test]
    fn a_later_layer_wins_and_null_means_not_set() {
        let guc = json!({"max_sources": "7", "carry_threshold": "0.25", "carry_over": "off", "min_cfs": "0.8"});
        let corpus = json!({"max_sources": 9, "rrf_k": 10});
        let call =
            json!({"max_sources": null, "carry_over": "", "min_cfs": "off", "marker_style": "1"});
        let settings =
            Settings::resolve(&[("guc", &guc), ("corpus", &corpus), ("call", &call)]).unwrap();
        assert_eq!(settings.max_sources, 9);
        assert_eq!(settings.carry_threshold, 0.25);
        assert!(!settings.carry_over);
        assert_eq!(settings.rrf_k, 10.0);
        assert_eq!(settings.min_cfs, None);
        assert_eq!(settings.marker_style, MarkerStyle::Numbered);
    }

    #[test]
    fn no_layer_switches_the_statistics_of_visible_passages_off() {
        let (all, visible) = (
            json!({"lexical_statistics": "all"}),
            json!({"lexical_statistics": "Visible"}),
        );
        let layers = [
            &all,
            &visible,
            &json!({}),
            &json!({"lexical_statistics": null}),
        ];
        for first in layers {
            for second in layers {
                for third in layers {
                    let settings = Settings::resolve(&[
                        ("server", first),
                        ("corpus", second),
                        ("call", third),
                    ])
                    .unwrap();
                    let expected = match [first, second, third].contains(&&visible) {
                        true => LexicalStatistics::Visible,
                        false => LexicalStatistics::All,
                    };
                    assert_eq!(settings.lexical_statistics, expected);
                    for corpus in layers {
                        let strict = *corpus == visible || expected == LexicalStatistics::Visible;
                        let of_corpus = settings.lexical_statistics_of(corpus);
                        assert_eq!(of_corpus == LexicalStatistics::Visible, strict);
                    }
                }
            }
        }
        let faulty = json!({"lexical_statistics": "some"});
        let strict = Settings::default().lexical_statistics_of(&faulty);
        assert_eq!(strict, LexicalStatistics::Visible);
    }

    #[test]
    fn explicit_settings_override_the_strategy() {
        let resolve = |layers: &[Value]| {
            let layers: Vec<_> = layers.iter().map(|layer| ("layer", layer)).collect();
            Settings::resolve(&layers).unwrap()
        };
        for strategy in Strategy::ALL {
            let settings = resolve(&[json!({"strategy": strategy.name()})]);
            assert_eq!(settings.preset(), strategy.preset());
        }
        assert_eq!(Settings::default().preset(), Strategy::Reground.preset());
        // A value that a layer sets overrides the strategy, also if a stronger layer sets the strategy.
        let settings = resolve(&[json!({"compress": true}), json!({"strategy": "first_turn"})]);
        assert!(settings.compress);
        assert_eq!(settings.retrieve_at, RetrieveAt::FirstTurn);
        let settings = resolve(&[
            json!({"strategy": "none"}),
            json!({"strategy": null, "refresh": "never"}),
        ]);
        assert_eq!(
            (settings.retrieve_at, settings.refresh),
            (RetrieveAt::OnDemand, Refresh::Never)
        );
    }

    #[test]
    fn the_default_share_depends_on_the_fusion() {
        let weights = |layers: &[Value]| {
            let layers: Vec<_> = layers.iter().map(|layer| ("layer", layer)).collect();
            Settings::resolve(&layers).unwrap().branch_weights()
        };
        let pair = |lexical, vector| BranchWeights { lexical, vector };
        let scores = pair(1.0 - 0.7, 0.7);
        assert_eq!(weights(&[]), scores);
        assert_eq!(weights(&[json!({"fusion": "scores"})]), scores);
        assert_eq!(weights(&[json!({"fusion": "integrated"})]), scores);
        assert_eq!(weights(&[json!({"fusion": "rrf"})]), pair(1.0, 1.0));
        let later = [json!({"fusion": "rrf"}), json!({"fusion": "scores"})];
        assert_eq!(weights(&later), scores);
        // A share that a layer sets overrides the default of the fusion, also if a stronger layer sets the fusion.
        for (fusion, one) in [("scores", 1.0), ("integrated", 1.0), ("rrf", 2.0)] {
            let set = |share: f64| {
                let layers = [json!({"vector_share": share}), json!({"fusion": fusion})];
                weights(&layers)
            };
            assert_eq!(set(0.0), pair(one, 0.0));
            assert_eq!(set(1.0), pair(0.0, one));
            assert_eq!(set(0.25), pair(0.75 * one, 0.25 * one));
        }
    }

    #[test]
    fn domain_specificity_and_accuracy_are_checked() {
        let delta = |value: Value| {
            let layer = json!({ "domain_specificity": value });
            Settings::resolve(&[("call", &layer)]).map(|s| s.domain_specificity.delta())
        };
        assert_eq!(delta(json!("verse")).unwrap(), 0.8);
        assert_eq!(delta(json!("Document")).unwrap(), 0.2);
        assert_eq!(delta(json!(0.35)).unwrap(), 0.35);
        assert_eq!(delta(json!("0.35")).unwrap(), 0.35);
        for wrong in [json!(0), json!(1.5), json!("page"), json!("off")] {
            assert!(delta(wrong.clone()).is_err(), "{wrong}");
        }
        for (target, baseline) in [(0.91, 0.91), (0.95, 0.91), (0.5, 0.0), (0.0, 0.9)] {
            let layer = json!({"accuracy_target": target, "accuracy_baseline": baseline});
            let error = Settings::resolve(&[("call", &layer)]).unwrap_err();
            assert!(error.to_string().contains("accuracy_baseline"), "{error}");
        }
    }

    #[test]
    fn errors_name_layer_setting_and_expected_values() {
        for (value, setting) in [
            (json!({"max_sources": 0}), "max_sources"),
            (json!({"max_sources": 2.5}), "max_sources"),
            (json!({"max_sources": "ten"}), "max_sources"),
            (json!({"carry_decay": 1.01}), "carry_decay"),
            (json!({"carry_decay": "NaN"}), "carry_decay"),
            (json!({"carry_decay": "inf"}), "carry_decay"),
            (json!({"carry_over": 3}), "carry_over"),
            (json!({"lexical_search": "index"}), "lexical_search"),
            (json!({"vector_search": "fast"}), "vector_search"),
            (json!({"carry_max_age": -1}), "carry_max_age"),
            (json!({"reranker": ["f"]}), "reranker"),
            (json!({"max_sources": "off"}), "max_sources"),
        ] {
            match Settings::resolve(&[("call", &value)]) {
                Err(GroundingError::InvalidSetting {
                    layer,
                    setting: named,
                    expected,
                    ..
                }) => {
                    assert_eq!((layer.as_str(), named.as_str()), ("call", setting));
                    assert!(!expected.is_empty());
                }
                other => panic!("{value} gave {other:?}"),
            }
            assert!(Settings::check(&value).is_err());
        }
        assert!(Settings::check(&json!([1])).is_err());
        assert!(Settings::check(&json!({"max_tokens": 4000})).is_ok());
    }
}
