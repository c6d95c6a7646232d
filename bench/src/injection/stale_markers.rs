//! Citations of markers that an earlier turn showed and the context of this turn lacks.

use anyhow::Result;
use postgres::GenericClient;

use super::answers::ShownAnswer;
use super::case::{MarkerStyle, answer};
use super::fault_kind::FaultKind;
use super::judge::Verdict;
use super::pages::CORPUS;

/// The result of `begin_turn`.
struct Begun {
    id: i64,
    markers: Vec<String>,
}

/// Runs the conversations until enough stale markers are cited, one per answer, and returns the verdicts on them.
///
/// # Errors
/// Errors of the server.
pub fn cite(client: &mut impl GenericClient, all: &[ShownAnswer]) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    let mut earlier: Vec<String> = Vec::new();
    let mut conversation = "";
    for shown in all {
        if verdicts.len() == FaultKind::Stale.injections() {
            break;
        }
        if shown.conversation != conversation {
            conversation = &shown.conversation;
            earlier.clear();
        }
        let begun = begin(client, shown)?;
        earlier.retain(|marker| !begun.markers.contains(marker));
        let Some(place) = shown.citing().next() else {
            earlier.extend(begun.markers);
            continue;
        };
        let said = &shown.sentences[place].text;
        let stale = earlier.last();
        let Some(marker) = stale.or(begun.markers.first()) else {
            continue;
        };
        let (text, citations) = answer(
            &ShownAnswer {
                sentences: vec![shown.sentences[place].clone()],
                ..shown.clone()
            },
            MarkerStyle::Letters,
            Some((0, said, marker)),
        );
        let rows = client.query(
            "SELECT byte_start, status, holds, hallucination_mode FROM reground.end_turn($1, $2) WHERE citation_id IS NOT NULL",
            &[&begun.id, &text],
        )?;
        if stale.is_some() {
            let of_marker = rows.iter().find(|row| {
                let at = row.get::<_, Option<i32>>(0);
                citations
                    .iter()
                    .any(|(_, byte)| at.is_some_and(|at| at as usize == *byte))
            });
            verdicts.push(of_marker.map_or_else(Verdict::unseen, |row| Verdict {
                status: row.get(1),
                holds: row.get(2),
                hallucination_mode: row.get(3),
            }));
        }
        earlier.extend(begun.markers);
    }
    Ok(verdicts)
}

fn begin(client: &mut impl GenericClient, shown: &ShownAnswer) -> Result<Begun> {
    // Few sources and a new topic in each turn, so that earlier sources leave the context.
    let rows = client.query(
        "SELECT turn_id, marker FROM reground.begin_turn($1, $2, corpus => $3, intent => 'new_topic', \
         settings => '{\"max_sources\": 3}')",
        &[&format!("injection {}", shown.conversation), &shown.question, &CORPUS],
    )?;
    Ok(Begun {
        id: rows.first().map_or(0, |row| row.get(0)),
        markers: rows.iter().filter_map(|row| row.get(1)).collect(),
    })
}
