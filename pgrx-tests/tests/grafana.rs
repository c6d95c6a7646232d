//! The Grafana dashboard: the query of each panel runs with reground_auditor alone and returns rows.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use reground_tests::pooled::Pooled;
use reground_tests::server::Database;
use serde_json::Value;

/// An answer, a regenerated answer, a turn with a warning, a stale citation, a price, an alert.
const WRITTEN: &str = "
    SELECT reground.create_corpus('farm', dimensions => 2);
    SELECT reground.put_document('farm', 'cows', content => 'Cows give milk.');
    SELECT reground.put_document('farm', 'sheep', content => 'Sheep give wool.');
    SELECT reground.begin_turn('talk', 'who gives milk?', 'farm', settings => '{\"strategy\": \"reground\"}');
    SELECT reground.end_turn(1, 'Cows give milk [A1]. Pigs fly [Z9].', model => 'small');
    SELECT reground.begin_turn('talk', 'and who gives wool?', settings => '{\"strategy\": \"reground\"}');
    SELECT reground.end_turn(2, 'Sheep give wool [B1].');
    SELECT reground.end_turn(2, 'Sheep give wool [B1], cows milk [A1].', model => 'large');
    SELECT reground.put_document('farm', 'cows', content => 'Cows give milk and cheese.');
    INSERT INTO reground.model_prices (model, input_price, output_price) VALUES ('small', 1, 2);
    INSERT INTO reground.alerts (rule, corpus, state, severity, indicator, value, threshold, samples, since, first_bad_hour)
        VALUES ('fewer_hold', 'farm', 'firing', 'warning', 'holding_drop', 0.2, 0.1, 300, now(), now());
";

/// Expands the macros of Grafana.
fn expanded(sql: &str) -> String {
    let mut sql = sql
        .replace("$__timeFrom()", "'2020-01-01T00:00:00Z'")
        .replace("$__timeTo()", "'2120-01-01T00:00:00Z'");
    while let Some(start) = sql.find("$__timeFilter(") {
        let column = &sql[start + "$__timeFilter(".len()..];
        let (column, _) = column.split_once(')').unwrap_or((column, ""));
        let range = format!("{column} BETWEEN '2020-01-01T00:00:00Z' AND '2120-01-01T00:00:00Z'");
        let end = start + "$__timeFilter(".len() + column.len() + 1;
        sql.replace_range(start..end, &range);
    }
    sql
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key]
        .as_str()
        .with_context(|| format!("no {key} in {value}"))
}

/// The dashboard.
fn board() -> Result<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/grafana/reground.json");
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

/// The titles and targets of all panels and annotations. All use the data source that the user chooses.
fn targets(board: &Value) -> Result<Vec<(&str, &Value)>> {
    let mut found = Vec::new();
    for panel in board["panels"].as_array().context("no panels")? {
        let title = text(panel, "title")?;
        let targets = panel["targets"].as_array().context("no targets")?;
        for part in targets.iter().chain([panel]) {
            ensure!(part["datasource"]["uid"] == "${datasource}", "{title}");
        }
        found.extend(targets.iter().map(|target| (title, target)));
    }
    let annotations = board["annotations"]["list"].as_array();
    for annotation in annotations.context("no annotations")? {
        let name = text(annotation, "name")?;
        ensure!(annotation["datasource"]["uid"] == "${datasource}", "{name}");
        found.push((name, &annotation["target"]));
    }
    Ok(found)
}

#[test]
fn every_panel_shows_something_to_an_auditor() -> Result<()> {
    let board = board()?;
    ensure!(board["schemaVersion"].as_i64() >= Some(39));
    let variable = &board["templating"]["list"][0];
    ensure!(variable["type"] == "datasource" && variable["name"] == "datasource");
    let panels = board["panels"].as_array().context("no panels")?;
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_i64()).collect();
    ensure!(ids.len() == panels.len(), "an id occurs twice");
    // The share that holds comes first.
    ensure!(panels[0]["title"] == "Citations that hold" && panels[0]["gridPos"]["y"] == 0);

    let database = Database::create("grafana")?;
    let role = format!("{}_grafana", database.name());
    let mut owner = database.connect()?;
    owner.batch_execute(WRITTEN)?;
    owner.batch_execute(&format!(
        "CREATE ROLE {role} LOGIN IN ROLE reground_auditor"
    ))?;
    let mut session = Pooled::connect(&database, &role)?;
    let mut faults = Vec::new();
    let targets = targets(&board)?;
    ensure!(targets.len() > 20, "{} queries", targets.len());
    for (title, target) in targets {
        let sql = expanded(text(target, "rawSql")?);
        ensure!(!sql.contains('$'), "{title}: {sql}");
        match session.client.query(&sql, &[]) {
            Err(error) => faults.push(format!("{title}: {error:?}")),
            Ok(rows) => {
                let Some(row) = rows.first() else {
                    faults.push(format!("{title} shows nothing"));
                    continue;
                };
                // An annotation has a time, too.
                let time = row.columns().first().filter(|c| c.name() == "time");
                let timed = time.is_some_and(|c| c.type_().name() == "timestamptz");
                let series = text(target, "format")? == "time_series";
                if timed != (series || target["refId"] == "Alerts") {
                    faults.push(format!("{title}: {:?}", row.columns()));
                }
            }
        }
    }
    owner.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))?;
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[test]
fn panels_do_not_cover_one_another() -> Result<()> {
    let board = board()?;
    let mut taken = BTreeSet::new();
    for panel in board["panels"].as_array().context("no panels")? {
        let at = |name: &str| panel["gridPos"][name].as_i64().context("no place");
        let (x, y, w, h) = (at("x")?, at("y")?, at("w")?, at("h")?);
        ensure!(x >= 0 && x + w <= 24, "{panel}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            ensure!(taken.insert(cell), "{} covers another", panel["title"]);
        }
    }
    Ok(())
}
