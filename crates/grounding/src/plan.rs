//! What is asked of the branches in a turn (C1's effect on C2).

use serde::{Deserialize, Serialize};

use crate::intent::{Dependency, Intent, Judged, PastTurn};
use crate::settings::Settings;

/// One lexical query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubQuery {
    /// Words to search for.
    pub text: String,
    /// Weight of its list in the fusion.
    pub weight: f64,
    /// The compared entity that it asks for.
    pub entity: Option<String>,
}

/// The lists that a turn fetches, each of `candidates` passages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetrievalPlan {
    /// Lexical queries, the turn's own first; never empty.
    pub lexical: Vec<SubQuery>,
    /// Weight of the vector list. The embedding is the caller's, so there is one list at most.
    pub vector_weight: f64,
}

/// Plans the retrieval of a turn.
///
/// A caller's rewrite takes the query's place and stands alone, so the previous query adds nothing to it. Without one,
/// a query that cannot be understood alone gets a second list for "query + previous query", unless the turn is a new
/// topic. Under `compare` each entity gets a list, all of them together weighing as much as the query's own.
#[must_use]
pub fn plan(
    query: &str,
    rewrite: Option<&str>,
    judged: &Judged,
    earlier: &[PastTurn],
    settings: &Settings,
) -> RetrievalPlan {
    let rewrite = rewrite.map(str::trim).filter(|text| !text.is_empty());
    let weight = settings.lexical_weight;
    let list = |text: &str, weight, entity| SubQuery {
        text: text.to_owned(),
        weight,
        entity,
    };
    let mut lexical = vec![list(rewrite.unwrap_or(query), weight, None)];
    let leans = judged.intent != Intent::NewTopic && judged.dependency == Dependency::Hard;
    if let (true, None, Some(previous)) = (leans, rewrite, earlier.last())
        && settings.context_query_weight > 0.0
    {
        let text = format!("{query} {}", previous.query);
        lexical.push(list(&text, weight * settings.context_query_weight, None));
    }
    if judged.intent == Intent::Compare {
        let share = weight / judged.entities.len().max(1) as f64;
        lexical.extend(
            judged
                .entities
                .iter()
                .map(|e| list(e, share, Some(e.clone()))),
        );
    }
    RetrievalPlan {
        lexical,
        vector_weight: settings.vector_weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::classify;

    fn texts(query: &str, rewrite: Option<&str>, earlier: &[PastTurn]) -> Vec<(String, f64)> {
        let judged = classify(query, earlier, None);
        let plan = plan(query, rewrite, &judged, earlier, &Settings::default());
        plan.lexical
            .into_iter()
            .map(|list| (list.text, list.weight))
            .collect()
    }

    #[test]
    fn a_leaning_query_borrows_the_previous_one() {
        let earlier = [PastTurn {
            query: "reset password".into(),
            ..PastTurn::default()
        }];
        assert_eq!(
            texts("and for admins?", None, &earlier),
            [
                ("and for admins?".into(), 1.0),
                ("and for admins? reset password".into(), 0.5)
            ]
        );
        assert_eq!(
            texts(
                "and for admins?",
                Some("reset an admin's password"),
                &earlier
            ),
            [("reset an admin's password".into(), 1.0)]
        );
        assert_eq!(
            texts(
                "which password policies are enforced for administrators?",
                None,
                &earlier
            )
            .len(),
            1
        );
    }

    #[test]
    fn entities_share_the_weight_of_a_branch() {
        assert_eq!(
            texts("compare HNSW with IVFFlat", None, &[]),
            [
                ("compare HNSW with IVFFlat".into(), 1.0),
                ("HNSW".into(), 0.5),
                ("IVFFlat".into(), 0.5)
            ]
        );
    }
}
