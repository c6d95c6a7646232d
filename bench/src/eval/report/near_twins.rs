//! Contexts before and after near twins are removed.

use super::share;
use crate::eval::near_twins::{Figures, Measured};

/// Prints the figures of each domain and form.
pub fn print(measured: &[Measured]) {
    println!("## Near twins\n");
    println!(
        "Contexts of ten passages of judged queries, before and after near twins are removed. A near twin of a relevant passage counts as relevant; distinct precision counts both once.\n"
    );
    println!(
        "| collection | query | contexts | with near twins | repeated passages | precision | distinct precision | recall |"
    );
    println!("|---|---|---:|---:|---|---|---|---|");
    for one in measured {
        let change = |field: fn(&Figures) -> f64| {
            let [before, after] = [one.before, one.after].map(|figures| share(field(&figures)));
            format!("{before} → {after}")
        };
        println!(
            "| {} | {} | {} | {:.1} % | {} | {} | {} | {} |",
            one.domain.name(),
            one.form.name(),
            one.contexts,
            100.0 * one.with_near_twins as f64 / one.contexts.max(1) as f64,
            change(|figures| figures.repeated),
            change(|figures| figures.precision),
            change(|figures| figures.distinct_precision),
            change(|figures| figures.recall),
        );
    }
    println!();
}
