//! The built-in rules, as the installation script lists them.

use reground_audit::rule::Rule;

/// Returns the enabled rules.
pub fn built_in() -> Vec<Rule> {
    let script = include_str!("../../../sql/install/70_alerts.sql");
    let rows = script.lines().filter(|line| line.starts_with("    ('"));
    rows.filter_map(|row| {
        let fields: Vec<&str> = row
            .split(',')
            .map(|field| field.trim().trim_start_matches('('))
            .collect();
        let text = |at: usize| fields[at].trim_matches('\'').to_owned();
        let period = text(4);
        let (number, unit) = period.split_once(' ')?;
        let number: i64 = number.parse().ok()?;
        let rule = Rule {
            rule: text(0),
            indicator: text(2).parse().ok()?,
            threshold: fields[3].parse().ok()?,
            hours: if unit == "days" { 24 * number } else { number },
            whole_period: fields[5] == "true",
            min_answers: fields[6].parse().ok()?,
            per_corpus: fields[7] == "true",
            severity: text(8).parse().ok()?,
        };
        (fields[9] == "true").then_some(rule)
    })
    .collect()
}
