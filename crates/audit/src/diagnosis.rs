//! Causes of an alert: the checks of the runbook in their order, and a conclusion.

use std::collections::BTreeMap;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::alert::CRITICAL_CFS;
use crate::counts::Kind;
use crate::hours::{Corpus, HOUR, Hours, Window};
use crate::indicator::Indicator;
use crate::rule::Severity;
use crate::stage::Stage;
use crate::versions;

/// A change of a component is a suspect when it is at most this many hours older than the first bad hour.
pub const SUSPECT_HOURS: i64 = 24;

/// A new value of a component counts as a change when at least this share of the turns use it.
const CHANGED_SHARE: f64 = 0.1;

/// A reranker warning is a clue when its share of turns has grown by more than this.
const MORE_WARNED: f64 = 0.05;

/// A document type is a clue when its loss rate has grown at least this many times as much as the rate of the other types.
const CONCENTRATION: f64 = 3.0;

/// Turns of an hour that used one value of a component.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ComponentCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Name of a setting of the turn, or `model`.
    pub name: String,
    /// Value as text.
    pub value: String,
    /// Number of turns.
    pub turns: u64,
}

/// Turns of an hour, and those with an incomplete or changed result of the reranker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RerankCell {
    /// Start of the hour, in seconds since 1970.
    pub hour: i64,
    /// Number of turns.
    pub turns: u64,
    /// Turns with candidates that the reranker did not return.
    pub missing: u64,
    /// Turns with a passage whose text the reranker changed.
    pub changed: u64,
}

/// Input of a diagnosis.
#[derive(Clone, Debug, Deserialize)]
pub struct DiagnosisInput {
    /// The indicator that the alert's rule watches.
    pub indicator: Indicator,
    /// Corpus of the alert, when the rule checks each corpus separately.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// First hour of the latest run of bad hours, in seconds since 1970.
    pub first_bad_hour: i64,
    /// End of the examined hours (exclusive), in seconds since 1970.
    pub until: i64,
    /// Rollups, beginning a week before the first bad hour.
    #[serde(flatten)]
    pub hours: Hours,
    /// Components of the turns in these hours, for the alert's corpus.
    pub components: Vec<ComponentCell>,
    /// Results of the rerankers in these hours.
    pub reranks: Vec<RerankCell>,
    /// Number of citations that users reported since the first bad hour.
    pub reports: u64,
}

/// A clue of a diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clue {
    /// 0 for the conclusion, otherwise the number of the check.
    pub step: u8,
    /// Name of the clue.
    pub clue: &'static str,
    /// Stage to which the clue points.
    pub stage: Option<&'static str>,
    /// Number of the stage.
    pub stage_no: Option<usize>,
    /// Corpus.
    #[serde(flatten)]
    pub corpus: Option<Corpus>,
    /// Type of the documents.
    pub document_type: Option<String>,
    /// First bad hour, or the hour of a change, in seconds since 1970.
    pub hour: i64,
    /// Severity, for the severity check and the conclusion.
    pub severity: Option<Severity>,
    /// Figures behind the clue.
    pub details: Value,
}

/// Citations of some hours, with the number lost at each stage.
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

impl DiagnosisInput {
    /// Returns the clues, the conclusion first.
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

    fn bad(&self) -> Window<'_> {
        Window {
            corpus: self.corpus.as_ref(),
            since: self.first_bad_hour,
            until: self.until,
        }
    }

    fn before(&self) -> Window<'_> {
        self.bad().during(i64::MIN, self.first_bad_hour)
    }

    fn losses(&self, window: Window<'_>) -> Losses {
        let mut losses = Losses::default();
        for cell in self.hours.citation_cells(window) {
            losses.add(Stage::of(cell.status, cell.lost_stage), cell.citations);
        }
        losses
    }

    /// Returns the stage whose loss rate has grown the most.
    fn stage(&self) -> Option<Stage> {
        match self.indicator {
            Indicator::Stale => return Some(Stage::Document),
            Indicator::Rise(Kind::RerankLost) => return Some(Stage::Rerank),
            Indicator::Rise(Kind::EmptyContext) => return Some(Stage::Retrieval),
            Indicator::Rise(Kind::Uncited) => return Some(Stage::Generation),
            Indicator::Rise(Kind::Malformed) => return Some(Stage::Citation),
            // The judge, the reviewers, the load or the users have changed, not the citations.
            Indicator::JudgeDisagreement | Indicator::Rise(Kind::AnswerMs) | Indicator::Traffic => {
                return None;
            }
            _ => {}
        }
        let (bad, before) = (self.losses(self.bad()), self.losses(self.before()));
        let more = |stage: Stage| bad.rate(stage) - before.rate(stage);
        let lossy = Stage::ALL.into_iter().filter(|stage| more(*stage) > 0.0);
        lossy.max_by(|a, b| more(*a).total_cmp(&more(*b)))
    }

    /// Returns the corpus with the most losses at a stage.
    fn worst_corpus(&self, stage: Stage) -> Option<Corpus> {
        let mut lost: BTreeMap<&Corpus, u64> = BTreeMap::new();
        if stage == Stage::Document {
            for cell in self.hours.stale_cells(self.bad()) {
                *lost.entry(&cell.corpus).or_default() += cell.stale;
            }
        } else {
            for cell in self.hours.citation_cells(self.bad()) {
                if Stage::of(cell.status, cell.lost_stage) == Some(stage) {
                    *lost.entry(&cell.corpus).or_default() += cell.citations;
                }
            }
        }
        let worst = lost.into_iter().max_by_key(|(_, lost)| *lost);
        worst.map(|(corpus, _)| corpus.clone())
    }

    /// Returns a clue when the losses of one document type have grown far more than those of the others.
    fn document_type(&self, stage: Stage, corpus: Option<&Corpus>) -> Option<Clue> {
        let (bad, before) = (self.bad(), self.before());
        let types = self.losses_by_type(stage, Window { corpus, ..bad });
        let earlier = self.losses_by_type(stage, Window { corpus, ..before });
        // Losses beyond the rate of the same type before.
        let grown = |kind: &Option<&str>, (lost, all): (u64, u64)| {
            let before = earlier
                .get(kind)
                .map_or(0.0, |before| rate(before.0, before.1));
            (lost as f64 - before * all as f64).max(0.0)
        };
        let total: f64 = types
            .iter()
            .map(|(kind, counts)| grown(kind, *counts))
            .sum();
        let all: u64 = types.values().map(|counts| counts.1).sum();
        let largest = types
            .iter()
            .max_by(|(a, own), (b, other)| grown(a, **own).total_cmp(&grown(b, **other)));
        let (kind, (lost, of_kind)) = largest.map(|(kind, counts)| (*kind, *counts))?;
        let own = grown(&kind, (lost, of_kind));
        let others = (total - own) / (all - of_kind).max(1) as f64;
        let kind = kind?.to_owned();
        let concentrated = all > of_kind
            && own > 0.0
            && 2.0 * own >= total
            && own / of_kind as f64 >= CONCENTRATION * others;
        let other_lost: u64 = types.values().map(|counts| counts.0).sum::<u64>() - lost;
        concentrated.then(|| Clue {
            step: 3,
            clue: "document_type",
            stage: Some(stage.name()),
            stage_no: number(stage),
            corpus: corpus.cloned(),
            document_type: Some(kind),
            hour: self.first_bad_hour,
            severity: None,
            details: json!({
                "lost": lost, "citations": of_kind, "rate": rate(lost, of_kind), "others_rate": rate(other_lost, all - of_kind),
            }),
        })
    }

    /// Returns the lost citations and all citations of a window, by document type.
    fn losses_by_type<'a>(
        &'a self,
        stage: Stage,
        window: Window<'a>,
    ) -> BTreeMap<Option<&'a str>, (u64, u64)> {
        let mut types: BTreeMap<Option<&'a str>, (u64, u64)> = BTreeMap::new();
        let mut add = |kind, lost, all| {
            let counts: &mut (u64, u64) = types.entry(kind).or_default();
            counts.0 += lost;
            counts.1 += all;
        };
        if stage == Stage::Document {
            for cell in self.hours.stale_cells(window) {
                add(cell.document_type.as_deref(), cell.stale, cell.citations);
            }
        } else {
            for cell in self.hours.citation_cells(window) {
                let here = Stage::of(cell.status, cell.lost_stage) == Some(stage);
                let lost = if here { cell.citations } else { 0 };
                add(cell.document_type.as_deref(), lost, cell.citations);
            }
        }
        types
    }

    /// Returns component values that replace another value, are first used at most [`SUSPECT_HOURS`] before the first bad hour, and
    /// are common since.
    fn changes(&self, corpus: Option<&Corpus>) -> Vec<Clue> {
        let suspect = self.first_bad_hour - SUSPECT_HOURS * HOUR;
        let mut values: BTreeMap<(String, String), ValueUsage> = BTreeMap::new();
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
                    details: json!({ "component": name, "before": before, "since": value, "share": share }),
                });
            }
        }
        // The change closest to the first bad hour is the first suspect.
        clues.sort_by_key(|clue| (clue.hour - self.first_bad_hour).abs());
        clues
    }

    /// Returns clues when the reranker drops or changes more passages than before.
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
            details: json!({ "turns": bad.0, "with_it": now, "rate": rate(now, bad.0), "rate_before": rate(then, before.0) }),
        });
        clues.collect()
    }

    /// Returns the severity.
    fn severity(&self, corpus: Option<&Corpus>) -> Clue {
        let window = Window {
            corpus,
            ..self.bad()
        };
        let mean = self.hours.mean(window);
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
            details: json!({ "cfs": mean, "reports": self.reports, "answers": self.hours.answers(window) }),
        }
    }

    fn conclusion(
        &self,
        stage: Option<Stage>,
        corpus: Option<Corpus>,
        concentrated: Option<Clue>,
        clues: &[Clue],
    ) -> Clue {
        // Without lost citations, the reranker warnings are the only evidence.
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
            details: detail,
        }
    }
}

fn number(stage: Stage) -> Option<usize> {
    Stage::ALL.iter().position(|other| *other == stage)
}

/// Usage of one component value.
#[derive(Default)]
struct ValueUsage {
    before: u64,
    since: u64,
    first: i64,
}

impl ValueUsage {
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
