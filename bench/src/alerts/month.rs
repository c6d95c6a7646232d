//! Simulated weeks of answers on three corpora, as hourly cells, and the checks of the built-in rules on them.
//!
//! Traffic follows the hour of the day and the day of the week. An answer has 1 to 6 citations that depend on each other. The share
//! that holds differs by corpus, document type, model and day.

use std::collections::BTreeMap;

use reground_audit::alert::{CheckInput, Event, OpenAlert, USUAL_HOURS};
use reground_audit::counts::{Kind, Part, UsualCell};
use reground_audit::hours::{Corpus, HOUR, Hours};
use reground_audit::indicator::Indicator;
use reground_audit::rule::Rule;
use reground_audit::traffic::{EarlierCell, WEEKS};
use reground_citations::{LossStage, Status};

use super::draws::{count, happens, normal, unit};
use super::profiles::{PROFILES, Profile};
use super::rules::built_in;
use super::sums::{Sums, Usual};
use crate::statistics::random::SplitMix;

/// Hours of a month.
const MONTH: i64 = 30 * 24;

/// Hours that the rules on fixed limits read. A server reads a week, to say when a fault began; no built-in rule on fixed limits uses more than a day.
const READ: i64 = 48;

/// First hour of the simulation, in hours since 1970.
const FIRST: i64 = 24 * (20_000 + 3);

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 45 % of the citations of PDF documents of the corpus help fail.
    DocumentType,
    /// The reranker of the corpus help loses 75 % of the passages.
    Reranker,
    /// A new model version writes half of the answers, and 15 % of its citations name nothing that exists.
    ModelVersion,
    /// Nobody asks the corpus help any more.
    Traffic,
}

/// An alert that fired.
#[derive(Clone, Debug)]
pub struct Alarm {
    /// The rule.
    pub rule: String,
    /// Its corpus; empty for all.
    pub corpus: String,
    /// Hours since the start of the fault, or of the month.
    pub hours: f64,
    /// Answers of all corpora since then.
    pub answers: u64,
}

impl Alarm {
    /// The rule and the corpus.
    pub fn name(&self) -> String {
        format!("{} of {}", self.rule, self.corpus)
    }
}

/// A simulated system.
pub struct Month {
    random: SplitMix,
    /// Answers an hour, at the mean of the week.
    traffic: f64,
    fault: Option<Fault>,
    hours: Vec<Sums>,
    usual: BTreeMap<(usize, Kind, Part), Usual>,
    rules: Vec<Rule>,
    open: Vec<OpenAlert>,
    /// Deviation of the present day, and its first hour.
    day: f64,
    day_of: i64,
    /// Length of the accumulating rules' period in hours.
    period: i64,
}

impl Month {
    /// Simulates the days before, whose figures are the usual ones.
    pub fn new(seed: u64, answers_an_hour: f64, days: i64) -> Self {
        let rules = built_in();
        let periods = rules
            .iter()
            .filter(|rule| matches!(rule.indicator, Indicator::Rise(_)));
        let period = periods.map(|rule| rule.hours).max().unwrap_or_default();
        let mut month = Self {
            random: SplitMix(seed),
            traffic: answers_an_hour,
            fault: None,
            hours: Vec::new(),
            usual: BTreeMap::new(),
            rules,
            open: Vec::new(),
            day: 0.0,
            day_of: 0,
            period,
        };
        for _ in 0..24 * days + month.period {
            let sums = month.part_of_hour(1.0);
            month.end_hour(sums);
        }
        month
    }

    /// Simulates a part of the present hour.
    pub fn part_of_hour(&mut self, share: f64) -> Sums {
        let hour = FIRST + self.hours.len() as i64;
        if hour % 24 == 0 && self.day_of != hour {
            self.day_of = hour;
            self.day = 0.15 * normal(&mut self.random);
        }
        // Nights have a fifth of the traffic of the day, weekends half.
        let daily = 1.0 + 0.65 * (std::f64::consts::TAU * ((hour % 24) as f64 - 9.0) / 24.0).sin();
        let weekly = if hour / 24 % 7 == 2 || hour / 24 % 7 == 3 {
            0.5
        } else {
            1.2
        };
        let mut sums = Sums::default();
        for (corpus, profile) in PROFILES.iter().enumerate() {
            if corpus == 0 && self.fault == Some(Fault::Traffic) {
                continue;
            }
            let mean = self.traffic * profile.traffic * daily * weekly * share;
            for _ in 0..count(mean, &mut self.random) {
                self.answer(corpus, profile, &mut sums);
            }
        }
        sums
    }

    fn answer(&mut self, corpus: usize, profile: &Profile, sums: &mut Sums) {
        let fault = if corpus == 0 { self.fault } else { None };
        let random = &mut self.random;
        let new_model = fault == Some(Fault::ModelVersion) && happens(0.5, random);
        let model = match happens(0.7, random) {
            _ if new_model => "small-2",
            true => "small-1",
            false => "large-1",
        };
        let empty = happens(0.02, random);
        let uncited = empty || happens(0.04, random);
        sums.count(
            (corpus, Kind::EmptyContext, None, model),
            f64::from(u8::from(empty)),
            1.0,
        );
        if !empty {
            sums.count(
                (corpus, Kind::Uncited, None, model),
                f64::from(u8::from(uncited)),
                1.0,
            );
        }
        let ms = 2500.0 * (0.5 * normal(random) + self.day).exp();
        sums.count(
            (corpus, Kind::AnswerMs, None, model),
            (1000.0 * ms.ln()).round(),
            1.0,
        );
        let lost_share = if fault == Some(Fault::Reranker) {
            0.75
        } else {
            0.02
        };
        let lost = (0..20).filter(|_| happens(lost_share, random)).count();
        sums.count(
            (corpus, Kind::RerankLost, None, model),
            lost as f64 / 20.0,
            1.0,
        );
        if uncited {
            *sums.answers.entry((corpus, None)).or_default() += 1;
            return;
        }
        self.cite(corpus, profile, (fault, model), sums);
    }

    /// Adds the citations of an answer.
    fn cite(
        &mut self,
        corpus: usize,
        profile: &Profile,
        (fault, model): (Option<Fault>, &'static str),
        sums: &mut Sums,
    ) {
        let random = &mut self.random;
        let better = if model == "large-1" { 0.8 } else { 1.0 };
        // Usually, one citation in a thousand names nothing that exists.
        let invented_share = if model == "small-2" { 0.15 } else { 0.001 };
        let citations = 1 + (unit(random) * 6.0) as u32;
        let whole = happens(0.3, random).then(|| unit(random));
        let (mut score, mut scored, mut malformed) = (0.0_f64, 0.0_f64, 0.0);
        for _ in 0..citations {
            let (mut at, mut kind) = (unit(random), profile.types[0].0);
            for (name, share) in profile.types {
                kind = name;
                at -= share;
                if at < 0.0 {
                    break;
                }
            }
            if happens(0.001, random) {
                malformed += 1.0;
                *sums
                    .citations
                    .entry(verdict(corpus, kind, Status::Malformed, None))
                    .or_default() += 1;
                continue;
            }
            let often = match kind {
                "pdf" => 1.3,
                "docx" => 1.1,
                _ => 0.9,
            };
            let failing = (profile.failing * better * often * self.day.exp()).min(1.0);
            let luck = whole.unwrap_or_else(|| unit(random));
            let broken =
                fault == Some(Fault::DocumentType) && kind == "pdf" && happens(0.45, random);
            let invented = happens(invented_share, random);
            let (status, lost, own) = if invented {
                (Status::UnknownId, Some(LossStage::Generation), 0.0)
            } else if broken || luck < failing {
                (Status::Unsupported, Some(LossStage::Generation), 1.0)
            } else {
                (Status::ResolvedCurrent, None, 1.0)
            };
            score += own;
            scored += 1.0;
            let holds = status == Status::ResolvedCurrent;
            sums.count(
                (corpus, Kind::Failing, Some(kind), model),
                f64::from(u8::from(!holds)),
                1.0,
            );
            *sums
                .citations
                .entry(verdict(corpus, kind, status, lost))
                .or_default() += 1;
        }
        sums.count(
            (corpus, Kind::Malformed, None, model),
            malformed,
            f64::from(citations),
        );
        let bin = (scored > 0.0).then(|| (1000.0 * score / scored).round() as u16);
        *sums.answers.entry((corpus, bin)).or_default() += 1;
    }

    /// Ends the present hour.
    pub fn end_hour(&mut self, sums: Sums) {
        self.hours.push(sums);
        let enters = self.hours.len() as i64 - self.period;
        if enters >= 0 {
            self.change_usual(enters, 1.0);
        }
        if enters >= USUAL_HOURS {
            self.change_usual(enters - USUAL_HOURS, -1.0);
        }
    }

    fn change_usual(&mut self, hour: i64, sign: f64) {
        let mut parts: BTreeMap<(usize, Kind, Part), (f64, f64)> = BTreeMap::new();
        for ((corpus, kind, document_type, model), (events, trials)) in
            &self.hours[hour as usize].counts
        {
            let types = document_type.map(|own| Part::DocumentType(own.to_owned()));
            let all = [
                Some(Part::Corpus),
                Some(Part::Model((*model).to_owned())),
                types,
            ];
            for part in all.into_iter().flatten() {
                let sums = parts.entry((*corpus, *kind, part)).or_default();
                sums.0 += events;
                sums.1 += trials;
            }
        }
        for (key, (events, trials)) in parts {
            let usual = self.usual.entry(key).or_default();
            usual.add((FIRST + hour) / 24, sign, events, trials);
        }
    }

    fn input(&self, present: &Sums) -> CheckInput {
        let now = FIRST + self.hours.len() as i64;
        let back = |hours: i64| (self.hours.len() as i64 - hours + 1).max(0) as usize;
        let mut hours = Hours::default();
        let mut counts = Vec::new();
        let all = self.hours.iter().chain([present]).enumerate();
        for (at, sums) in all.skip(back(READ.max(self.period))) {
            let hour = (FIRST + at as i64) * HOUR;
            if at >= back(READ) {
                hours.add(sums.cells(hour));
            }
            if at >= back(self.period) {
                counts.extend(sums.count_cells(hour));
            }
        }
        let usual = self
            .usual
            .iter()
            .map(|((corpus, kind, part), usual)| UsualCell {
                corpus: PROFILES[*corpus].name.into(),
                kind: *kind,
                part: part.clone(),
                hours: usual.hours,
                events: usual.events,
                trials: usual.trials,
                events_squared: usual.squares[0],
                events_trials: usual.squares[1],
                trials_squared: usual.squares[2],
                day_events_squared: usual.of_days(|events, _| events * events),
                day_events_trials: usual.of_days(|events, trials| events * trials),
                day_trials_squared: usual.of_days(|_, trials| trials * trials),
            });
        let earlier = (1..=WEEKS).flat_map(|week| {
            let first = self.hours.len() as i64 - week * 168 - 24;
            (first..first + 24)
                .flat_map(move |at| (0..PROFILES.len()).map(move |corpus| (at, corpus)))
        });
        let earlier = earlier
            .filter(|(at, _)| *at >= 0)
            .map(|(at, corpus)| EarlierCell {
                hour: (FIRST + at) * HOUR,
                corpus: PROFILES[corpus].name.into(),
                answers: self.hours[at as usize].answers_of(corpus),
            });
        CheckInput {
            now: now * HOUR,
            hours,
            counts,
            usual: usual.collect(),
            earlier: earlier.collect(),
            baselines: Vec::new(),
            open: self.open.clone(),
            reported: Vec::new(),
        }
    }

    /// Checks the rules, and returns the alerts that fire.
    pub fn check(&mut self, present: &Sums) -> Vec<(String, Option<Corpus>)> {
        let found = self.input(present).check(&self.rules);
        let mut fired = Vec::new();
        for finding in found {
            match finding.event {
                Event::Fired => {
                    fired.push((finding.rule.clone(), finding.corpus.clone()));
                    self.open.push(OpenAlert {
                        alert_id: self.open.len() as i64,
                        rule: finding.rule,
                        corpus: finding.corpus,
                        severity: finding.severity,
                    });
                }
                Event::Resolved => self
                    .open
                    .retain(|open| open.rule != finding.rule || open.corpus != finding.corpus),
                Event::Escalated | Event::Firing => {}
            }
        }
        fired
    }

    /// Returns the alerts of the next 30 days, with `checks` checks an hour.
    pub fn alarms(&mut self, checks: u32) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        let mut answers = 0;
        for hour in 0..MONTH {
            let mut present = Sums::default();
            for check in 1..=checks {
                let part = self.part_of_hour(1.0 / f64::from(checks));
                answers += part.answers.values().sum::<u64>();
                present.add(&part);
                let hours = hour as f64 + f64::from(check) / f64::from(checks);
                for (rule, corpus) in self.check(&present) {
                    let corpus = corpus.map_or_else(String::new, |corpus| corpus.name);
                    alarms.push(Alarm {
                        rule,
                        corpus,
                        hours,
                        answers,
                    });
                }
            }
            self.end_hour(present);
        }
        alarms
    }

    /// Plants a fault in the corpus help, and returns the first alert of this corpus, with `checks` checks an hour. `None` if none fires
    /// within `most` hours.
    pub fn first_alarm(&mut self, fault: Fault, checks: u32, most: i64) -> Option<Alarm> {
        self.fault = Some(fault);
        let mut answers = 0;
        for hour in 0..most {
            let mut present = Sums::default();
            for check in 1..=checks {
                let part = self.part_of_hour(1.0 / f64::from(checks));
                answers += part.answers.values().sum::<u64>();
                present.add(&part);
                let fired = self.check(&present);
                let own = |corpus: &Option<Corpus>| {
                    corpus
                        .as_ref()
                        .is_some_and(|corpus| corpus.name == PROFILES[0].name)
                };
                if let Some((rule, _)) = fired.into_iter().find(|(_, corpus)| own(corpus)) {
                    return Some(Alarm {
                        rule,
                        corpus: PROFILES[0].name.to_owned(),
                        hours: hour as f64 + f64::from(check) / f64::from(checks),
                        answers,
                    });
                }
            }
            self.end_hour(present);
        }
        None
    }
}

fn verdict(
    corpus: usize,
    kind: &'static str,
    status: Status,
    lost: Option<LossStage>,
) -> (usize, &'static str, usize, Option<usize>) {
    let place = Status::ALL
        .iter()
        .position(|other| *other == status)
        .unwrap_or_default();
    let lost = lost.and_then(|lost| LossStage::ALL.iter().position(|other| *other == lost));
    (corpus, kind, place, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_reads_the_whole_period_of_the_accumulating_rules() {
        let month = Month::new(1, 60.0, 4);
        let input = month.input(&Sums::default());
        let first = input.counts.iter().map(|cell| cell.hour).min();
        assert_eq!(first, Some(input.now - 71 * HOUR));
    }
}
