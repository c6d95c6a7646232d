//! Finds the conflicts among passages.

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::{check_interrupt, checked};

use super::passage_statement::{PassageStatement, PassageStatements};
use super::source_conflict::{ConflictingStatement, SourceConflict, SourceConflictKind};
use super::statement_pair::{Relation, SAME_OF_OTHER, StatementPair};
use crate::Cues;
use crate::support::Text;

/// Largest number of statements with a unit that brings them together. Without it, the number of pairs grows with the square.
const MOST_STATEMENTS: usize = 64;

/// Largest number of conflicts.
const MOST_CONFLICTS: usize = 256;

/// Finds the first 256 conflicts among passages, in the order of their statements. A statement is a sentence with at least five units of
/// content.
#[must_use]
pub fn source_conflicts(texts: &[Text<'_>], cues: &Cues) -> Vec<SourceConflict> {
    let statements = PassageStatements::read(texts, cues);
    let mut with: Vec<Vec<usize>> = vec![Vec::new(); statements.units];
    for (place, statement) in statements.all.iter().enumerate() {
        for id in &statement.claim.units {
            with[*id as usize].push(place);
        }
    }
    let mut conflicts = Vec::new();
    // Statements, each with another passage that makes it.
    let mut agreements: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (place, one) in checked(&statements.all).enumerate() {
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for id in &one.claim.units {
            let places = &with[*id as usize];
            if places.len() <= MOST_STATEMENTS {
                let later = places.partition_point(|other| *other <= place);
                for other in &places[later..] {
                    *common.entry(*other).or_default() += 1;
                }
            }
        }
        for (at, common) in common {
            check_interrupt(one.claim.units.len());
            let other = &statements.all[at];
            let shorter = one.claim.units.len().min(other.claim.units.len());
            // `one` may be the longer statement, and `common` lacks frequent units, so the bound is low.
            let alike = common as f64 >= SAME_OF_OTHER * SAME_OF_OTHER * shorter as f64;
            if one.passage == other.passage || !alike {
                continue;
            }
            match StatementPair::of([one, other], &statements.neighbours).relation(one.passage) {
                Relation::Other => {}
                Relation::Agreement => {
                    agreements.extend([(place, other.passage), (at, one.passage)]);
                }
                Relation::Conflict(kind, numbers) => {
                    conflicts.push((place, at, kind, numbers));
                }
            }
        }
    }
    // A passage that makes both statements is no conflict.
    let states_both = |place: usize, other: usize| {
        agreements.contains(&(place, statements.all[other].passage))
            || agreements.contains(&(other, statements.all[place].passage))
    };
    conflicts
        .into_iter()
        .filter(|(place, other, ..)| !states_both(*place, *other))
        .take(MOST_CONFLICTS)
        .map(|(place, other, kind, numbers)| {
            conflict(
                kind,
                numbers,
                &statements.all[place],
                &statements.all[other],
            )
        })
        .collect()
}

fn conflict(
    kind: SourceConflictKind,
    numbers: Option<(&str, &str)>,
    one: &PassageStatement<'_>,
    other: &PassageStatement<'_>,
) -> SourceConflict {
    let side = |statement: &PassageStatement<'_>, number: Option<&str>| ConflictingStatement {
        passage: statement.passage,
        text: statement.claim.text().to_owned(),
        chars: statement.chars.clone(),
        number: number.map(str::to_owned),
    };
    let (number, rival) = numbers.unzip();
    SourceConflict {
        kind,
        one: side(one, number),
        other: side(other, rival),
    }
}
