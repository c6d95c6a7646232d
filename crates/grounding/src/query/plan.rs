//! Plans the retrieval of a turn: the queries for each branch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::passage::vectors::shifted;
use crate::query::TurnFeatures;
use crate::query::intent::{Intent, JudgedIntent, PastTurn};
use crate::query::query_expansion::{
    add_context, expansion_terms, history_dependence, mean_embedding, shift_embedding, starts_over,
};
use crate::settings::{QueryFrom, Settings};

/// One lexical query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubQuery {
    /// Words to search for.
    pub text: String,
    /// Lexemes added by query expansion, with their weights. A word of the text has weight 1.
    pub terms: BTreeMap<String, f64>,
    /// Weight of its list in rank fusion.
    pub weight: f64,
    /// The compared entity of the query.
    pub entity: Option<String>,
}

/// The lists that a turn fetches, each of `candidates` passages.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrievalPlan {
    /// Lexical queries, the turn's own first; none for a search by embedding alone.
    pub lexical: Vec<SubQuery>,
    /// The vector query. The caller provides the embedding, so there is at most one list.
    pub embedding: Option<Vec<f32>>,
    /// Weight of the vector list in rank fusion.
    pub vector_weight: f64,
    /// How far the query depends on the conversation, in [0, 1].
    pub context_dependence: f64,
    /// The results of earlier turns to be ranked with this turn's; empty unless `fusion` is `integrated`.
    pub historical: Vec<PriorSearch>,
}

/// The results of an earlier turn, with the combined query that scores them: this turn's query together with the query
/// that found them.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorSearch {
    /// The words of both queries, with this turn's expansion terms.
    pub query: SubQuery,
    /// The mean direction of both embeddings, at the length of this turn's.
    pub embedding: Option<Vec<f32>>,
    /// Keys of the passages.
    pub chunk_ids: Vec<String>,
}

impl RetrievalPlan {
    /// The plan of a search outside conversations. Without a query only the vector branch is searched.
    #[must_use]
    pub fn alone(query: Option<&str>, embedding: Option<Vec<f32>>, settings: &Settings) -> Self {
        let weights = settings.branch_weights();
        let own = query.map(|query| SubQuery {
            text: query.to_owned(),
            weight: weights.lexical,
            ..SubQuery::default()
        });
        Self {
            lexical: own.into_iter().collect(),
            embedding,
            vector_weight: weights.vector,
            context_dependence: 0.0,
            historical: Vec::new(),
        }
    }

    /// The part of the plan that is stored with the turn, to explain the search later: how far the query depends on the
    /// conversation, the expansion terms with weights rounded to thousandths, and the graph entities whose neighbours were
    /// looked up, if any.
    #[must_use]
    pub fn trace(&self, entities: &[String]) -> Value {
        let terms = self.lexical.first().map(|own| &own.terms);
        let rounded: BTreeMap<&String, f64> = terms
            .into_iter()
            .flatten()
            .map(|(lexeme, weight)| (lexeme, (weight * 1000.0).round() / 1000.0))
            .collect();
        let mut trace = json!({ "context_dependence": self.context_dependence, "terms": rounded });
        if !entities.is_empty() {
            trace["entities"] = json!(entities);
        }
        trace
    }
}

/// The query of a turn, with the turns before it.
#[derive(Clone, Debug, Default)]
pub struct TurnQuery<'a> {
    /// The user's words.
    pub query: &'a str,
    /// The caller's rewrite of the query.
    pub rewrite: Option<&'a str>,
    /// The caller's embedding: of the rewrite, if there is one.
    pub embedding: Option<&'a [f32]>,
    /// The caller's embedding of [`context_text`](crate::query::context_text::context_text).
    pub context_embedding: Option<&'a [f32]>,
    /// Lexemes of the query, with their counts; empty without earlier turns.
    pub words: BTreeMap<String, u32>,
    /// Earlier turns for the judgement of intent, newest last.
    pub earlier: Vec<PastTurn>,
    /// Features of the same turns, for query expansion.
    pub features: Vec<TurnFeatures>,
}

impl TurnQuery<'_> {
    /// The caller's rewrite, unless it is blank.
    fn own_rewrite(&self) -> Option<&str> {
        self.rewrite.map(str::trim).filter(|text| !text.is_empty())
    }

    /// Whether the caller's rewrite replaces the query.
    #[must_use]
    pub fn is_rewritten(&self) -> bool {
        self.own_rewrite().is_some()
    }

    /// Whether the conversation expands the query. It expands a rewrite only if there is a context embedding.
    fn uses_history(&self, judged: &JudgedIntent, settings: &Settings) -> bool {
        !self.earlier.is_empty()
            && match settings.query_from {
                QueryFrom::Turn => false,
                QueryFrom::Dialogue => !self.is_rewritten(),
                QueryFrom::Contextual => {
                    !self.is_rewritten() || self.context_embedding.is_some() && !starts_over(judged)
                }
            }
    }
}

/// Plans the retrieval of a turn.
///
/// A caller's rewrite replaces the query, and is expanded only with a context embedding. Under `compare` each entity gets a list of its own;
/// together they weigh as much as the query's own.
#[must_use]
pub fn plan(
    turn_query: &TurnQuery<'_>,
    judged: &JudgedIntent,
    settings: &Settings,
) -> RetrievalPlan {
    let features = &turn_query.features;
    let weights = settings.branch_weights();
    let mut own = SubQuery {
        text: turn_query
            .own_rewrite()
            .unwrap_or(turn_query.query)
            .to_owned(),
        weight: weights.lexical,
        ..SubQuery::default()
    };
    let mut embedding = turn_query.embedding.map(<[f32]>::to_vec);
    let mut dependence = 0.0;
    if turn_query.uses_history(judged, settings) {
        match settings.query_from {
            QueryFrom::Turn => {}
            QueryFrom::Dialogue => {
                dependence = 1.0;
                own.text = dialogue(turn_query);
                embedding = embedding.map(|own| mean_embedding(&own, features));
            }
            QueryFrom::Contextual => {
                let is_rewritten = turn_query.is_rewritten();
                dependence = if is_rewritten {
                    1.0
                } else {
                    history_dependence(&turn_query.words, turn_query.embedding, judged, features)
                };
                let weight = settings.history_weight;
                own.terms = expansion_terms(features, dependence * weight);
                let context = turn_query.context_embedding;
                embedding = embedding.map(|own| match context {
                    Some(_) if starts_over(judged) => own,
                    Some(context) => add_context(&own, context, is_rewritten, weight),
                    None => shift_embedding(&own, features, dependence * weight),
                });
            }
        }
    }
    let mut lexical = vec![own];
    if judged.intent == Intent::Compare {
        let entities = &judged.entities;
        let share = weights.lexical / entities.len().max(1) as f64;
        lexical.extend(entities.iter().map(|entity| SubQuery {
            text: entity.clone(),
            terms: BTreeMap::new(),
            weight: share,
            entity: Some(entity.clone()),
        }));
    }
    RetrievalPlan {
        historical: prior_searches(turn_query, judged, &lexical, embedding.as_deref(), settings),
        lexical,
        embedding,
        vector_weight: weights.vector,
        context_dependence: dependence,
    }
}

/// The results of earlier turns, for integrated fusion.
fn prior_searches(
    turn_query: &TurnQuery<'_>,
    judged: &JudgedIntent,
    lexical: &[SubQuery],
    embedding: Option<&[f32]>,
    settings: &Settings,
) -> Vec<PriorSearch> {
    let Some(own) = lexical.first() else {
        return Vec::new();
    };
    if !settings.fusion.ranks_earlier_results() || judged.intent == Intent::NewTopic {
        return Vec::new();
    }
    let turns = turn_query.earlier.iter().zip(&turn_query.features);
    turns
        .filter(|(_, features)| !features.shown.is_empty())
        .map(|(turn, features)| PriorSearch {
            query: SubQuery {
                text: format!("{}\n{}", turn.query, own.text),
                ..own.clone()
            },
            embedding: embedding.map(|own| {
                let earlier = features.embedding.as_deref().map(|earlier| (1.0, earlier));
                shifted(own, earlier)
            }),
            chunk_ids: features.shown.clone(),
        })
        .collect()
}

/// All queries of the user, oldest first.
fn dialogue(turn_query: &TurnQuery<'_>) -> String {
    let turns = turn_query.earlier.iter().map(|turn| turn.query.as_str());
    let all: Vec<&str> = turns.chain([turn_query.query]).collect();
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::intent::classify;

    fn counted(text: &str) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for word in text.split_whitespace() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
        counts
    }

    fn planned(query: &str, rewrite: Option<&str>, settings: &Settings) -> RetrievalPlan {
        let turn_query = TurnQuery {
            query,
            rewrite,
            embedding: None,
            context_embedding: None,
            words: counted(query),
            earlier: vec![PastTurn {
                query: "reset password".into(),
                ..PastTurn::default()
            }],
            features: vec![TurnFeatures {
                query: counted("reset password"),
                answer: counted("open settings"),
                ..TurnFeatures::default()
            }],
        };
        let judged = classify(query, &turn_query.earlier, None);
        plan(&turn_query, &judged, settings)
    }

    #[test]
    fn a_dependent_query_is_expanded() {
        let settings = Settings::default();
        let plan = planned("and for admins?", None, &settings);
        assert_eq!(plan.context_dependence, 1.0);
        let own = &plan.lexical[0];
        assert_eq!(own.text, "and for admins?");
        let terms: Vec<&str> = own.terms.keys().map(String::as_str).collect();
        assert_eq!(terms, ["open", "password", "reset", "settings"]);
    }

    #[test]
    fn stand_alone_queries_are_not_expanded() {
        let settings = Settings::default();
        let alone = "which gigabytes of storage does a standard plan include";
        let rewritten = Some("reset an admin's password");
        for (query, rewrite) in [(alone, None), ("and for admins?", rewritten)] {
            let plan = planned(query, rewrite, &settings);
            assert_eq!(
                (plan.context_dependence, plan.lexical.len()),
                (0.0, 1),
                "{query}"
            );
            assert_eq!(plan.lexical[0].text, rewrite.unwrap_or(query));
            assert!(plan.lexical[0].terms.is_empty());
        }
        for query_from in [QueryFrom::Turn, QueryFrom::Dialogue] {
            let settings = Settings {
                query_from,
                ..Settings::default()
            };
            let plan = planned("and for admins?", None, &settings);
            assert!(plan.lexical[0].terms.is_empty());
            let all = query_from == QueryFrom::Dialogue;
            let text = ["and for admins?", "reset password\nand for admins?"][usize::from(all)];
            assert_eq!(plan.lexical[0].text, text);
        }
    }

    #[test]
    fn a_context_embedding_turns_the_embedding() {
        let (own, context, cited) = ([3.0, 0.0, 0.0], [0.0, 8.0, 0.0], vec![0.0, 0.0, 1.0]);
        let planned = |query: &'static str, rewrite, settings: &Settings, first: bool| {
            let earlier = (!first).then(|| PastTurn {
                query: "reset password".into(),
                ..PastTurn::default()
            });
            let features = earlier.iter().map(|_| TurnFeatures {
                query: counted("reset password"),
                cited: vec![cited.clone()],
                ..TurnFeatures::default()
            });
            let turn_query = TurnQuery {
                query,
                rewrite,
                embedding: Some(&own),
                context_embedding: Some(&context),
                words: counted(query),
                features: features.collect(),
                earlier: earlier.into_iter().collect(),
            };
            let judged = classify(query, &turn_query.earlier, None);
            plan(&turn_query, &judged, settings)
        };
        let settings = Settings::default();
        let direction = |plan: &RetrievalPlan| {
            let embedding = plan.embedding.as_ref().unwrap();
            let length = embedding.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((length - 3.0).abs() < 1e-5, "{length}");
            assert!(embedding[2].abs() < 1e-6, "cited passages do not pull");
            embedding[1] / embedding[0]
        };
        let question = planned("and for admins?", None, &settings, false);
        assert!((direction(&question) - 0.5).abs() < 1e-6);
        assert_eq!(question.lexical[0].terms.len(), 2);
        let rewritten = planned(
            "and for admins?",
            Some("reset an admin's password"),
            &settings,
            false,
        );
        assert!((direction(&rewritten) - 0.25).abs() < 1e-6);
        assert_eq!(rewritten.lexical[0].text, "reset an admin's password");
        assert_eq!(rewritten.lexical[0].terms.len(), 2);
        let resolved = |settings| Settings::resolve(&[("call", &settings)]).unwrap();
        let half = planned(
            "and for admins?",
            None,
            &resolved(json!({"history_weight": 0.5})),
            false,
        );
        assert!((direction(&half) - 0.25).abs() < 1e-6);
        let unchanged = [
            planned("New topic: billing", None, &settings, false),
            planned("New topic: billing", Some("billing"), &settings, false),
            planned("and for admins?", None, &settings, true),
            planned(
                "and for admins?",
                None,
                &resolved(json!({"query_from": "turn"})),
                false,
            ),
        ];
        for plan in unchanged {
            assert_eq!(plan.embedding.as_deref(), Some(&own[..]));
            assert!(plan.lexical[0].terms.is_empty());
        }
    }

    #[test]
    fn entities_share_the_weight_of_a_branch() {
        let settings = json!({"fusion": "rrf"});
        let settings = Settings::resolve(&[("call", &settings)]).unwrap();
        let plan = planned("compare HNSW with IVFFlat", None, &settings);
        assert_eq!(plan.vector_weight, 1.0);
        let lists = plan.lexical.iter();
        let lists: Vec<_> = lists
            .map(|list| (list.text.as_str(), list.weight))
            .collect();
        assert_eq!(
            lists,
            [
                ("compare HNSW with IVFFlat", 1.0),
                ("HNSW", 0.5),
                ("IVFFlat", 0.5)
            ]
        );
    }
}
