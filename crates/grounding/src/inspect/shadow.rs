//! The settings of a shadow turn: a served turn that is computed again with other settings.

use serde_json::{Map, Value, json};

use crate::error::GroundingError;
use crate::settings::hook::Hook;
use crate::settings::{Settings, is_set};

/// The settings of a shadow's call: the settings of the turn's own call, derived from its effective settings,
/// overridden by `changes`. `layers` are the layers below a call, weakest first. Differences caused by later changes of
/// these layers count as settings of the call, so a shadow differs from its turn only in `changes`.
///
/// A function of the application is an exception, because it is called as the role that set it. It counts as a setting
/// of the call only if `given`, the stored settings of the call, names a function; the shadow then uses this function.
///
/// # Errors
/// Those of [`Settings::resolve`] for the layers.
pub fn shadow_call(
    layers: &[(&'static str, &Value)],
    turn: &Settings,
    given: &Value,
    changes: &Value,
) -> Result<Value, GroundingError> {
    let hook = |name: &str| Hook::ALL.iter().any(|hook| hook.setting() == name);
    let mut own = Map::new();
    // Strategy and fusion set defaults of other settings. These are not repeated here, so that another strategy or
    // fusion can change them.
    let beneath = Settings::resolve(layers)?;
    if beneath.strategy != turn.strategy {
        own.insert("strategy".to_owned(), json!(turn.strategy));
    }
    if beneath.fusion != turn.fusion {
        own.insert("fusion".to_owned(), json!(turn.fusion));
    }
    let presets = Value::Object(own.clone());
    let beneath = Settings::resolve(&[layers, &[("call", &presets)]].concat())?;
    let fields = [beneath, turn.clone()].map(|settings| json!(settings));
    if let [Value::Object(beneath), Value::Object(turn)] = fields {
        for (name, value) in turn {
            let value = match given.get(&name) {
                _ if !hook(&name) => value,
                Some(given) if is_set(given) => given.clone(),
                _ => continue,
            };
            if beneath.get(&name) != Some(&value) {
                // null would leave the setting to the layers.
                let value = if value.is_null() { json!("off") } else { value };
                own.insert(name, value);
            }
        }
    }
    if let Value::Object(changes) = changes {
        own.extend(changes.clone());
    }
    Ok(Value::Object(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Fusion;
    use crate::settings::strategy::Strategy;

    fn resolve(layers: &[Value]) -> Settings {
        let layers: Vec<_> = layers.iter().map(|layer| ("layer", layer)).collect();
        Settings::resolve(&layers).unwrap()
    }

    /// The settings of a shadow, over a corpus layer, of a turn with a call of its own.
    fn shadow(corpus: &Value, own: &Value, changes: &Value) -> (Settings, Value) {
        let turn = resolve(&[corpus.clone(), own.clone()]);
        let call = shadow_call(&[("corpus", corpus)], &turn, own, changes).unwrap();
        (resolve(&[corpus.clone(), call.clone()]), call)
    }

    /// Otherwise it would run as the caller, who did not choose it.
    #[test]
    fn functions_of_other_layers_are_not_settings_of_the_call() {
        let (of_one, of_another) = (json!({"reranker": "app.rerank"}), json!({}));
        let turn = resolve(std::slice::from_ref(&of_one));
        let call = |given: &Value| {
            shadow_call(&[("corpus", &of_another)], &turn, given, &json!({})).unwrap()
        };
        assert_eq!(call(&json!({})).get("reranker"), None);
        let named = json!({"reranker": "app.rerank"});
        assert_eq!(call(&named).get("reranker"), named.get("reranker"));
    }

    #[test]
    fn a_shadow_differs_from_its_turn_only_in_the_changes() {
        let corpus = json!({"max_sources": 9, "reranker": "app.rerank", "min_cfs": 0.5});
        let own =
            json!({"max_tokens": 900, "reranker": "off", "min_cfs": 0.8, "carry_over": false});
        let turn = resolve(&[corpus.clone(), own.clone()]);
        let (same, call) = shadow(&corpus, &own, &json!({}));
        assert_eq!(same, turn);
        // Settings of the layers are not repeated. A function that the corpus names is still called as the corpus'
        // role.
        assert_eq!(call.get("max_sources"), None);
        let (other, _) = shadow(&corpus, &own, &json!({"max_sources": 3}));
        assert_eq!(
            other,
            Settings {
                max_sources: 3,
                ..turn
            }
        );
        let (_, call) = shadow(&corpus, &json!({}), &json!({}));
        assert_eq!(call, json!({}));
    }

    #[test]
    fn later_changes_of_layers_do_not_change_a_shadow() {
        let turn = resolve(&[json!({"max_sources": 9})]);
        let now = json!({"max_sources": 4, "fusion": "rrf"});
        let call = shadow_call(&[("corpus", &now)], &turn, &json!({}), &json!(null)).unwrap();
        assert_eq!(resolve(&[now, call]), turn);
    }

    #[test]
    fn another_strategy_changes_the_preset() {
        for (corpus, own) in [
            (json!({}), json!({"strategy": "first_turn"})),
            (json!({"strategy": "first_turn"}), json!({})),
            (
                json!({"strategy": "none"}),
                json!({"strategy": "first_turn"}),
            ),
        ] {
            let (same, _) = shadow(&corpus, &own, &json!({}));
            assert_eq!(same.preset(), Strategy::FirstTurn.preset());
            let (other, _) = shadow(&corpus, &own, &json!({"strategy": "every_turn"}));
            assert_eq!(other.preset(), Strategy::EveryTurn.preset());
        }
        // Other settings of the call stay.
        let own = json!({"strategy": "first_turn", "compress": true});
        let (other, _) = shadow(&json!({}), &own, &json!({"strategy": "none"}));
        assert!(other.compress);
    }

    #[test]
    fn another_fusion_changes_the_default_share() {
        for (corpus, own) in [
            (json!({}), json!({"fusion": "rrf"})),
            (json!({"fusion": "rrf"}), json!({})),
        ] {
            let (same, _) = shadow(&corpus, &own, &json!({}));
            assert_eq!((same.fusion, same.vector_share), (Fusion::Rrf, 0.5));
            let (other, _) = shadow(&corpus, &own, &json!({"fusion": "scores"}));
            assert_eq!(other, Settings::default());
        }
        // An explicit share stays.
        let own = json!({"fusion": "rrf", "vector_share": 0.2});
        let (other, _) = shadow(&json!({}), &own, &json!({"fusion": "scores"}));
        assert_eq!(other.vector_share, 0.2);
    }
}
