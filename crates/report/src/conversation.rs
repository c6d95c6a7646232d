//! A conversation to look at: how it went, then each turn with its answer, the citations in it under their verdicts, and the
//! sources that the model was given.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use reground_documents::PageRange;
use reground_grounding::passage::CharRange;
use reground_grounding::prompt::locate;
use serde::Deserialize;

use crate::html::{Html, shortened};
use crate::page::{counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale};
use crate::spans::pieces;
use crate::verdict::{Kind, words};

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

/// A turn.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Turn {
    /// Position in the conversation, from 1.
    pub number: u32,
    /// deferred, open, ended or abandoned.
    pub state: String,
    /// The user's words.
    pub query: String,
    /// Where it searched.
    pub corpus: String,
    /// What it was taken for.
    pub intent: String,
    /// Whether it searched.
    pub retrieved: bool,
    /// Tokens of its passages.
    pub context_tokens: u64,
    /// Tokens of its history.
    pub history_tokens: Option<u64>,
    /// Share of the sources (D1).
    pub attribution_share: Option<f64>,
    /// What the model predicts (D2).
    pub predicted_accuracy: Option<f64>,
    /// What was degraded.
    pub warnings: Vec<String>,
    /// The application's tags: names and values.
    pub tags: Vec<(String, Option<String>)>,
    /// What the model was given, in prompt order.
    pub sources: Vec<Source>,
    /// Its answers, oldest first.
    pub answers: Vec<Answer>,
    /// Number of the turn that it follows.
    #[serde(default)]
    pub follows: Option<u32>,
    /// Whether the conversation has gone back behind it.
    #[serde(default)]
    pub superseded: bool,
    /// Whether another system answered it.
    #[serde(default)]
    pub imported: bool,
    /// What it was searched for after it had begun; nothing for passages that were handed over.
    #[serde(default)]
    pub retrievals: Vec<Option<String>>,
}

/// A source of a context.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Source {
    /// Its marker.
    pub marker: String,
    /// The application's id of the document.
    pub doc_id: String,
    /// Title of the document.
    pub title: Option<String>,
    /// Where a reader finds it.
    pub uri: Option<String>,
    /// Pages that it stands on.
    pub pages: Option<PageRange>,
    /// Characters that it covers.
    pub chars: Option<CharRange>,
    /// fresh, carried, pinned or graph.
    pub origin: String,
}

/// An answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    /// What the model wrote; `None` where its words were not kept.
    pub answer: Option<String>,
    /// The application's id.
    pub message: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The application's tags: names and values.
    pub tags: Vec<(String, Option<String>)>,
    /// Citation fidelity score.
    pub cfs: Option<f64>,
    /// accept or regenerate.
    pub decision: String,
    /// Why it should be regenerated.
    pub reasons: Vec<String>,
    /// Whether a later one took its place.
    pub superseded: bool,
    /// Its citations, in order.
    pub citations: Vec<Citation>,
}

/// A citation and its verdict.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Citation {
    /// Position in the answer, from 1.
    pub citation_no: u32,
    /// The marker that it resolved to, or claims.
    pub marker: Option<String>,
    /// As it stands in the answer.
    pub raw: String,
    /// Document of the source.
    pub doc_id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Where a reader finds it.
    pub uri: Option<String>,
    /// Place within it.
    pub locator: Option<String>,
    /// What it stands on.
    pub claim: Option<String>,
    /// The sentence of the source that supports that best.
    pub quote: Option<String>,
    /// Verdict.
    pub status: String,
    /// Whether it stands.
    pub holds: Option<bool>,
    /// Fidelity of the coordinates.
    pub score: Option<f64>,
    /// How far the text supports the claim.
    pub support: Option<f64>,
    /// What the verdict rests on.
    pub detail: Option<String>,
    /// Marker of the other source that supports the claim best.
    pub best_other: Option<String>,
    /// The stage that lost it.
    pub lost_at: Option<String>,
    /// First character in the answer.
    pub char_start: usize,
    /// One past the last.
    pub char_end: usize,
}

impl Citation {
    fn kind(&self) -> Kind {
        Kind::of(&self.status, self.holds)
    }

    /// What it is called where there is no room: its marker, or what it says, or where it stands.
    fn name(&self) -> String {
        let named = [self.marker.as_deref(), Some(self.raw.as_str())];
        let mut named = named.into_iter().flatten().filter(|name| !name.is_empty());
        named
            .next()
            .map_or_else(|| self.citation_no.to_string(), |name| shortened(name, 24))
    }

    fn range(&self) -> Range<usize> {
        self.char_start..self.char_end
    }
}

impl Turn {
    /// The answer that stands.
    fn standing(&self) -> Option<&Answer> {
        self.answers.iter().rev().find(|answer| !answer.superseded)
    }
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

impl Turn {
    fn show(&self, html: &mut Html) {
        let id = format!("turn-{}", self.number);
        html.element("section", &[("class", "turn"), ("id", &id)], |html| {
            html.element("h2", &[], |html| {
                html.element("a", &[("href", &format!("#{id}"))], |html| {
                    html.text(&format!("Turn {}", self.number));
                });
                for tag in self.marks() {
                    html.leaf("span", &[("class", "tag")], &tag);
                }
            });
            html.leaf("p", &[("class", "query"), ("dir", "auto")], &self.query);
            for retrieval in &self.retrievals {
                let also = match retrieval {
                    Some(query) => format!("Searched again: {query}"),
                    None => "Was handed passages from outside the corpora.".to_owned(),
                };
                html.leaf("p", &[("class", "none"), ("dir", "auto")], &also);
            }
            tags(html, &self.tags);
            let standing = self.standing();
            match standing {
                Some(answer) => answer.show(html, self.number, false),
                None => html.leaf("p", &[("class", "none")], self.unanswered()),
            }
            self.sources(html, standing);
            if !self.warnings.is_empty() {
                html.element("p", &[("class", "warnings")], |html| {
                    html.leaf("b", &[], "⚠ Degraded: ");
                    html.text(&listed(&self.warnings));
                });
            }
            let superseded: Vec<&Answer> = self.answers.iter().filter(|a| a.superseded).collect();
            if !superseded.is_empty() {
                html.element("details", &[("class", "superseded")], |html| {
                    let many = superseded.len() as u64;
                    let says = counted(many, "earlier answer", "earlier answers");
                    html.leaf("summary", &[], &format!("{says}, superseded"));
                    for answer in superseded {
                        answer.show(html, self.number, true);
                    }
                });
            }
        });
        html.line();
    }

    /// What is to be said of it in a word or two.
    fn marks(&self) -> Vec<String> {
        let mut marks = Vec::new();
        if self.imported {
            marks.push("answered elsewhere".to_owned());
        } else {
            marks.push(words(&self.intent));
            if !self.retrieved && self.retrievals.is_empty() {
                marks.push("kept its sources".to_owned());
            }
        }
        // Where it does not follow the one before it, the reader must know.
        match self.follows {
            Some(parent) if parent + 1 != self.number => {
                marks.push(format!("follows turn {parent}"))
            }
            None if self.number > 1 => marks.push("begins anew".to_owned()),
            _ => {}
        }
        if self.superseded {
            marks.push("superseded".to_owned());
        }
        marks
    }

    fn unanswered(&self) -> &'static str {
        match self.state.as_str() {
            "abandoned" => "Given up: it has no answer.",
            "deferred" => "No answer yet: it waits for a rerank.",
            _ => "No answer yet.",
        }
    }

    fn sources(&self, html: &mut Html, standing: Option<&Answer>) {
        if self.sources.is_empty() {
            html.leaf("p", &[("class", "none")], "Nothing was found for it.");
            return;
        }
        let cited = standing.map(Answer::cited).unwrap_or_default();
        html.element("details", &[("class", "sources"), ("open", "")], |html| {
            let many = counted(self.sources.len() as u64, "source", "sources");
            html.leaf("summary", &[], &format!("{many} in the context"));
            html.element("ol", &[], |html| {
                for source in &self.sources {
                    source.show(
                        html,
                        cited.contains(source.marker.as_str()),
                        standing.is_some(),
                    );
                }
            });
        });
    }
}

impl Source {
    fn show(&self, html: &mut Html, cited: bool, answered: bool) {
        let class = if cited { "cited" } else { "idle" };
        html.element("li", &[("class", class)], |html| {
            html.leaf("span", &[("class", "marker")], &self.marker);
            html.element("span", &[("class", "what")], |html| {
                let title = self.title.as_deref().unwrap_or(&self.doc_id);
                html.leaf("bdi", &[("class", "title")], title);
                if let Some(place) = locate(self.pages, self.chars) {
                    html.leaf("span", &[("class", "place")], &place);
                }
                if let Some(uri) = &self.uri {
                    html.element("bdi", &[("class", "where")], |html| html.address(uri));
                }
            });
            html.leaf("span", &[("class", "tag")], &words(&self.origin));
            let says = match (answered, cited) {
                (true, true) => "● cited",
                (true, false) => "○ not cited",
                (false, _) => "",
            };
            html.leaf("span", &[("class", "use")], says);
        });
    }
}

impl Answer {
    /// Markers that it cites.
    fn cited(&self) -> BTreeSet<&str> {
        let markers = self.citations.iter().filter_map(|c| c.marker.as_deref());
        markers.collect()
    }

    fn show(&self, html: &mut Html, turn: u32, superseded: bool) {
        let class = if superseded { "answer old" } else { "answer" };
        html.element("div", &[("class", class)], |html| {
            html.element("div", &[("class", "says"), ("dir", "auto")], |html| {
                self.text(html);
            });
            html.element("p", &[("class", "of")], |html| {
                if let Some(model) = &self.model {
                    html.leaf("bdi", &[("class", "model")], model);
                    html.text(" · ");
                }
                if let Some(message) = &self.message {
                    html.text("message ");
                    html.leaf("bdi", &[], message);
                    html.text(" · ");
                }
                html.text(&format!("CFS {} · ", share(self.cfs)));
                let accepted = self.decision == "accept";
                let class = if accepted { "holds" } else { "content" };
                html.element("span", &[("class", class)], |html| {
                    html.text(if accepted { "✓ " } else { "! " });
                    html.text(&words(&self.decision));
                    if !self.reasons.is_empty() {
                        html.text(&format!(": {}", listed(&self.reasons)));
                    }
                });
            });
            tags(html, &self.tags);
            self.verdicts(html, turn);
        });
        html.line();
    }

    /// The answer, each citation in its place.
    fn text(&self, html: &mut Html) {
        let Some(answer) = &self.answer else {
            html.leaf("span", &[("class", "none")], "The answer was not stored.");
            for citation in &self.citations {
                html.text(" ");
                citation.show(html, &citation.name());
            }
            return;
        };
        let ranges: Vec<Range<usize>> = self.citations.iter().map(Citation::range).collect();
        for piece in pieces(answer, &ranges) {
            let citations: Vec<&Citation> = piece
                .citations
                .iter()
                .filter_map(|index| self.citations.get(*index))
                .collect();
            match citations.as_slice() {
                [] => html.text(piece.text),
                [one] if !piece.text.is_empty() => one.show(html, piece.text),
                // Several share a stretch, or stand where there is none: each is named beside it.
                several => {
                    let worst = several.iter().map(|citation| citation.kind()).max();
                    if let (false, Some(worst)) = (piece.text.is_empty(), worst) {
                        let class = format!("shared {}", worst.class());
                        html.leaf("span", &[("class", &class)], piece.text);
                    }
                    for citation in several {
                        citation.show(html, &citation.name());
                    }
                }
            }
        }
    }

    /// The citations once more, a row each: what stands in the cards, for paper and for whoever reads in order.
    fn verdicts(&self, html: &mut Html, turn: u32) {
        if self.citations.is_empty() {
            html.leaf("p", &[("class", "none")], "It cites nothing.");
            return;
        }
        html.element("details", &[("class", "verdicts")], |html| {
            let many = counted(self.citations.len() as u64, "citation", "citations");
            html.leaf("summary", &[], &format!("{many}, one by one"));
            let name = format!("Citations of turn {turn}");
            html.element("ol", &[("aria-label", &name)], |html| {
                for citation in &self.citations {
                    html.element("li", &[], |html| citation.row(html));
                }
            });
        });
    }
}

impl Citation {
    /// In the answer: what stands there, its sign, and a card with the rest.
    fn show(&self, html: &mut Html, text: &str) {
        let kind = self.kind();
        let class = format!("cite {}", kind.class());
        let says = format!("citation {}: {}", self.citation_no, words(&self.status));
        let attributes = [
            ("class", class.as_str()),
            ("tabindex", "0"),
            ("role", "note"),
            ("aria-label", &says),
        ];
        html.element("span", &attributes, |html| {
            html.leaf("bdi", &[], text);
            html.leaf("span", &[("class", "sign")], kind.sign());
            html.element("span", &[("class", "card")], |html| {
                self.record(html);
            });
        });
    }

    fn row(&self, html: &mut Html) {
        html.element("div", &[("class", self.kind().class())], |html| {
            html.leaf("bdi", &[("class", "raw")], &shortened(&self.raw, 120));
            self.record(html);
        });
    }

    /// All that is known of it.
    fn record(&self, html: &mut Html) {
        let kind = self.kind();
        html.element("span", &[("class", "verdict")], |html| {
            html.leaf("b", &[], kind.sign());
            html.text(" ");
            html.leaf("b", &[], &words(&self.status));
        });
        if self.title.is_some() || self.doc_id.is_some() || self.locator.is_some() {
            html.element("span", &[("class", "source")], |html| {
                if let Some(marker) = &self.marker {
                    html.leaf("span", &[("class", "marker")], marker);
                }
                let title = self.title.as_deref().or(self.doc_id.as_deref());
                if let Some(title) = title {
                    html.leaf("bdi", &[("class", "title")], title);
                }
                if let Some(place) = &self.locator {
                    html.leaf("bdi", &[("class", "place")], place);
                }
                if let Some(uri) = &self.uri {
                    html.element("bdi", &[("class", "where")], |html| html.address(uri));
                }
            });
        }
        for (class, name, text) in [
            ("claim", "Claim", &self.claim),
            ("quote", "Source says", &self.quote),
            ("detail", "Because", &self.detail),
        ] {
            if let Some(text) = text {
                html.element("span", &[("class", class)], |html| {
                    html.leaf("span", &[("class", "name")], name);
                    html.leaf("bdi", &[], text);
                });
            }
        }
        html.element("span", &[("class", "figures")], |html| {
            html.text(&format!(
                "support {} · score {}",
                share(self.support),
                share(self.score)
            ));
            if let Some(stage) = &self.lost_at {
                html.text(&format!(" · lost at {}", words(stage)));
            }
            if let Some(other) = &self.best_other {
                html.text(&format!(" · better: {other}"));
            }
        });
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
