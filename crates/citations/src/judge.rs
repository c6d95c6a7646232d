//! The verdict on each citation of an answer: resolved, verified, supported.

use reground_pulse::{along, beat};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::quote::{Quotable, Quote};
use crate::resolve::{Places, Resolution};
use crate::support::{Coverage, Index, SupportRules, Verdict, joint_support};
use crate::{
    Error, Extraction, KnownMarker, Lexemes, NamedDocument, Pages, Reference, Source, Status,
};

/// What an answer is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// This turn's context.
    pub sources: &'a [Source],
    /// Every marker of the conversation.
    pub known: &'a [KnownMarker],
    /// What [`crate::document_requests`] found.
    pub named: &'a [NamedDocument],
    /// The content of each claim, in the order of [`Extraction::claims`].
    pub claims: &'a [Lexemes],
    /// When support is enough.
    pub rules: SupportRules,
}

/// The verdict on one citation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What became of it; score, mode and diagnostic follow from this alone.
    pub status: Status,
    /// What it names, where that exists.
    pub place: Option<Place>,
    /// The source of the context that it names, by index.
    pub source: Option<usize>,
    /// How exactly the string names a place of the context, in [0, 1]; `None` where it could not be read.
    pub coordinate_fidelity: Option<f64>,
    /// Share of the claim's content that stands at the place, in [0, 1]; `None` without a claim, content or place.
    pub support: Option<f64>,
    /// The sentence at the place that comes nearest to the claim.
    pub quote: Option<Quote>,
    /// The source of the context, not cited for this claim, that covers it best.
    pub best_other: Option<BestOther>,
    /// Whether what it names had to be put right first.
    pub repaired: bool,
    /// What the status leaves open.
    pub detail: Option<Detail>,
}

/// The place that a citation names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key, where the place is one passage.
    pub passage: Option<String>,
    /// The claimed pages, or else those of the passage.
    pub pages: Option<Pages>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
}

/// A source that would have been the better one to cite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestOther {
    /// Its index in the context.
    pub source: usize,
    /// Its marker.
    pub marker: String,
    /// Its support of the claim, in [0, 1].
    pub support: f64,
}

/// What a status alone does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// I5: valid document, place not in the context.
    Unretrieved,
    /// I5: valid document, the content is not at the place.
    InvalidPage,
    /// The marker belongs to an earlier turn.
    StaleTurn,
    /// The document is named, not the place, or the place cannot be checked.
    DocumentOnly,
    /// Only some of the claimed pages were in the context.
    PagesPartlyInContext,
    /// Held by the citations of the claim together, not by this one alone.
    HeldJointly,
    /// What is wrong with the string.
    Malformed(crate::Malformed),
}

impl Detail {
    /// The stable text that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unretrieved => "unretrieved",
            Self::InvalidPage => "invalid_page",
            Self::StaleTurn => "stale_turn",
            Self::DocumentOnly => "document_only",
            Self::PagesPartlyInContext => "pages_partly_in_context",
            Self::HeldJointly => "held_jointly",
            Self::Malformed(why) => why.as_str(),
        }
    }
}

/// Judges every citation of an answer, in their order.
///
/// # Errors
/// [`Error::ClaimLexemes`] when `evidence.claims` is not as long as `extraction.claims`.
pub fn judge(extraction: &Extraction, evidence: &Evidence<'_>) -> Result<Vec<Judgement>, Error> {
    if evidence.claims.len() != extraction.claims.len() {
        return Err(Error::ClaimLexemes {
            claims: extraction.claims.len(),
            given: evidence.claims.len(),
        });
    }
    let places = Places::new(evidence.sources, evidence.known, evidence.named);
    let index = Index::new(evidence.sources);
    let mut bench = Bench {
        evidence,
        quotable: evidence.sources.iter().map(|_| None).collect(),
    };
    let mut by_claim: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, citation) in extraction.citations.iter().enumerate() {
        by_claim.entry(citation.claim).or_default().push(number);
    }
    let mut judged: Vec<(usize, Judgement)> = Vec::with_capacity(extraction.citations.len());
    for (claim, numbers) in by_claim {
        let claim = claim.and_then(|claim| evidence.claims.get(claim));
        let coverage = claim.and_then(|claim| index.coverage(claim));
        beat(1 + claim.map_or(0, Lexemes::len));
        let resolved = along(numbers)
            .map(|number| {
                let citation = &extraction.citations[number];
                (
                    number,
                    citation.repaired,
                    &citation.reference,
                    places.resolve(&citation.reference),
                )
            })
            .collect();
        judged.extend(bench.claim(claim, coverage.as_ref(), resolved));
    }
    judged.sort_unstable_by_key(|(number, _)| *number);
    Ok(judged.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Citation number, whether its string was repaired, what it names, where that leads.
type Resolved<'a> = (usize, bool, &'a Reference, Resolution);

struct Bench<'a> {
    evidence: &'a Evidence<'a>,
    /// By source, once it was cited: of ten sources an answer cites three or four.
    quotable: Vec<Option<Quotable<'a>>>,
}

impl<'a> Bench<'a> {
    /// Judges the citations of one claim together.
    fn claim(
        &mut self,
        claim: Option<&Lexemes>,
        coverage: Option<&Coverage<'_>>,
        resolved: Vec<Resolved<'_>>,
    ) -> Vec<(usize, Judgement)> {
        let meant: Vec<Option<usize>> = resolved.iter().map(|(.., r)| meant(r, coverage)).collect();
        let cited: Vec<usize> = meant.iter().copied().flatten().collect();
        let joint = coverage.map(|coverage| coverage.joint(&cited));
        // One sentence with ten thousand markers compares each source once.
        let mut quotes: BTreeMap<usize, Option<Quote>> = BTreeMap::new();
        let best_other = coverage.zip(joint.as_ref()).and_then(|(coverage, joint)| {
            let source = coverage.best_other(joint)?;
            Some(BestOther {
                source,
                marker: self.evidence.sources[source].marker.clone(),
                support: coverage.support(source),
            })
        });
        let judge =
            |((number, repaired, reference, resolution), meant): (Resolved<'_>, Option<usize>)| {
                let mut judgement = match meant {
                    Some(source) => {
                        let verdict = coverage.zip(joint.as_ref()).map(|(coverage, joint)| {
                            let verdict = coverage.verdict(source, joint, &self.evidence.rules);
                            (verdict, coverage.support(source))
                        });
                        let quote = quotes
                            .entry(source)
                            .or_insert_with(|| self.quotable(source).best(claim?));
                        self.in_context(
                            source,
                            &resolution,
                            verdict,
                            reference.pages(),
                            quote.clone(),
                        )
                    }
                    None => self.elsewhere(&resolution, claim, reference),
                };
                judgement.repaired |= repaired;
                if matches!(reference, Reference::Mention { .. })
                    && judgement.status.holds() == Some(true)
                {
                    judgement.status = Status::Imprecise;
                }
                if judgement.place.is_some() {
                    judgement.best_other = best_other.clone();
                }
                (number, judgement)
            };
        resolved.into_iter().zip(meant).map(judge).collect()
    }

    fn quotable(&mut self, source: usize) -> &Quotable<'a> {
        let evidence = self.evidence;
        self.quotable[source].get_or_insert_with(|| Quotable::new(&evidence.sources[source].text))
    }

    fn in_context(
        &self,
        index: usize,
        resolution: &Resolution,
        verdict: Option<(Verdict, f64)>,
        pages: Option<Pages>,
        quote: Option<Quote>,
    ) -> Judgement {
        let source = &self.evidence.sources[index];
        let (fidelity, repaired) = match resolution {
            Resolution::Context {
                fidelity, repaired, ..
            } => (*fidelity, *repaired),
            _ => (0.0, false),
        };
        let status = match verdict {
            Some((Verdict::WrongSource, _)) => Status::WrongSource,
            Some((Verdict::Unsupported, _)) => Status::Unsupported,
            Some((Verdict::InsufficientAttribution, _)) => Status::InsufficientAttribution,
            Some((Verdict::Held, _)) | None if source.carried => Status::ResolvedCarried,
            Some((Verdict::Held, _)) | None => Status::ResolvedCurrent,
        };
        let jointly = matches!(verdict, Some((Verdict::Held, support)) if support < self.evidence.rules.threshold);
        let detail = match (jointly, fidelity < 1.0, pages) {
            (true, ..) => Some(Detail::HeldJointly),
            (_, true, Some(_)) if source.pages.is_some() => Some(Detail::PagesPartlyInContext),
            (_, true, _) => Some(Detail::DocumentOnly),
            _ => None,
        };
        Judgement {
            source: Some(index),
            coordinate_fidelity: Some(fidelity),
            support: verdict.map(|(_, support)| support),
            quote,
            repaired,
            detail,
            ..Judgement::of(status, Some(place_of(source, pages)))
        }
    }

    fn elsewhere(
        &self,
        resolution: &Resolution,
        claim: Option<&Lexemes>,
        reference: &Reference,
    ) -> Judgement {
        let pages = reference.pages();
        let mut judgement = match resolution {
            Resolution::Context { .. } | Resolution::Unknown => {
                Judgement::of(Status::UnknownId, None)
            }
            Resolution::Elsewhere { documents } => self.looked_up(documents, claim, pages),
            Resolution::Nothing { source } => {
                let source = &self.evidence.sources[*source];
                let place = Place {
                    passage: None,
                    ..place_of(source, pages)
                };
                Judgement {
                    detail: Some(Detail::InvalidPage),
                    ..Judgement::of(Status::InvalidPage, Some(place))
                }
            }
            Resolution::Stale { known } => {
                let known = &self.evidence.known[*known];
                let place = Place {
                    corpus: known.corpus.clone(),
                    doc_id: known.doc_id.clone(),
                    passage: Some(known.passage.clone()),
                    pages: pages.or(known.pages),
                    title: None,
                    uri: None,
                };
                Judgement {
                    detail: Some(Detail::StaleTurn),
                    ..Judgement::of(Status::StaleTurn, Some(place))
                }
            }
            Resolution::OutOfBounds { document } => {
                let document = &self.evidence.named[*document];
                Judgement::of(
                    Status::OutOfBounds,
                    Some(document_place(document, None, pages)),
                )
            }
            Resolution::Malformed => Judgement::of(Status::Malformed, None),
            Resolution::Unresolvable => Judgement::of(Status::Unresolvable, None),
        };
        if judgement.status.score().is_some() {
            judgement.coordinate_fidelity = Some(0.0);
        }
        if let Reference::Malformed(why) = reference {
            judgement.detail = Some(Detail::Malformed(*why));
        }
        judgement
    }

    /// A place that exists and was not in the context: does it hold the claim (I5)?
    fn looked_up(
        &self,
        documents: &[usize],
        claim: Option<&Lexemes>,
        pages: Option<Pages>,
    ) -> Judgement {
        let nothing = Lexemes::default();
        let claim = claim.unwrap_or(&nothing);
        let judged = documents.iter().map(|&index| {
            let document = &self.evidence.named[index];
            let at_place =
                document
                    .passages
                    .iter()
                    .filter(move |passage| match (pages, passage.pages) {
                        (Some(claimed), Some(pages)) => claimed.shared_with(pages).is_some(),
                        _ => true,
                    });
            let support = joint_support(claim, at_place.clone().map(|passage| &passage.lexemes));
            let passage = at_place
                .map(|passage| {
                    (
                        joint_support(claim, std::iter::once(&passage.lexemes)),
                        passage,
                    )
                })
                .reduce(|best, next| if next.0 > best.0 { next } else { best })
                .map(|(_, passage)| passage);
            (support, document, passage)
        });
        let best = judged.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((support, document, passage)) = best else {
            return Judgement::of(Status::UnknownId, None);
        };
        let (status, detail) = match support {
            Some(support) if support < self.evidence.rules.threshold => {
                (Status::InvalidPage, Detail::InvalidPage)
            }
            _ => (Status::Unretrieved, Detail::Unretrieved),
        };
        Judgement {
            support,
            detail: Some(detail),
            quote: passage.and_then(|passage| Quotable::new(&passage.text).best(claim)),
            ..Judgement::of(
                status,
                Some(document_place(document, passage.map(|p| &p.passage), pages)),
            )
        }
    }
}

impl Judgement {
    fn of(status: Status, place: Option<Place>) -> Self {
        Self {
            status,
            place,
            source: None,
            coordinate_fidelity: None,
            support: None,
            quote: None,
            best_other: None,
            repaired: false,
            detail: None,
        }
    }
}

/// The source of the context that a resolution means: of several, the one that covers the claim best.
fn meant(resolution: &Resolution, coverage: Option<&Coverage<'_>>) -> Option<usize> {
    let Resolution::Context { sources, .. } = resolution else {
        return None;
    };
    match coverage {
        Some(coverage) => {
            coverage.best(sources.iter().copied().filter(|&s| s < coverage.sources()))
        }
        None => sources.first().copied(),
    }
}

fn place_of(source: &Source, pages: Option<Pages>) -> Place {
    Place {
        corpus: source.corpus.clone(),
        doc_id: source.doc_id.clone(),
        passage: Some(source.passage.clone()),
        pages: pages.or(source.pages),
        title: source.title.clone(),
        uri: source.uri.clone(),
    }
}

fn document_place(
    document: &NamedDocument,
    passage: Option<&String>,
    pages: Option<Pages>,
) -> Place {
    Place {
        corpus: document.corpus.clone(),
        doc_id: document.doc_id.clone(),
        passage: passage.cloned(),
        pages,
        title: document.title.clone(),
        uri: document.uri.clone(),
    }
}
