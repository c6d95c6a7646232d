//! Intent of a turn (C1) and how far it leans on earlier turns (H2): deterministic, without a model.
//!
//! Cue words decide where the language has them; overlap with earlier words and the length of the query decide in any
//! language. Without evidence for a change of subject a later turn counts as a continuation: a wrong `drill_down`
//! carries sources that the threshold still has to pass, a wrong `new_topic` loses them.

use std::collections::BTreeSet;
use std::str::FromStr;

use reground_pulse::along;
use serde::{Deserialize, Serialize};

use crate::cues::{Cues, Kind};
use crate::entities::{Comparison, comparison};
use crate::error::GroundingError;
use crate::words::{content_keys, content_word, words};

/// Words of a query that is too short to stand on its own after an earlier turn.
const SHORT_QUERY: usize = 3;
/// Content words of a query that says enough to stand on its own, so that no word in common tells a new subject.
const NEW_SUBJECT: usize = 3;
/// Content words before a pronoun from which on it points into the query itself: "where is bone marrow and what does
/// it do".
const ANTECEDENT: usize = 2;
/// Words within which an opening such as "what about" counts as one.
const OPENING: usize = 2;
/// Characters that stand for a word in scripts without spaces when a query's length is judged.
const UNSPACED_PER_WORD: usize = 2;

/// What a turn is after (C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// A fresh subject: only pins are carried.
    NewTopic,
    /// Deeper into the subject: sources are carried and the previous query lends its words.
    DrillDown,
    /// A comparison: retrieval per member, shared slots.
    Compare,
    /// About the sources at hand: twice the reserved slots.
    SameSources,
}

impl Intent {
    /// The name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NewTopic => "new_topic",
            Self::DrillDown => "drill_down",
            Self::Compare => "compare",
            Self::SameSources => "same_sources",
        }
    }
}

impl FromStr for Intent {
    type Err = GroundingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [
            Self::NewTopic,
            Self::DrillDown,
            Self::Compare,
            Self::SameSources,
        ]
        .into_iter()
        .find(|intent| intent.name() == name)
        .ok_or_else(|| GroundingError::UnknownIntent(name.to_owned()))
    }
}

/// How far a turn depends on earlier ones (H2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// It cannot be understood without them.
    Hard,
    /// It shares their subject and can stand alone.
    Soft,
    /// It does not need them.
    None,
}

/// An earlier turn, as far as intent looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastTurn {
    /// The user's words.
    pub query: String,
    /// Titles of the sources in its context.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Titles of the sources that its answer cited.
    #[serde(default)]
    pub cited: Vec<String>,
}

/// The judgement on a turn, with what decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The intent.
    pub intent: Intent,
    /// How sure, in [0, 1]; 1 where the caller said so.
    pub confidence: f64,
    /// The signals that decided, for a person to read: `pronoun: it`, `overlap: 2 of 5`.
    pub signals: Vec<String>,
    /// Members of the comparison under `compare`, else empty.
    pub entities: Vec<String>,
    /// Dependency on earlier turns.
    pub dependency: Dependency,
}

/// Judges a query against the earlier turns (newest last) with the built-in cues; `wanted` overrides the intent only.
#[must_use]
pub fn classify(query: &str, earlier: &[PastTurn], wanted: Option<Intent>) -> Judged {
    classify_with(Cues::built_in(), query, earlier, wanted)
}

/// [`classify`] with the caller's own cues.
#[must_use]
pub fn classify_with(
    cues: &Cues,
    query: &str,
    earlier: &[PastTurn],
    wanted: Option<Intent>,
) -> Judged {
    let evidence = Evidence::gather(cues, query, earlier);
    let (dependency, mut signals) = evidence.dependency();
    let (judged, confidence) = evidence.intent(dependency, &mut signals);
    let intent = wanted.unwrap_or(judged);
    let confidence = if wanted.is_some() {
        signals.push("caller".to_owned());
        1.0
    } else {
        confidence
    };
    let entities = match (intent, evidence.comparison) {
        (Intent::Compare, Some(comparison)) => comparison.entities,
        _ => Vec::new(),
    };
    Judged {
        intent,
        confidence,
        signals,
        entities,
        dependency,
    }
}

/// Everything that the query says about itself.
struct Evidence {
    length: usize,
    first_turn: bool,
    comparison: Option<Comparison>,
    sources: Option<String>,
    shift: Option<String>,
    pronoun: Option<String>,
    continuation: Option<String>,
    clarification: Option<String>,
    content: usize,
    shared: usize,
}

impl Evidence {
    fn gather(cues: &Cues, query: &str, earlier: &[PastTurn]) -> Self {
        let text = words(query);
        let cue = |kind| cues.find(&text, kind);
        let opening =
            |kind| cue(kind).filter(|found| found.start < OPENING || text.len() <= SHORT_QUERY);
        let keys = content_keys(query, cues);
        let known: BTreeSet<String> = earlier
            .iter()
            .flat_map(|turn| {
                turn.cited
                    .iter()
                    .chain(&turn.sources)
                    .chain(std::iter::once(&turn.query))
            })
            .flat_map(|text| content_keys(text, cues))
            .collect();
        let sources = cue(Kind::Sources);
        let pronoun = cue(Kind::Pronoun).filter(|found| {
            let before = text.iter().take(found.start);
            before.filter(|(_, word)| content_word(word, cues)).count() < ANTECEDENT
        });
        Self {
            length: length(query, &text),
            first_turn: earlier.is_empty(),
            comparison: comparison(query, cues),
            sources: sources.map(|found| found.cue),
            shift: opening(Kind::Shift).map(|found| found.cue),
            pronoun: pronoun.map(|found| found.cue),
            continuation: opening(Kind::Continuation).map(|found| found.cue),
            clarification: opening(Kind::Clarification).map(|found| found.cue),
            content: keys.len(),
            shared: keys.intersection(&known).count(),
        }
    }

    fn dependency(&self) -> (Dependency, Vec<String>) {
        let mut signals = Vec::new();
        if self.first_turn {
            return (Dependency::None, vec!["first turn".to_owned()]);
        }
        if let Some(cue) = &self.shift {
            return (Dependency::None, vec![format!("shift: {cue}")]);
        }
        let leaning = [
            ("sources", &self.sources),
            ("pronoun", &self.pronoun),
            ("continuation", &self.continuation),
            ("clarification", &self.clarification),
        ];
        for (name, cue) in leaning {
            signals.extend(cue.as_ref().map(|cue| format!("{name}: {cue}")));
        }
        let leans = !signals.is_empty();
        if self.length <= SHORT_QUERY {
            signals.push(format!("short: {} words", self.length));
        }
        if self.shared > 0 {
            signals.push(format!("overlap: {} of {}", self.shared, self.content));
        }
        let dependency = if leans || self.length <= SHORT_QUERY || self.content == 0 {
            Dependency::Hard
        } else if self.shared > 0 {
            Dependency::Soft
        } else {
            signals.push(format!("no overlap: {} content words", self.content));
            Dependency::None
        };
        (dependency, signals)
    }

    fn intent(&self, dependency: Dependency, signals: &mut Vec<String>) -> (Intent, f64) {
        if let Some(comparison) = &self.comparison
            && (comparison.explicit || comparison.entities.len() > 1)
        {
            signals.push(format!("comparison: {}", comparison.cue));
            let sure = if comparison.entities.len() > 1 {
                0.9
            } else {
                0.6
            };
            return (Intent::Compare, sure);
        }
        if self.first_turn {
            return (Intent::NewTopic, 1.0);
        }
        if self.shift.is_some() {
            return (Intent::NewTopic, 0.9);
        }
        if self.sources.is_some() {
            return (Intent::SameSources, 0.8);
        }
        match dependency {
            Dependency::Hard => (Intent::DrillDown, 0.8),
            Dependency::Soft => {
                let share = self.shared as f64 / self.content.max(1) as f64;
                (Intent::DrillDown, 0.6 + 0.4 * share)
            }
            Dependency::None if self.content >= NEW_SUBJECT => (Intent::NewTopic, 0.6),
            Dependency::None => {
                signals.push("no evidence of a new subject".to_owned());
                (Intent::DrillDown, 0.5)
            }
        }
    }
}

/// Length in words, comparable between scripts with and without spaces.
fn length(query: &str, words: &[(usize, String)]) -> usize {
    let unspaced = along(query.chars())
        .filter(|&c| crate::words::unspaced(c))
        .count();
    let spaced = words
        .iter()
        .filter(|(_, w)| !w.chars().any(crate::words::unspaced))
        .count();
    spaced + unspaced.div_ceil(UNSPACED_PER_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn past(query: &str, title: &str) -> PastTurn {
        PastTurn {
            query: query.into(),
            sources: vec![title.into()],
            cited: vec![],
        }
    }

    fn after(query: &str) -> Judged {
        classify(
            query,
            &[past(
                "How do I reset my password?",
                "Accounts and passwords",
            )],
            None,
        )
    }

    #[test]
    fn intents_of_plain_cases() {
        use Intent::*;
        for (query, intent, dependency) in [
            ("and for admins?", DrillDown, Dependency::Hard),
            ("How long is it valid?", DrillDown, Dependency::Hard),
            (
                "How strong must a new password be in order to be accepted?",
                DrillDown,
                Dependency::Soft,
            ),
            (
                "How many gigabytes of object storage does the standard plan include?",
                NewTopic,
                Dependency::None,
            ),
            ("New topic: billing", NewTopic, Dependency::None),
            ("Where does it say so?", SameSources, Dependency::Hard),
            (
                "Which of these documents covers tokens?",
                SameSources,
                Dependency::Hard,
            ),
            (
                "What is the difference between a token and a password?",
                Compare,
                Dependency::Soft,
            ),
        ] {
            let judged = after(query);
            assert_eq!(
                (judged.intent, judged.dependency),
                (intent, dependency),
                "{query}: {:?}",
                judged.signals
            );
        }
        assert_eq!(classify("How do I reset it?", &[], None).intent, NewTopic);
    }

    #[test]
    fn the_caller_overrides_the_intent() {
        let judged = classify("compare HNSW with IVFFlat", &[], Some(Intent::SameSources));
        assert_eq!(
            (judged.intent, judged.confidence),
            (Intent::SameSources, 1.0)
        );
        assert!(judged.entities.is_empty());
        let judged = after("Which is faster, HNSW or IVFFlat?");
        assert_eq!(judged.entities, ["HNSW", "IVFFlat"]);
    }

    #[test]
    fn other_scripts_go_by_overlap_and_length() {
        let earlier = [past("如何重置我的密码", "密码")];
        assert_eq!(
            classify("密码的有效期是多长时间", &earlier, None).dependency,
            Dependency::Soft
        );
        assert_eq!(
            classify("为什么", &earlier, None).dependency,
            Dependency::Hard
        );
        let other = classify("对象存储标准套餐包括多少千兆字节的存储空间", &earlier, None);
        assert_eq!(other.intent, Intent::NewTopic);
    }

    #[test]
    fn names_round_trip() {
        for name in ["new_topic", "drill_down", "compare", "same_sources"] {
            assert_eq!(name.parse::<Intent>().unwrap().name(), name);
        }
        assert!("newtopic".parse::<Intent>().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_judged(query in "\\PC{0,200}", before in proptest::collection::vec("\\PC{0,60}", 0..4)) {
            let earlier: Vec<_> = before.iter().map(|q| past(q, "")).collect();
            let judged = classify(&query, &earlier, None);
            prop_assert!((0.0..=1.0).contains(&judged.confidence));
            prop_assert_eq!(&judged, &classify(&query, &earlier, None));
            if earlier.is_empty() {
                prop_assert_eq!(judged.dependency, Dependency::None);
            }
        }
    }
}
