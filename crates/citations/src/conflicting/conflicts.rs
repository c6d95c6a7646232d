//! Finds the conflicts among passages.

use std::collections::BTreeMap;

use reground_interrupt::{check_interrupt, checked};

use super::comparison::{Found, Pair, SAME_OF_OTHER};
use super::conflict::{ConflictingStatement, SourceConflict};
use super::statement::{Statement, Statements};
use crate::Cues;
use crate::support::Text;

/// Largest number of statements with a unit that brings two of them together. A more frequent unit tells nothing, and the work would be
/// quadratic.
const MOST_STATEMENTS: usize = 64;

/// Finds the conflicts among passages, in the order of their statements. A statement is a sentence with at least five units of content.
#[must_use]
pub fn source_conflicts(texts: &[Text<'_>], cues: &Cues) -> Vec<SourceConflict> {
    let statements = Statements::read(texts, cues);
    let mut with: Vec<Vec<usize>> = vec![Vec::new(); statements.units];
    for (place, statement) in statements.all.iter().enumerate() {
        for id in &statement.claim.units {
            with[*id as usize].push(place);
        }
    }
    let mut conflicts = Vec::new();
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
        for (other, common) in common {
            check_interrupt(one.claim.units.len());
            let other = &statements.all[other];
            let shorter = one.claim.units.len().min(other.claim.units.len());
            let alike = common as f64 >= SAME_OF_OTHER * SAME_OF_OTHER * shorter as f64;
            if one.passage != other.passage && alike {
                let pair = Pair::of([one, other], &statements.neighbours);
                conflicts.extend(
                    pair.conflict(one.passage)
                        .map(|found| conflict(&found, one, other)),
                );
            }
        }
    }
    conflicts
}

fn conflict(found: &Found<'_>, one: &Statement<'_>, other: &Statement<'_>) -> SourceConflict {
    let side = |statement: &Statement<'_>, number: Option<&str>| ConflictingStatement {
        passage: statement.passage,
        text: statement.claim.text().to_owned(),
        chars: statement.chars.clone(),
        number: number.map(str::to_owned),
    };
    let (number, rival) = found.numbers.unzip();
    SourceConflict {
        kind: found.kind,
        one: side(one, number),
        other: side(other, rival),
    }
}
