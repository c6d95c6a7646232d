//! The command `alerts`: how often the built-in rules fire in simulated months in which nothing is wrong, and how soon they find a
//! planted fault.

mod draws;
mod month;
mod profiles;
mod rules;
mod sums;
mod tables;

use anyhow::{Result, bail};
use lexopt::prelude::{Long, ValueExt};

const USAGE: &str = "usage: reground-bench alerts [OPTION]…

  --quiet N   quiet months at 10 answers an hour, and a fifth of them at 60 (default 100)
  --faults N  planted faults of each kind at 10 answers an hour, and a quarter of them at 4 turns a second (default 20)
  --seed N    first seed (default 5000; the limits of the rules were chosen with seeds below 3000)";

/// Runs the command with the arguments after its name.
///
/// # Errors
/// Invalid arguments.
pub fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut quiet, mut faults, mut seed) = (100, 20, 5000);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") => {
                println!("{USAGE}");
                return Ok(());
            }
            Long("quiet") => quiet = arguments.value()?.parse()?,
            Long("faults") => faults = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    tables::print(quiet, faults, seed)
}

#[cfg(test)]
mod tests {
    use super::month::{Fault, Month};

    #[test]
    fn quiet_months_have_less_than_one_false_alarm() {
        let alarms: Vec<String> = (1000..1006)
            .flat_map(|seed| Month::new(seed, 10.0, 28).alarms(1))
            .map(|alarm| alarm.name())
            .collect();
        assert!(alarms.len() <= 6, "{alarms:?}");
    }

    #[test]
    fn a_fault_of_pdf_documents_is_found_within_a_day_at_ten_answers_an_hour() {
        let mut late = 0;
        for seed in 1000..1008 {
            let mut month = Month::new(seed, 10.0, 28);
            let found = month.first_alarm(Fault::DocumentType, 1, 72).unwrap();
            assert_eq!(found.rule, "fewer_hold", "seed {seed}");
            assert!(found.answers > 20, "seed {seed}: {found:?}");
            late += u32::from(found.hours > 24.0);
        }
        assert!(late <= 1, "{late} of 8 later than a day");
    }

    #[test]
    fn other_faults_are_found_by_their_rules() {
        // An invented source also lowers the score of its answer.
        for (fault, rules, hours) in [
            (Fault::Reranker, &["reranker_losses"][..], 12.0),
            (Fault::ModelVersion, &["fewer_hold", "low_tail"], 48.0),
            (Fault::Traffic, &["traffic_stops"], 24.0),
        ] {
            let mut month = Month::new(1000, 10.0, 28);
            let found = month.first_alarm(fault, 1, 72).unwrap();
            assert!(
                rules.contains(&found.rule.as_str()) && found.hours <= hours,
                "{found:?}"
            );
        }
    }
}
