//! Tests of rules on generated hours: which alerts fire, and how they change state.

use reground_citations::{LossStage, Status};

use crate::alert::{Baseline, CheckInput, Event, Horizon, OpenAlert, baselines};
use crate::counts::{Kind, Part, UsualCell};
use crate::hours::{AnswerCell, Cells, CitationCell, Corpus, HOUR, Hours};
use crate::indicator::Indicator;
use crate::rule::{Rule, Severity, threshold};

const NOW: i64 = 1000 * HOUR;

fn rule(indicator: Indicator, threshold: f64) -> Rule {
    Rule {
        rule: "r".into(),
        indicator,
        threshold,
        hours: 6,
        whole_period: false,
        min_answers: 50,
        per_corpus: true,
        severity: Severity::Warning,
    }
}

/// Returns answers with one score, in the hour `back` hours ago.
fn answers(back: i64, bin: u16, answers: u64) -> AnswerCell {
    AnswerCell {
        hour: NOW - back * HOUR,
        corpus: "help".into(),
        cfs_bin: Some(bin),
        answers,
    }
}

fn of_answers(answers: Vec<AnswerCell>) -> Hours {
    Hours::from(Cells {
        answers,
        ..Cells::default()
    })
}

fn of_citations(citations: impl Into<Vec<CitationCell>>) -> Cells {
    Cells {
        citations: citations.into(),
        ..Cells::default()
    }
}

fn check_input(answers: Vec<AnswerCell>) -> CheckInput {
    CheckInput {
        now: NOW,
        hours: of_answers(answers),
        baselines: Vec::new(),
        open: Vec::new(),
        counts: Vec::new(),
        usual: Vec::new(),
        earlier: Vec::new(),
        reported: Vec::new(),
    }
}

fn firing(alert_id: i64, corpus: &str) -> OpenAlert {
    OpenAlert {
        alert_id,
        rule: "r".into(),
        corpus: Some(corpus.into()),
        severity: Severity::Warning,
    }
}

#[test]
fn a_low_percentile_fires_with_its_first_bad_hour() {
    let good = (3..200).map(|back| answers(back, 1000, 40));
    let bad = (0..3).flat_map(|back| [answers(back, 1000, 50), answers(back, 300, 10)]);
    let input = check_input(good.chain(bad).collect());
    let found = input.check(&[rule(Indicator::Percentile(5), 0.85)]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].event, Event::Fired);
    assert_eq!((found[0].value, found[0].samples), (0.3, 60));
    assert_eq!(
        (found[0].since, found[0].first_bad_hour),
        (NOW, Some(NOW - 2 * HOUR))
    );
    assert_eq!(found[0].severity, Severity::Warning);
    assert_eq!(found[0].corpus, Some("help".into()));
    assert_eq!(input.check(&[rule(Indicator::Percentile(5), 0.3)]), []);
}

#[test]
fn too_few_answers_neither_fire_nor_resolve() {
    let mut few = check_input(vec![answers(0, 0, 25), answers(5, 0, 24)]);
    assert_eq!(few.check(&[rule(Indicator::Percentile(5), 0.85)]), []);
    few.open.push(OpenAlert {
        alert_id: 7,
        rule: "r".into(),
        corpus: Some("help".into()),
        severity: Severity::Warning,
    });
    assert_eq!(few.check(&[rule(Indicator::Percentile(5), 0.85)]), []);
    few.hours.add(Cells {
        answers: vec![answers(5, 0, 1)],
        ..Cells::default()
    });
    let found = few.check(&[rule(Indicator::Percentile(5), 0.85)]);
    assert_eq!(
        (found[0].event, found[0].alert_id, found[0].since),
        (Event::Escalated, Some(7), NOW - 5 * HOUR)
    );
}

#[test]
fn the_latest_hours_decide_unless_the_rule_uses_the_whole_period() {
    let mut mended = check_input(vec![answers(0, 1000, 60), answers(1, 0, 600)]);
    mended.open.push(OpenAlert {
        alert_id: 7,
        rule: "r".into(),
        corpus: Some("help".into()),
        severity: Severity::Critical,
    });
    let found = mended.check(&[rule(Indicator::Percentile(5), 0.85)]);
    assert_eq!(
        (found[0].event, found[0].severity),
        (Event::Resolved, Severity::Critical)
    );
    let whole = Rule {
        whole_period: true,
        ..rule(Indicator::Percentile(5), 0.85)
    };
    let found = mended.check(&[whole]);
    assert_eq!(
        (found[0].event, found[0].first_bad_hour),
        (Event::Firing, Some(NOW - HOUR))
    );
}

/// Returns citations of an hour: those that passed the reranker, and those lost there.
fn reranked(back: i64, survived: u64, lost: u64) -> [CitationCell; 2] {
    let cell = |status, lost_stage, citations| CitationCell {
        hour: NOW - back * HOUR,
        corpus: "help".into(),
        document_type: None,
        status,
        lost_stage,
        citations,
    };
    [
        cell(Status::ResolvedCurrent, None, survived),
        cell(Status::Unretrieved, Some(LossStage::Rerank), lost),
    ]
}

#[test]
fn one_good_citation_in_the_current_hour_does_not_move_the_first_bad_hour() {
    // The reranker broke an hour ago. One citation has passed it in the current hour.
    let mut broken = check_input(vec![]);
    let good = (2..30).flat_map(|back| reranked(back, 60, 0));
    let cells = good.chain(reranked(1, 0, 60)).chain(reranked(0, 1, 0));
    broken.hours = Hours::from(of_citations(cells.collect::<Vec<_>>()));
    let whole = Rule {
        hours: 24,
        whole_period: true,
        ..rule(Indicator::Survival(LossStage::Rerank), 0.99)
    };
    for rule in [rule(Indicator::Survival(LossStage::Rerank), 0.9), whole] {
        broken.open.clear();
        let found = broken.check(std::slice::from_ref(&rule));
        assert_eq!(
            (found[0].event, found[0].first_bad_hour),
            (Event::Fired, Some(NOW - HOUR)),
            "{rule:?}"
        );
        broken.open.push(firing(7, "help"));
        let found = broken.check(std::slice::from_ref(&rule));
        assert_eq!(
            (found[0].event, found[0].first_bad_hour),
            (Event::Firing, Some(NOW - HOUR)),
            "{rule:?}"
        );
    }
}

#[test]
fn user_reports_and_low_means_are_critical() {
    let mut input = check_input(vec![answers(0, 800, 60)]);
    let rules = [rule(Indicator::Percentile(5), 0.85)];
    assert_eq!(input.check(&rules)[0].severity, Severity::Warning);
    input.reported.push("other".into());
    assert_eq!(input.check(&rules)[0].severity, Severity::Warning);
    input.reported.push("help".into());
    assert_eq!(input.check(&rules)[0].severity, Severity::Critical);
    let low = check_input(vec![answers(0, 699, 60)]);
    assert_eq!(low.check(&rules)[0].severity, Severity::Critical);
}

#[test]
fn a_drop_is_relative_to_the_baseline_of_its_corpus() {
    let mut low = check_input(vec![answers(0, 700, 60)]);
    let rules = [rule(Indicator::PercentileDrop, 0.15)];
    low.baselines.push(Baseline {
        corpus: None,
        cfs_p5: 1.0,
    });
    assert_eq!(low.check(&rules), []);
    low.baselines.push(Baseline {
        corpus: Some("help".into()),
        cfs_p5: 0.9,
    });
    let found = low.check(&rules);
    assert!((found[0].value - 0.2).abs() < 1e-9);
    assert_eq!(found[0].baseline, Some(0.9));
}

#[test]
fn a_stage_can_be_watched_over_all_corpora() {
    let mut lost = check_input(vec![answers(0, 1000, 60)]);
    let cell = |corpus: &str, lost_stage: Option<LossStage>, citations| CitationCell {
        hour: NOW,
        corpus: corpus.into(),
        document_type: None,
        status: if lost_stage.is_some() {
            Status::Unretrieved
        } else {
            Status::ResolvedCurrent
        },
        lost_stage,
        citations,
    };
    lost.hours.add(of_citations([
        cell("help", None, 480),
        cell("law", Some(LossStage::Rerank), 40),
        cell("law", Some(LossStage::Retrieval), 5),
        cell("wiki", Some(LossStage::Rerank), 40),
        cell("news", Some(LossStage::Rerank), 40),
    ]));
    let all = Rule {
        per_corpus: false,
        ..rule(Indicator::Survival(LossStage::Rerank), 0.9)
    };
    let found = lost.check(std::slice::from_ref(&all));
    assert_eq!(
        (found[0].value, found[0].samples, found[0].corpus.clone()),
        (0.8, 600, None)
    );
    let each = rule(Indicator::Survival(LossStage::Rerank), 0.9);
    assert_eq!(
        lost.check(std::slice::from_ref(&each)),
        [],
        "40 citations of a corpus are too few"
    );
    lost.hours
        .add(of_citations([cell("law", Some(LossStage::Rerank), 10)]));
    let found = lost.check(&[each]);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].value, found[0].samples, found[0].corpus.clone()),
        (0.0, 50, Some("law".into())),
        "it is cited, and never asked"
    );
}

#[test]
fn an_alert_whose_rule_is_removed_is_an_orphan() {
    let mut nothing = check_input(Vec::new());
    let open = |alert_id, rule: &str, corpus: Option<&str>| OpenAlert {
        alert_id,
        rule: rule.into(),
        corpus: corpus.map(Corpus::from),
        severity: Severity::Warning,
    };
    nothing.open = vec![
        open(1, "r", Some("help")),
        open(2, "gone", None),
        open(3, "r", None),
    ];
    assert_eq!(
        nothing.orphans(&[rule(Indicator::Mean, 0.5)]),
        [1, 2, 3],
        "nobody asks there any more"
    );
    nothing.hours = of_answers(vec![answers(100, 1000, 1)]);
    assert_eq!(nothing.orphans(&[rule(Indicator::Mean, 0.5)]), [2, 3]);
}

#[test]
fn baselines_cover_all_corpora_together_and_each() {
    let mut law = answers(0, 100, 99);
    law.corpus = "law".into();
    let hours = of_answers(vec![answers(0, 900, 10), answers(4, 800, 1), law]);
    let taken = baselines(&hours);
    let figures: Vec<_> = taken
        .iter()
        .map(|t| {
            (
                t.corpus.as_ref().map(|c| c.name.as_str()),
                t.cfs_p5,
                t.answers,
            )
        })
        .collect();
    assert_eq!(
        figures,
        [
            (None, 0.1, 110),
            (Some("help"), 0.8, 11),
            (Some("law"), 0.1, 99)
        ]
    );
    assert_eq!(baselines(&Hours::default()), []);
}

#[test]
fn the_horizon_is_no_longer_than_needed() {
    let horizon = Horizon::of(&[
        rule(Indicator::Mean, 0.5),
        Rule {
            hours: 24,
            ..rule(Indicator::Stale, 0.1)
        },
    ]);
    assert_eq!((horizon.hours, horizon.stale), (168, 24));
    let far = Horizon::of(&[Rule {
        hours: 700,
        ..rule(Indicator::Mean, 0.5)
    }]);
    assert_eq!((far.hours, far.stale), (700, 0));
}

#[test]
fn thresholds_are_in_0_to_1() {
    assert_eq!((threshold(0.0), threshold(1.0)), (Ok(0.0), Ok(1.0)));
    for wrong in [-0.1, 1.1, f64::INFINITY] {
        assert!(threshold(wrong).is_err());
    }
    assert!(threshold(f64::NAN).is_err());
}

#[test]
fn one_scored_answer_among_many_makes_no_finding() {
    let mut uncited = answers(0, 0, 99);
    uncited.cfs_bin = None;
    let few = check_input(vec![uncited, answers(0, 300, 1)]);
    assert_eq!(few.check(&[rule(Indicator::Percentile(5), 0.85)]), []);
}

#[test]
fn values_at_the_threshold_are_good_or_bad_as_documented() {
    let bad = |indicator, threshold, value| rule(indicator, threshold).is_bad(value);
    assert!(!bad(Indicator::Percentile(1), 0.9, 0.9));
    assert!(bad(Indicator::Percentile(1), 0.9, 0.899));
    let rerank = Indicator::Survival(LossStage::Rerank);
    assert!(!bad(rerank, 0.95, 0.95));
    assert!(bad(rerank, 0.95, 0.94));
    assert!(!bad(Indicator::Stale, 0.1, 0.1));
    // The target is below 0.5 %.
    assert!(bad(Indicator::ParseFailures, 0.005, 0.005));
    assert!(!bad(Indicator::ParseFailures, 0.0, 0.0));
}

#[test]
fn a_figure_must_be_beyond_chance() {
    let found = |indicator, threshold, hours: Hours| {
        let mut input = check_input(Vec::new());
        input.hours = hours;
        input.check(&[rule(indicator, threshold)]).len()
    };
    // 5 % of 60 answers may be bad: 3, with a standard error of 1.69.
    let scores = |bad| of_answers(vec![answers(0, 1000, 60 - bad), answers(0, 300, bad)]);
    let tail = |bad| found(Indicator::Percentile(5), 0.85, scores(bad));
    assert_eq!((tail(8), tail(9)), (0, 1));
    // 0.5 % of 800 citations: 4, with a standard error of 1.995 · √2.
    let unread = |bad| {
        let mut cells = reranked(0, 800 - bad, bad);
        (cells[1].status, cells[1].lost_stage) = (Status::Malformed, None);
        found(
            Indicator::ParseFailures,
            0.005,
            Hours::from(of_citations(cells)),
        )
    };
    assert_eq!((unread(12), unread(13)), (0, 1));
    // 10 % of 100 citations: 10, with a standard error of 3 · √2.
    let lost = |bad| {
        let hours = Hours::from(of_citations(reranked(0, 100 - bad, bad)));
        found(Indicator::Survival(LossStage::Rerank), 0.9, hours)
    };
    assert_eq!((lost(22), lost(23)), (0, 1));
}

#[test]
fn losses_that_are_usual_for_a_corpus_are_no_alert() {
    let found = |bad, usual| {
        let mut cells = reranked(0, 800 - bad, bad);
        cells[1].lost_stage = Some(LossStage::Generation);
        let mut input = check_input(Vec::new());
        input.hours = Hours::from(of_citations(cells));
        input.usual = usual;
        let rules = [rule(Indicator::Survival(LossStage::Generation), 0.9)];
        input.check(&rules).len()
    };
    // A hundred hours with 12 failing citations of 100 each, and equal days.
    let usual = UsualCell {
        corpus: "help".into(),
        kind: Kind::Failing,
        part: Part::Corpus,
        hours: 100.0,
        events: 1200.0,
        trials: 10_000.0,
        events_squared: 14_400.0,
        events_trials: 120_000.0,
        trials_squared: 1_000_000.0,
        day_events_squared: 5.0 * 240.0 * 240.0,
        day_events_trials: 5.0 * 240.0 * 2000.0,
        day_trials_squared: 5.0 * 2000.0 * 2000.0,
    };
    // 10 % of 800 are 80, with a standard error of 8.49 · √2; 12 % are 96, with one of 9.19 · √2.
    assert_eq!((found(115, Vec::new()), found(117, Vec::new())), (0, 1));
    assert_eq!(
        (found(134, vec![usual.clone()]), found(136, vec![usual])),
        (0, 1)
    );
}

#[test]
fn a_few_own_answers_do_not_silence_a_corpus_that_others_cite() {
    let rules = [rule(Indicator::Survival(LossStage::Rerank), 0.9)];
    let found = |own: &[(i64, u64)], citations| {
        let mut cited = check_input(own.iter().map(|own| answers(own.0, 1000, own.1)).collect());
        cited.hours.add(of_citations(reranked(0, 0, citations)));
        cited.check(&rules).len()
    };
    assert_eq!(found(&[(0, 1)], 60), 1);
    assert_eq!(found(&[(3, 2)], 60), 1, "in another hour");
    assert_eq!(found(&[(0, 1)], 49), 0, "too few of them");
    // The citations can come from the corpus's own answers, and these are too few.
    assert_eq!(found(&[(0, 20)], 60), 0);
    assert_eq!(found(&[(0, 49)], 49 * 20), 1);
    assert_eq!(
        found(&[(0, 1), (5, 49)], 60),
        1,
        "an hour alone has too few, all six have enough"
    );
}

#[test]
fn an_alert_near_its_threshold_stays_open() {
    let low = rule(Indicator::Percentile(5), 0.85);
    let event = |bin: u16, earlier: &[AnswerCell], rule: &Rule| {
        let mut near = check_input([&[answers(0, bin, 60)], earlier].concat());
        near.open.push(firing(7, "help"));
        near.check(std::slice::from_ref(rule))[0].event
    };
    // The threshold plus the margin is 0.85 + 0.1 * 0.15 = 0.865. The previous hour was bad.
    let bad = [answers(1, 840, 60)];
    assert_eq!(event(849, &bad, &low), Event::Firing);
    assert_eq!(event(850, &bad, &low), Event::Firing);
    assert_eq!(event(864, &bad, &low), Event::Firing);
    assert_eq!(event(865, &bad, &low), Event::Resolved);
    // The alert resolves when every hour of the period is good, even without the margin.
    assert_eq!(event(850, &[answers(5, 840, 60)], &low), Event::Firing);
    assert_eq!(event(850, &[answers(6, 840, 60)], &low), Event::Resolved);
    assert_eq!(event(850, &[answers(3, 850, 60)], &low), Event::Resolved);
    // The best possible value always resolves.
    let perfect = rule(Indicator::Mean, 1.0);
    assert_eq!(event(999, &bad, &perfect), Event::Firing);
    assert_eq!(event(1000, &bad, &perfect), Event::Resolved);
}

#[test]
fn a_share_near_its_threshold_stays_open() {
    let event = |indicator, threshold, now: (u64, u64), status| {
        let unread = |back, (good, bad)| {
            let mut cells = reranked(back, good, bad);
            (cells[1].status, cells[1].lost_stage) = status;
            cells
        };
        let mut near = check_input(Vec::new());
        near.hours.add(of_citations(unread(0, now)));
        near.hours.add(of_citations(unread(1, (0, 100))));
        near.open.push(firing(7, "help"));
        near.check(&[rule(indicator, threshold)])[0].event
    };
    let malformed = (Status::Malformed, None);
    let unread = |bad| event(Indicator::ParseFailures, 0.1, (1000 - bad, bad), malformed);
    assert_eq!(unread(100), Event::Firing);
    assert_eq!(unread(99), Event::Firing);
    assert_eq!(unread(91), Event::Firing);
    assert_eq!(unread(90), Event::Resolved);
    let none = event(Indicator::ParseFailures, 0.0, (1000, 0), malformed);
    assert_eq!(none, Event::Resolved);
    let lost = (Status::Unretrieved, Some(LossStage::Rerank));
    let rerank = Indicator::Survival(LossStage::Rerank);
    assert_eq!(event(rerank, 0.9, (909, 91), lost), Event::Firing);
    assert_eq!(event(rerank, 0.9, (910, 90), lost), Event::Resolved);
}

#[test]
fn severity_names_round_trip() {
    for severity in Severity::ALL {
        assert_eq!(serde_json::to_value(severity).unwrap(), severity.name());
        assert_eq!(severity.name().parse(), Ok(severity));
    }
    let error = "bad".parse::<Severity>().unwrap_err();
    assert_eq!(error.hint(), "Use one of warning, critical.");
}

#[test]
fn corpora_with_the_same_name_are_separate() {
    let docs = |tenant: Option<&str>| Corpus {
        tenant: tenant.map(str::to_owned),
        name: "docs".into(),
    };
    let of = |tenant, bin, number| AnswerCell {
        corpus: docs(tenant),
        ..answers(0, bin, number)
    };
    let mut each = check_input(vec![
        of(Some("acme"), 300, 60),
        of(Some("bolt"), 1000, 6000),
        of(None, 1000, 6000),
    ]);
    let rules = [rule(Indicator::Percentile(5), 0.85)];
    let found = each.check(&rules);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].corpus, Some(docs(Some("acme"))));
    // Their baselines, user reports and open alerts are separate, too.
    let owners: Vec<_> = baselines(&each.hours)
        .into_iter()
        .map(|taken| (taken.corpus, taken.answers))
        .collect();
    assert_eq!(
        owners,
        [
            (None, 12_060),
            (Some(docs(None)), 6000),
            (Some(docs(Some("acme"))), 60),
            (Some(docs(Some("bolt"))), 6000)
        ]
    );
    each.hours = of_answers(vec![of(Some("acme"), 800, 60), of(Some("bolt"), 800, 60)]);
    each.reported.push(docs(Some("bolt")));
    let severities: Vec<_> = each.check(&rules).iter().map(|f| f.severity).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Critical]);
    each.open = vec![
        OpenAlert {
            corpus: Some(docs(Some("bolt"))),
            ..firing(7, "docs")
        },
        firing(8, "docs"),
    ];
    let events: Vec<_> = each.check(&rules).iter().map(|f| f.event).collect();
    assert_eq!(events, [Event::Fired, Event::Escalated]);
    assert_eq!(each.orphans(&rules), [8], "the shared one is not heard of");
    // Serialized findings and alerts contain the tenant and the corpus.
    let found = serde_json::to_value(&each.check(&rules)[0]).unwrap();
    assert_eq!(
        (&found["tenant"], &found["corpus"]),
        (&"acme".into(), &"docs".into())
    );
    let open =
        r#"{"alert_id": 1, "rule": "r", "tenant": null, "corpus": null, "severity": "warning"}"#;
    assert_eq!(
        serde_json::from_str::<OpenAlert>(open).unwrap().corpus,
        None
    );
    let open = open
        .replacen("null", r#""acme""#, 1)
        .replace("null", r#""docs""#);
    let open = serde_json::from_str::<OpenAlert>(&open).unwrap();
    assert_eq!(open.corpus, Some(docs(Some("acme"))));
}
