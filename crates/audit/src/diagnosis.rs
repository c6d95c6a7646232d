//! Why an alert fires: the checks of the runbook (I14), in its order, and what they come to.

use std::collections::BTreeMap;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::alert::{CRITICAL_CFS, Severity};
use crate::hours::{Corpus, HOUR, Hours, Part};
use crate::indicator::Indicator;
use crate::stage::Stage;
use crate::versions;

/// How long before the first bad hour a change of a component is still a suspect, in hours (I14).
pub const SUSPECT_HOURS: i64 = 24;

/// Share of the turns that a value of a component must have to count as a change.
const CHANGED_SHARE: f64 = 0.1;

/// By how much more turns must have a warning for it to be a clue.
const MORE_WARNED: f64 = 0.05;

/// How many times more often a type of document must be lost than the others.
const CONCENTRATION: f64 = 3.0;

/// Turns of an hour that ran with a value of a component.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ComponentCell {
    /// Where it begins, in seconds since 1970.
    pub hour: i64,
    /// Name: a setting of the turn, or model.
    pub name: String,
    /// Its value, as text.
    pub value: String,
    /// How many.
    pub turns: u64,
}

/// Turns of an hour, and how many of them a reranker gave back too little for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RerankCell {
    /// Where it begins, in seconds since 1970.
    pub hour: i64,
    /// Turns in all.
    pub turns: u64,
    /// Those with candidates that the reranker did not return.
    pub missing: u64,
    /// Those with a text that it returned changed.
    pub changed: u64,
}

/// What a diagnosis needs to know of an alert.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What its rule watches.
    pub indicator: Indicator,
    /// Its corpus, where the rule looks at each.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// First hour from which on every hour with a value was bad, in seconds since 1970.
    pub first_bad_hour: i64,
    /// End of what is looked at, in seconds since 1970.
    pub until: i64,
    /// What the rollups hold from a week before the first bad hour.
    #[serde(flatten)]
    pub hours: Hours,
    /// What the turns of those hours ran with, of the alert's corpus.
    pub components: Vec<ComponentCell>,
    /// What came back from their rerankers.
    pub reranks: Vec<RerankCell>,
    /// Citations that users reported since the first bad hour.
    pub reports: u64,
}

/// A finding of a diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clue {
    /// Order: 0 is what it comes to, then the checks.
    pub step: u8,
    /// What was found.
    pub clue: &'static str,
    /// Stage that it points at.
    pub stage: Option<&'static str>,
    /// Its number (I1).
    pub stage_no: Option<usize>,
    /// Corpus.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Type of the documents.
    pub document_type: Option<String>,
    /// First bad hour, or the hour of a change; in seconds since 1970.
    pub hour: i64,
    /// How bad, on the check that decides it.
    pub severity: Option<Severity>,
    /// The figures.
    pub detail: Value,
}

/// Citations of some hours, and where those that were lost were lost.
#[derive(Clone, Debug, Default)]
struct Losses {
    citations: u64,
    lost: BTreeMap<Stage, u64>,
}

impl Losses {
    fn add(&mut self, stage: Option<Stage>, citations: u64) {
        self.citations += citations;
        if let Some(stage) = stage {
            *self.lost.entry(stage).or_default() += citations;
        }
    }

    fn at(&self, stage: Stage) -> u64 {
        self.lost.get(&stage).copied().unwrap_or_default()
    }

    fn rate(&self, stage: Stage) -> f64 {
        rate(self.at(stage), self.citations)
    }
}

fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl Case {
    /// The clues, those of what it comes to first.
    #[must_use]
    pub fn diagnose(&self) -> Vec<Clue> {
        let stage = self.stage();
        let corpus = self.corpus.clone().or_else(|| self.worst_corpus(stage?));
        let concentrated = stage.and_then(|stage| self.document_type(stage, corpus.as_ref()));
        let mut clues = self.changes(corpus.as_ref());
        clues.extend(self.reranker(corpus.as_ref()));
        clues.extend(concentrated.clone());
        clues.push(self.severity(corpus.as_ref()));
        let conclusion = self.conclusion(stage, corpus, concentrated, &clues);
        clues.insert(0, conclusion);
        clues
    }

    fn bad(&self) -> Part<'_> {
        Part {
            corpus: self.corpus.as_ref(),
            since: self.first_bad_hour,
            until: self.until,
        }
    }

    fn before(&self) -> Part<'_> {
        self.bad().during(i64::MIN, self.first_bad_hour)
    }

    fn losses(&self, part: Part<'_>) -> Losses {
        let mut losses = Losses::default();
        for cell in self.hours.of_citations(part) {
            losses.add(Stage::of(cell.status, cell.lost_at), cell.citations);
        }
        losses
    }

    /// The stage that loses more than it did before, by the most.
    fn stage(&self) -> Option<Stage> {
        if self.indicator == Indicator::Stale {
            return Some(Stage::Document);
        }
        let (bad, before) = (self.losses(self.bad()), self.losses(self.before()));
        let more = |stage: Stage| bad.rate(stage) - before.rate(stage);
        let lossy = Stage::ALL.into_iter().filter(|stage| more(*stage) > 0.0);
        lossy.max_by(|a, b| more(*a).total_cmp(&more(*b)))
    }

    /// The corpus that a stage loses most of.
    fn worst_corpus(&self, stage: Stage) -> Option<Corpus> {
        let mut lost: BTreeMap<&Corpus, u64> = BTreeMap::new();
        if stage == Stage::Document {
            for cell in self.hours.of_stale(self.bad()) {
                *lost.entry(&cell.corpus).or_default() += cell.stale;
            }
        } else {
            for cell in self.hours.of_citations(self.bad()) {
                if Stage::of(cell.status, cell.lost_at) == Some(stage) {
                    *lost.entry(&cell.corpus).or_default() += cell.citations;
                }
            }
        }
        let worst = lost.into_iter().max_by_key(|(_, lost)| *lost);
        worst.map(|(corpus, _)| corpus.clone())
    }

    /// Whether one type of document is lost far more often than the others.
    fn document_type(&self, stage: Stage, corpus: Option<&Corpus>) -> Option<Clue> {
        let part = Part {
            corpus,
            ..self.bad()
        };
        let mut types: BTreeMap<Option<&str>, (u64, u64)> = BTreeMap::new();
        let mut add = |kind, lost, all| {
            let counts: &mut (u64, u64) = types.entry(kind).or_default();
            counts.0 += lost;
            counts.1 += all;
        };
        if stage == Stage::Document {
            for cell in self.hours.of_stale(part) {
                add(cell.document_type.as_deref(), cell.stale, cell.citations);
            }
        } else {
            for cell in self.hours.of_citations(part) {
                let here = Stage::of(cell.status, cell.lost_at) == Some(stage);
                let lost = if here { cell.citations } else { 0 };
                add(cell.document_type.as_deref(), lost, cell.citations);
            }
        }
        let (lost, all) = types.values().fold((0, 0), |(lost, all), counts| {
            (lost + counts.0, all + counts.1)
        });
        let (kind, (of_kind, all_of_kind)) =
            types.into_iter().max_by_key(|(_, counts)| counts.0)?;
        let kind = kind?.to_owned();
        let others = rate(lost - of_kind, all - all_of_kind);
        let concentrated = all > all_of_kind
            && 2 * of_kind >= lost
            && rate(of_kind, all_of_kind) >= CONCENTRATION * others.max(f64::MIN_POSITIVE);
        concentrated.then(|| Clue {
            step: 3,
            clue: "document_type",
            stage: Some(stage.name()),
            stage_no: number(stage),
            corpus: corpus.cloned(),
            document_type: Some(kind),
            hour: self.first_bad_hour,
            severity: None,
            detail: json!({
                "lost": of_kind, "citations": all_of_kind, "rate": rate(of_kind, all_of_kind), "others_rate": others,
            }),
        })
    }

    /// Values of components that nobody had until a day before the first bad hour, and many have since.
    fn changes(&self, corpus: Option<&Corpus>) -> Vec<Clue> {
        let suspect = self.first_bad_hour - SUSPECT_HOURS * HOUR;
        let mut values: BTreeMap<(String, String), Seen> = BTreeMap::new();
        let mut since: BTreeMap<String, u64> = BTreeMap::new();
        for cell in checked(&self.components) {
            for (name, value) in versions::components(&cell.name, &cell.value) {
                if cell.hour >= self.first_bad_hour {
                    *since.entry(name.clone()).or_default() += cell.turns;
                }
                values
                    .entry((name, value))
                    .or_default()
                    .add(cell, self.first_bad_hour);
            }
        }
        let mut clues = Vec::new();
        for ((name, value), seen) in &values {
            let share = rate(seen.since, since.get(name).copied().unwrap_or_default());
            let earlier = checked(values.range((name.clone(), String::new())..));
            let earlier = earlier.take_while(|((other, _), _)| other == name);
            let before = earlier
                .filter(|((_, other), seen)| other != value && seen.before > 0)
                .max_by_key(|(_, seen)| seen.before);
            if let Some(((_, before), _)) = before
                && seen.first >= suspect
                && share >= CHANGED_SHARE
            {
                clues.push(Clue {
                    step: 1,
                    clue: "component_changed",
                    stage: None,
                    stage_no: None,
                    corpus: corpus.cloned(),
                    document_type: None,
                    hour: seen.first,
                    severity: None,
                    detail: json!({ "component": name, "before": before, "since": value, "share": share }),
                });
            }
        }
        // What changed last before it went bad is the first suspect.
        clues.sort_by_key(|clue| (clue.hour - self.first_bad_hour).abs());
        clues
    }

    /// Whether the reranker loses or changes more than it did.
    fn reranker(&self, corpus: Option<&Corpus>) -> Vec<Clue> {
        let count = |since: bool| {
            let cells = self.reranks.iter();
            cells
                .filter(|cell| (cell.hour >= self.first_bad_hour) == since)
                .fold((0, 0, 0), |(turns, missing, changed), cell| {
                    (
                        turns + cell.turns,
                        missing + cell.missing,
                        changed + cell.changed,
                    )
                })
        };
        let (bad, before) = (count(true), count(false));
        let kinds = [
            ("ids_missing", bad.1, before.1),
            ("text_changed", bad.2, before.2),
        ];
        let more = |(_, now, then): &(_, u64, u64)| {
            rate(*now, bad.0) > rate(*then, before.0) + MORE_WARNED
        };
        let clues = kinds.into_iter().filter(more).map(|(clue, now, then)| Clue {
            step: 2,
            clue,
            stage: Some(Stage::Rerank.name()),
            stage_no: number(Stage::Rerank),
            corpus: corpus.cloned(),
            document_type: None,
            hour: self.first_bad_hour,
            severity: None,
            detail: json!({ "turns": bad.0, "with_it": now, "rate": rate(now, bad.0), "rate_before": rate(then, before.0) }),
        });
        clues.collect()
    }

    /// How bad it is (I14).
    fn severity(&self, corpus: Option<&Corpus>) -> Clue {
        let part = Part {
            corpus,
            ..self.bad()
        };
        let mean = self.hours.mean(part);
        let critical = self.reports > 0 || mean.is_some_and(|mean| mean < CRITICAL_CFS);
        Clue {
            step: 4,
            clue: "severity",
            stage: None,
            stage_no: None,
            corpus: corpus.cloned(),
            document_type: None,
            hour: self.first_bad_hour,
            severity: Some(if critical {
                Severity::Critical
            } else {
                Severity::Warning
            }),
            detail: json!({ "cfs": mean, "reports": self.reports, "answers": self.hours.answers(part) }),
        }
    }

    fn conclusion(
        &self,
        stage: Option<Stage>,
        corpus: Option<Corpus>,
        concentrated: Option<Clue>,
        clues: &[Clue],
    ) -> Clue {
        // Where no citation was lost, what the reranker did is all that there is to go by.
        let stage = stage.or_else(|| {
            clues
                .iter()
                .any(|clue| clue.step == 2)
                .then_some(Stage::Rerank)
        });
        let (bad, before) = (self.losses(self.bad()), self.losses(self.before()));
        let detail = match stage {
            Some(Stage::Document) => json!({ "indicator": self.indicator.name() }),
            Some(stage) => json!({
                "indicator": self.indicator.name(), "lost": bad.at(stage), "citations": bad.citations,
                "rate": bad.rate(stage), "rate_before": before.rate(stage),
            }),
            None => json!({ "indicator": self.indicator.name(), "citations": bad.citations }),
        };
        let severity = clues.iter().find_map(|clue| clue.severity);
        Clue {
            step: 0,
            clue: "conclusion",
            stage: stage.map(Stage::name),
            stage_no: stage.and_then(number),
            corpus,
            document_type: concentrated.and_then(|clue| clue.document_type),
            hour: self.first_bad_hour,
            severity,
            detail,
        }
    }
}

fn number(stage: Stage) -> Option<usize> {
    Stage::ALL.iter().position(|other| *other == stage)
}

/// When a value was seen.
#[derive(Default)]
struct Seen {
    before: u64,
    since: u64,
    first: i64,
}

impl Seen {
    fn add(&mut self, cell: &ComponentCell, first_bad_hour: i64) {
        let never = self.before + self.since == 0;
        self.first = if never {
            cell.hour
        } else {
            self.first.min(cell.hour)
        };
        if cell.hour >= first_bad_hour {
            self.since += cell.turns;
        } else {
            self.before += cell.turns;
        }
    }
}
