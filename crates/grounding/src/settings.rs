//! The settings of a turn: one typed struct, resolved from layers of JSON by the table in [`crate::setting_table`].

use std::str::FromStr;

use reground_citations::GrammarRules;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::dilution::DomainSpecificity;
use crate::error::GroundingError;
use crate::setting_table::{SETTINGS, SettingInfo};
use crate::strategy::{Preset, Refresh, RetrieveAt, Strategy};
use crate::theory::Model;

/// What makes a source active at the end of a turn besides a citation (C3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarryActivation {
    /// Cited, or put into the context by fresh retrieval.
    Context,
    /// Cited only.
    Cited,
}

/// How the lexical branch searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LexicalSearch {
    /// Through an index where there is one that may be used.
    Auto,
    /// Without: every passage is read.
    Exact,
}

/// How the vector branch searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorSearch {
    /// As the planner likes.
    Auto,
    /// Without an index: every passage is compared.
    Exact,
    /// Through the vector index.
    Index,
}

/// How the lists of the branches become one order (C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// By the standardised scores of both branches.
    Scores,
    /// By reciprocal rank.
    Rrf,
    /// As `scores`, with what earlier turns were shown ranked among what this one finds (H1).
    Integrated,
}

impl Fusion {
    /// Whether each branch has to score what the other found.
    #[must_use]
    pub fn by_scores(self) -> bool {
        self != Self::Rrf
    }
}

/// What a turn's query is made of (K1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryFrom {
    /// The user's words alone.
    Turn,
    /// All that the user has said, as far back as `query_history`.
    Dialogue,
    /// The user's words, with as much of the conversation as they lean on.
    Contextual,
}

/// How passages stand in the prompt (D11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageOrder {
    /// Strongest first.
    Score,
    /// Strongest at the beginning and the end, weakest in the middle.
    Edges,
}

/// What a marker looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkerStyle {
    /// `A1`: letters for the document, number for the passage.
    #[serde(rename = "A1")]
    Lettered,
    /// `1`: one running number over the conversation.
    #[serde(rename = "1")]
    Numbered,
}

impl FromStr for MarkerStyle {
    type Err = GroundingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "A1" => Ok(Self::Lettered),
            "1" => Ok(Self::Numbered),
            _ => Err(GroundingError::UnknownMarkerStyle(name.to_owned())),
        }
    }
}

/// Which candidates the trace of a turn keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepCandidates {
    /// All of them, with the stage and reason of those that left.
    All,
    /// Those of the final context.
    Kept,
    /// None.
    None,
}

/// What is kept to prove where a citation comes from (I10); each level has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Coordinates, ranks and scores.
    Metadata,
    /// Hashes of the candidates' texts, made from the texts.
    Hash,
    /// How alike the sources of the context are to the query and to each other.
    Semantic,
    /// A link in the conversation's chain of hashes.
    Merkle,
}

/// What is kept of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreAnswers {
    /// All of it.
    Full,
    /// Its hash and what was found of its citations, and none of its words.
    Hash,
}

/// Everything that shapes a turn. [`SETTINGS`] states unit, range and meaning of each for users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Passages asked of each branch (C2), 1–1000, default 40.
    pub candidates: usize,
    /// Fused candidates that go to the reranker (C6), 1–1000, default 40.
    pub rerank_top: usize,
    /// Most sources in the final context (C6), 1–100, default 10.
    pub max_sources: usize,
    /// Sources below which smaller passages may fill the token budget (C6), 0–100, default 8.
    pub min_sources: usize,
    /// Budget of the passages' text in o200k_base tokens, 1–1,000,000, default 4000.
    pub max_tokens: usize,
    /// Slots kept for carried sources, pins first (C8), 0–100, default 1.
    pub reserved_slots: usize,
    /// Whether earlier sources are carried at all; pins always are. Default true.
    pub carry_over: bool,
    /// τ of C3: least relevance, 0–1, of a carried source, default 1.
    pub carry_threshold: f64,
    /// Factor, 0–1, on the carry score for each ended turn (C3), default 0.7.
    pub carry_decay: f64,
    /// Inactive turns after which a source is forgotten (C3), 1–1000, default 3.
    pub carry_ttl_turns: u32,
    /// Seconds since its last use after which a source is not carried; `None` is off, the default.
    pub carry_max_age: Option<f64>,
    /// What counts as activity (C3), default `cited`.
    pub carry_activation: CarryActivation,
    /// Most pins in a context (C8), 0–100, default 3.
    pub max_pinned: usize,
    /// Whether twins count as one (C5), default true.
    pub collapse_twins: bool,
    /// Whether adjacent passages are merged (C5), default true.
    pub merge_adjacent: bool,
    /// Share, 0.5–1, of the shorter range that two twins have in common (C5), default 0.9.
    pub twin_overlap: f64,
    /// Most o200k_base tokens of a merged passage (C5), 1–100,000, default 512.
    pub max_merged_tokens: usize,
    /// k of reciprocal rank fusion, 1–10,000, default 60.
    pub rrf_k: f64,
    /// Weight of the lexical branch, 0–100, default 1.
    pub lexical_weight: f64,
    /// Weight of the vector branch, 0–100, default 1.
    pub vector_weight: f64,
    /// Whether the neighbours of what the conversation keeps naming are looked up (C4). Default false.
    pub graph: bool,
    /// Most passages that neighbours nominate (C4), 0–100, default 5.
    pub graph_neighbours: usize,
    /// Weight of the list of neighbours, 0–100, default 1.
    pub graph_weight: f64,
    /// How the lists become one order, default `scores`.
    pub fusion: Fusion,
    /// Share, 0–1, of the vector branch where scores are fused, default 0.7.
    pub vector_share: f64,
    /// What the query is made of, default `contextual`.
    pub query_from: QueryFrom,
    /// Factor, 0–10, on what a contextual query borrows of the conversation, default 1.
    pub history_weight: f64,
    /// `deferred`, or a function's signature; `None` leaves the fused order.
    pub reranker: Option<String>,
    /// A function's signature; `None` judges the intent by cues.
    pub intent_function: Option<String>,
    /// Facts extracted for each source (C7), 0–10, default 2.
    pub facts_per_source: usize,
    /// Whether a turn without an embedding is an error. Default false.
    pub require_embedding: bool,
    /// How the lexical branch searches, default `auto`.
    pub lexical_search: LexicalSearch,
    /// How the vector branch searches, default `auto`.
    pub vector_search: VectorSearch,
    /// Order of the passages in the prompt (D11), default `score`.
    pub passage_order: PassageOrder,
    /// Look of the markers, default `A1`.
    pub marker_style: MarkerStyle,
    /// Candidates kept in the trace, default `all`.
    pub keep_candidates: KeepCandidates,
    /// Versions of what the application brings.
    pub component_versions: Option<String>,
    /// What is kept to prove where a citation comes from (I10), default `metadata`.
    pub provenance: Provenance,
    /// What is kept of an answer, default `full`.
    pub store_answers: StoreAnswers,
    /// What is read as a citation beside the usual forms; `None` is nothing, the default.
    pub citation_forms: Option<GrammarRules>,
    /// Language of the texts (`en`); `None` takes that of the text search configuration, the default.
    pub language: Option<String>,
    /// Least support, 0–1, for a claim to count as supported, default 0.43.
    pub support_threshold: f64,
    /// By how much, 0–1, another source must support a claim better to call the citation wrong, default 0.2.
    pub other_source_margin: f64,
    /// Least CFS, 0–1, for an answer to be accepted (I20); `None` is off, the default.
    pub min_cfs: Option<f64>,
    /// Whether an answer without citations is refused (I20). Default false.
    pub require_citations: bool,
    /// Earlier turns that intent and the query look at, 0–100, default 4.
    pub query_history: usize,
    /// What is done about history (D9), default `reground`: the preset of the next three.
    pub strategy: Strategy,
    /// The turns that may retrieve (K1), by default as the strategy says.
    pub retrieve_at: RetrieveAt,
    /// When they replace the sources that there are (D5), by default as the strategy says.
    pub refresh: Refresh,
    /// Whether the history is kept to what the target leaves it (D6), by default as the strategy says.
    pub compress: bool,
    /// Accuracy of citations, 0–1, that history may not fall below, default 0.85; below `accuracy_baseline`.
    pub accuracy_target: f64,
    /// acc(0): accuracy of citations, 0–1, without any history, default 0.91.
    pub accuracy_baseline: f64,
    /// δ of the domain, default that of sections, 0.5.
    pub domain_specificity: DomainSpecificity,
    /// β of D4, 0–20: what relevance kept sources lose as the topic drifts, default 0.08.
    pub drift_weight: f64,
    /// Whether the prompt has a line against noise in the history (K5). Default false.
    pub history_note: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            candidates: 40,
            rerank_top: 40,
            max_sources: 10,
            min_sources: 8,
            max_tokens: 4000,
            reserved_slots: 1,
            carry_over: true,
            carry_threshold: 1.0,
            carry_decay: 0.7,
            carry_ttl_turns: 3,
            carry_max_age: None,
            carry_activation: CarryActivation::Cited,
            max_pinned: 3,
            collapse_twins: true,
            merge_adjacent: true,
            twin_overlap: 0.9,
            max_merged_tokens: 512,
            rrf_k: 60.0,
            lexical_weight: 1.0,
            vector_weight: 1.0,
            graph: false,
            graph_neighbours: 5,
            graph_weight: 1.0,
            fusion: Fusion::Scores,
            vector_share: 0.7,
            query_from: QueryFrom::Contextual,
            history_weight: 1.0,
            reranker: None,
            intent_function: None,
            facts_per_source: 2,
            require_embedding: false,
            lexical_search: LexicalSearch::Auto,
            vector_search: VectorSearch::Auto,
            passage_order: PassageOrder::Score,
            marker_style: MarkerStyle::Lettered,
            keep_candidates: KeepCandidates::All,
            component_versions: None,
            provenance: Provenance::Metadata,
            store_answers: StoreAnswers::Full,
            citation_forms: None,
            language: None,
            support_threshold: 0.43,
            other_source_margin: 0.2,
            min_cfs: None,
            require_citations: false,
            query_history: 4,
            strategy: Strategy::Reground,
            retrieve_at: RetrieveAt::EveryTurn,
            refresh: Refresh::Always,
            compress: true,
            accuracy_target: 0.85,
            accuracy_baseline: 0.91,
            domain_specificity: DomainSpecificity::default(),
            drift_weight: 0.08,
            history_note: false,
        }
    }
}

impl Settings {
    /// Settings from layers, weakest first (GUC, corpus, conversation, call): a later layer wins, JSON null and the
    /// empty string mean "not set here", and `"off"` sets an optional setting back to none.
    ///
    /// # Errors
    /// [`GroundingError::InvalidSetting`] names the layer, the setting, the value and what is expected;
    /// [`GroundingError::TargetOutOfReach`] where the `accuracy_target` is not below the `accuracy_baseline`.
    pub fn resolve(layers: &[(&'static str, &Value)]) -> Result<Self, GroundingError> {
        let mut set = Map::new();
        for (layer, settings) in layers {
            set.extend(typed(layer, settings)?);
        }
        let mut merged = Map::new();
        for info in SETTINGS {
            merged.insert(info.name.to_owned(), info.default_value());
        }
        merged.extend(preset(&set));
        merged.extend(set);
        let settings = Self::read(merged)?;
        settings.model()?.least_share(settings.accuracy_target)?;
        Ok(settings)
    }

    fn read(merged: Map<String, Value>) -> Result<Self, GroundingError> {
        // The table admits exactly what the struct reads; its test holds the two together.
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

    /// What decides whether a turn retrieves.
    #[must_use]
    pub fn preset(&self) -> Preset {
        Preset {
            retrieve_at: self.retrieve_at,
            refresh: self.refresh,
            compress: self.compress,
        }
    }

    /// The model of diluted attention with the domain's figures.
    ///
    /// # Errors
    /// [`GroundingError::OutOfRange`] for a baseline or an exponent of 0.
    pub fn model(&self) -> Result<Model, GroundingError> {
        Model::new(self.accuracy_baseline, self.domain_specificity.delta())
    }

    /// Whether the texts themselves are hashed, whatever hashes the relations hold (I10).
    #[must_use]
    pub fn hashes_texts(&self) -> bool {
        self.provenance >= Provenance::Hash
    }

    /// Whether the sources of the context are compared by their embeddings (I10).
    #[must_use]
    pub fn compares_sources(&self) -> bool {
        self.provenance >= Provenance::Semantic
    }

    /// Whether the turn is a link in the chain of its conversation (I10).
    #[must_use]
    pub fn chains(&self) -> bool {
        self.provenance >= Provenance::Merkle
    }

    /// Whether the words of an answer are kept.
    #[must_use]
    pub fn stores_answers(&self) -> bool {
        self.store_answers == StoreAnswers::Full
    }

    /// `min_sources` as far as `max_sources` allows it.
    #[must_use]
    pub fn wanted_sources(&self) -> usize {
        self.min_sources.min(self.max_sources)
    }
}

/// What the strategy that is set stands for; nothing where none is, as the defaults are those of the default.
fn preset(set: &Map<String, Value>) -> Map<String, Value> {
    let strategy = set.get("strategy").cloned().unwrap_or_default();
    let strategy = serde_json::from_value::<Strategy>(strategy).ok();
    match strategy.map(|strategy| serde_json::to_value(strategy.preset())) {
        Some(Ok(Value::Object(preset))) => preset,
        _ => Map::new(),
    }
}

/// Whether a layer that holds this value sets the setting: null and blank texts leave it to the layers below.
#[must_use]
pub fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// The settings that a layer sets, each in the type that the struct reads.
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
            .ok_or_else(|| invalid(format!("one of {}", known_names())))?;
        if !is_set(value) {
            continue;
        }
        let read = info.read(value).map_err(invalid)?;
        set.insert(name.clone(), read);
    }
    Ok(set)
}

fn known_names() -> String {
    SETTINGS
        .iter()
        .map(|info: &SettingInfo| info.name)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_strategy_is_a_preset_and_what_is_set_wins() {
        let resolve = |layers: &[Value]| {
            let layers: Vec<_> = layers.iter().map(|layer| ("layer", layer)).collect();
            Settings::resolve(&layers).unwrap()
        };
        for strategy in Strategy::ALL {
            let settings = resolve(&[json!({"strategy": strategy.name()})]);
            assert_eq!(settings.preset(), strategy.preset());
        }
        assert_eq!(Settings::default().preset(), Strategy::Reground.preset());
        // An explicit value stands whichever layer names the strategy.
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
    fn the_model_has_the_figures_of_the_domain() {
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
    fn an_error_names_layer_setting_value_and_expectation() {
        for (value, setting) in [
            (json!({"max_sorces": 7}), "max_sorces"),
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
