//! Report of a conversation: plots over its turns, then each turn with its answers, the citations with their verdicts, and the
//! sources of its context.

mod answer;
mod citation;
mod labels;
mod turn;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::html::{Html, shortened};
use crate::page::{count, counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale};
use crate::verdict::VerdictKind;

pub use answer::Answer;
pub use citation::Citation;
pub use turn::{Source, Turn};

/// A stored conversation.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Conversation {
    /// The application's id.
    pub conversation_ref: String,
    /// Tenant of the conversation.
    pub tenant: String,
    /// Corpus of the latest turn.
    pub corpus: Option<String>,
    /// Turns in order.
    pub turns: Vec<Turn>,
}

impl Conversation {
    /// Renders the page.
    #[must_use]
    pub fn page(&self) -> String {
        let title = format!("Conversation {}", shortened(&self.conversation_ref, 80));
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
            html.leaf("h1", &[("dir", "auto")], &self.conversation_ref);
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
        let current: Vec<&Answer> = self.turns.iter().filter_map(Turn::current_answer).collect();
        let citations = || current.iter().flat_map(|answer| &answer.citations);
        let number = |count: usize| count as u64;
        let all = number(citations().count());
        let judged = number(citations().filter(|c| c.holds.is_some()).count());
        let held = number(citations().filter(|c| c.holds == Some(true)).count());
        let failing = |answer: &&&Answer| answer.citations.iter().any(|c| c.holds == Some(false));
        let failing = number(current.iter().filter(failing).count());
        let scores: Vec<f64> = current.iter().filter_map(|answer| answer.cfs).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        let lowest = scores.iter().copied().min_by(f64::total_cmp);
        totals(
            html,
            &[
                (
                    "Citations that hold",
                    percent(rate(held, judged)),
                    format!("{} of {}", count(held), count(judged)),
                ),
                (
                    "Failing answers",
                    count(failing),
                    "with a citation that does not hold".to_owned(),
                ),
                ("Citations", count(all), format!("{} judged", count(judged))),
                (
                    "Turns",
                    count(number(self.turns.len())),
                    counted(number(current.len()), "answer", "answers"),
                ),
                (
                    "CFS",
                    share(mean),
                    format!("mean; minimum {}", share(lowest)),
                ),
            ],
        );
        let mut kinds: BTreeMap<VerdictKind, u64> = BTreeMap::new();
        for citation in citations() {
            *kinds.entry(citation.kind()).or_default() += 1;
        }
        html.element("ul", &[("class", "signs")], |html| {
            for kind in VerdictKind::ALL {
                html.element("li", &[("class", kind.class())], |html| {
                    html.leaf("b", &[], kind.sign());
                    html.text(&format!(" {} ", kind.meaning()));
                    let of_kind = kinds.get(&kind).copied().unwrap_or_default();
                    html.leaf("span", &[("class", "count")], &count(of_kind));
                });
            }
        });
        html.line();
    }

    fn plots(&self, html: &mut Html) {
        let names: Vec<String> = self.turns.iter().map(|t| t.turn_no.to_string()).collect();
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
                    id: "citations",
                    title: "Citations",
                    x_label: "turn",
                    names: &names,
                    scale: Scale::Share,
                    lines: &[
                        line("share that holds", &|turn| {
                            turn.current_answer()?.holding_share()
                        }),
                        line("CFS", &|turn| turn.current_answer()?.cfs),
                    ],
                }
                .draw(html);
                Plot {
                    id: "attention",
                    title: "Effect of the history",
                    x_label: "turn",
                    names: &names,
                    scale: Scale::Share,
                    lines: &[
                        line("predicted accuracy", &|turn| turn.predicted_accuracy),
                        line("α, share of the sources", &|turn| turn.attribution_share),
                    ],
                }
                .draw(html);
                Plot {
                    id: "tokens",
                    title: "Tokens in the prompt",
                    x_label: "turn",
                    names: &names,
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
                    x_label: "turn",
                    names: &names,
                    scale: Scale::Count,
                    lines: &[
                        line("in the context", &|turn| number(turn.sources.len())),
                        line("carried or pinned", &|turn| {
                            let remembered =
                                |s: &&Source| s.origin == "carried" || s.origin == "pinned";
                            number(turn.sources.iter().filter(remembered).count())
                        }),
                        line("cited", &|turn| {
                            let cited = turn.current_answer()?.cited_markers();
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
