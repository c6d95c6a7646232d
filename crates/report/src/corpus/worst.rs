//! The answers to read first, with the citations that fail and the reasons.

use serde::Deserialize;

use crate::conversation::Citation;
use crate::html::{Html, shortened};
use crate::page::{count, counted, share};
use crate::verdict::{AnswerVerdict, words};

/// Maximum number of citations shown with an answer.
pub const MAX_FAILING: i32 = 3;

/// An answer to read first.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct WorstAnswer {
    /// The application's id of the conversation.
    pub conversation_ref: String,
    /// Tenant of the conversation.
    pub tenant: String,
    /// Number of the turn.
    pub turn_no: u32,
    /// The user's question.
    pub query: String,
    /// Model that wrote the answer.
    pub model: Option<String>,
    /// Decision of the policy.
    pub decision: String,
    /// Reasons for the decision.
    pub reasons: Vec<String>,
    /// Mean of score × support over the citations.
    pub grounded_cfs: Option<f64>,
    /// Number of citations.
    pub citations: u64,
    /// Number of citations that do not hold.
    pub failing: u64,
    /// Number of citations that cannot be judged.
    pub unjudged: u64,
    /// Citations that do not hold or cannot be judged, the worst first, at most [`MAX_FAILING`].
    pub worst_citations: Vec<FailingCitation>,
}

/// A citation that does not hold or cannot be judged.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct FailingCitation {
    /// The citation.
    #[serde(flatten)]
    pub citation: Citation,
    /// Meaning of its status.
    pub meaning: String,
}

/// Number of answers that are shown at once. The others are collapsed.
const SHOWN: usize = 5;

/// Writes the list of answers, or that there is none.
pub(super) fn show(html: &mut Html, answers: &[WorstAnswer]) {
    html.element("section", &[], |html| {
        html.leaf("h2", &[], "Answers to read first");
        if answers.is_empty() {
            html.leaf(
                "p",
                &[("class", "none")],
                "No answer has a citation that fails.",
            );
            return;
        }
        let (shown, more) = answers.split_at(answers.len().min(SHOWN));
        list(html, shown);
        if !more.is_empty() {
            html.element("details", &[], |html| {
                let number = counted(more.len() as u64, "more answer", "more answers");
                html.leaf("summary", &[], &number);
                list(html, more);
            });
        }
    });
    html.line();
}

fn list(html: &mut Html, answers: &[WorstAnswer]) {
    html.element("ol", &[("class", "worst")], |html| {
        for answer in answers {
            html.element("li", &[], |html| answer.show(html));
        }
    });
}

impl WorstAnswer {
    fn show(&self, html: &mut Html) {
        let query = shortened(&self.query, 300);
        html.leaf("p", &[("class", "query"), ("dir", "auto")], &query);
        html.element("p", &[("class", "of")], |html| {
            AnswerVerdict {
                citations: self.citations,
                failing: self.failing,
                unjudged: self.unjudged,
            }
            .show(html, &self.decision, &self.reasons);
            html.text(&format!(" · grounded CFS {}", share(self.grounded_cfs)));
        });
        html.element("ul", &[("class", "failing")], |html| {
            for citation in &self.worst_citations {
                html.element("li", &[], |html| citation.show(html));
            }
        });
        let more = (self.failing + self.unjudged).saturating_sub(self.worst_citations.len() as u64);
        html.element("p", &[("class", "of")], |html| {
            if more > 0 {
                html.text(&format!("And {} more. ", count(more)));
            }
            html.text("Conversation ");
            html.leaf("bdi", &[], &self.conversation_ref);
            html.text(&format!(", turn {} · tenant ", self.turn_no));
            html.leaf("bdi", &[], &self.tenant);
            if let Some(model) = &self.model {
                html.text(" · ");
                html.leaf("bdi", &[], model);
            }
        });
    }
}

impl FailingCitation {
    /// Shows what the citation claims, and why it does not hold.
    fn show(&self, html: &mut Html) {
        let citation = &self.citation;
        html.element("div", &[("class", citation.kind().class())], |html| {
            html.element("p", &[], |html| {
                html.leaf("bdi", &[("class", "raw")], &shortened(&citation.raw, 120));
                html.text(" ");
                citation.verdict(html);
                if let Some(title) = citation.title.as_deref().or(citation.doc_id.as_deref()) {
                    html.text(" · ");
                    html.leaf("bdi", &[("class", "title")], &shortened(title, 120));
                }
            });
            let reason = self.reason();
            for (name, text) in [
                ("Claim", citation.claim.as_ref()),
                ("Source says", citation.quote.as_ref()),
                ("Reason", Some(&reason)),
                ("Better", citation.best_other_marker.as_ref()),
            ] {
                if let Some(text) = text {
                    html.element("p", &[], |html| {
                        html.leaf("span", &[("class", "name")], name);
                        html.text(" ");
                        html.leaf("bdi", &[], &shortened(text, 300));
                    });
                }
            }
        });
    }

    /// Returns the meaning of the status, with the detail if it says more.
    fn reason(&self) -> String {
        match &self.citation.detail {
            Some(detail) if *detail != self.citation.status => {
                format!("{} ({})", self.meaning, words(detail))
            }
            _ => self.meaning.clone(),
        }
    }
}
