//! A conversation to look at: how it went, then each turn with its answer, the citations in it under their verdicts, and the
//! sources that the model was given.

mod answer;
mod citation;
mod turn;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::html::{Html, shortened};
use crate::page::{counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale};
use crate::verdict::{Kind, words};

pub use answer::Answer;
pub use citation::Citation;
pub use turn::{Source, Turn};

/// A conversation, as it is stored.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Conversation {
    /// The application's id.
    pub conversation: String,
    /// Whose it is.
    pub tenant: String,
    /// Corpus of its latest turn.
    pub corpus: Option<String>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
}

impl Conversation {
    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        let title = format!("Conversation {}", shortened(&self.conversation, 80));
        page(&title, |html| {
            self.heading(html);
            self.plots(html);
            for turn in &self.turns {
                turn.show(html);
            }
        })
    }

    fn heading(&self, html: &mut Html) {
        html.element("header", &[], |html| {
            html.leaf("p", &[("class", "kind")], "Conversation");
            html.leaf("h1", &[("dir", "auto")], &self.conversation);
            html.element("p", &[("class", "of")], |html| {
                match &self.corpus {
                    Some(corpus) => {
                        html.text("Corpus ");
                        html.leaf("bdi", &[], corpus);
                    }
                    None => html.text("No corpus yet"),
                }
                html.text(" · tenant ");
                html.leaf("bdi", &[], &self.tenant);
            });
        });
        let standing: Vec<&Answer> = self.turns.iter().filter_map(Turn::standing).collect();
        let citations = || standing.iter().flat_map(|answer| &answer.citations);
        let number = |count: usize| count as u64;
        let all = number(citations().count());
        let judged = number(citations().filter(|c| c.holds.is_some()).count());
        let held = number(citations().filter(|c| c.holds == Some(true)).count());
        let scores: Vec<f64> = standing.iter().filter_map(|answer| answer.cfs).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        let least = scores.iter().copied().min_by(f64::total_cmp);
        totals(
            html,
            &[
                (
                    "Turns",
                    self.turns.len().to_string(),
                    counted(number(standing.len()), "answer", "answers"),
                ),
                ("Citations", all.to_string(), format!("{judged} judged")),
                (
                    "Held",
                    percent(rate(held, judged)),
                    format!("{held} of {judged}"),
                ),
                ("CFS", share(mean), format!("mean; least {}", share(least))),
            ],
        );
        let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
        for citation in citations() {
            *kinds.entry(citation.kind()).or_default() += 1;
        }
        html.element("ul", &[("class", "signs")], |html| {
            for kind in Kind::ALL {
                html.element("li", &[("class", kind.class())], |html| {
                    html.leaf("b", &[], kind.sign());
                    html.text(&format!(" {} ", kind.meaning()));
                    let count = kinds.get(&kind).copied().unwrap_or_default();
                    html.leaf("span", &[("class", "count")], &count.to_string());
                });
            }
        });
        html.line();
    }

    fn plots(&self, html: &mut Html) {
        let places: Vec<String> = self.turns.iter().map(|t| t.number.to_string()).collect();
        let line = |name, value: &dyn Fn(&Turn) -> Option<f64>| Line {
            name,
            values: self.turns.iter().map(value).collect(),
        };
        let number = |count: usize| Some(count as f64);
        html.element(
            "section",
            &[("class", "charts"), ("aria-label", "Plots")],
            |html| {
                Plot {
                    id: "fidelity",
                    title: "Fidelity",
                    along: "turn",
                    places: &places,
                    scale: Scale::Share,
                    lines: &[
                        line("CFS", &|turn| turn.standing()?.cfs),
                        line("predicted accuracy", &|turn| turn.predicted_accuracy),
                        line("α, share of the sources", &|turn| turn.attribution_share),
                    ],
                }
                .draw(html);
                Plot {
                    id: "tokens",
                    title: "Tokens in the prompt",
                    along: "turn",
                    places: &places,
                    scale: Scale::Count,
                    lines: &[
                        line("sources", &|turn| Some(turn.context_tokens as f64)),
                        line("history", &|turn| turn.history_tokens.map(|t| t as f64)),
                    ],
                }
                .draw(html);
                Plot {
                    id: "sources",
                    title: "Sources",
                    along: "turn",
                    places: &places,
                    scale: Scale::Count,
                    lines: &[
                        line("in the context", &|turn| number(turn.sources.len())),
                        line("carried or pinned", &|turn| {
                            let remembered =
                                |s: &&Source| s.origin == "carried" || s.origin == "pinned";
                            number(turn.sources.iter().filter(remembered).count())
                        }),
                        line("cited", &|turn| {
                            let cited = turn.standing()?.cited();
                            number(
                                turn.sources
                                    .iter()
                                    .filter(|s| cited.contains(s.marker.as_str()))
                                    .count(),
                            )
                        }),
                    ],
                }
                .draw(html);
            },
        );
        html.line();
    }
}

fn tags(html: &mut Html, tags: &[(String, Option<String>)]) {
    if tags.is_empty() {
        return;
    }
    html.element("ul", &[("class", "tags")], |html| {
        for (name, value) in tags {
            html.element("li", &[("class", "tag")], |html| {
                html.leaf("bdi", &[], &shortened(name, 80));
                html.text(": ");
                html.leaf(
                    "bdi",
                    &[],
                    &shortened(value.as_deref().unwrap_or("null"), 200),
                );
            });
        }
    });
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| words(name)).collect();
    names.join(", ")
}
