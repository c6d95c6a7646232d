//! The verdict on each citation of an answer: resolved, verified, supported.

use reground_pulse::{along, beat};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::quote::Quote;
use crate::resolve::{Places, Resolution};
use crate::support::{ClaimUnits, SourceUnits, Verdict, Vocabulary, Weighed, joint};
use crate::{
    Cues, Error, Extraction, KnownMarker, Lexemes, NamedDocument, NamedPassage, Pages, Reference,
    Source, Status, SupportParts, SupportRules,
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
    /// The cues of the language of the corpus; [`Cues::LANGUAGE_FREE`] where it is not known.
    pub cues: &'a Cues,
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
    /// How far the place supports the claim, in [0, 1]; `None` without a claim, content or place.
    pub support: Option<f64>,
    /// What the support is made of.
    pub parts: Option<SupportParts>,
    /// The sentence at the place that comes nearest to the claim.
    pub quote: Option<Quote>,
    /// The source of the context, not cited for this claim, that supports it best.
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
    /// What the API says that the source says is not in it.
    QuoteNotFound,
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
            Self::QuoteNotFound => "quote_not_found",
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
    let mut vocabulary = Vocabulary::default();
    let claims: Vec<ClaimUnits<'_>> = along(extraction.claims.iter().zip(evidence.claims))
        .map(|(claim, lexemes)| {
            ClaimUnits::read(&claim.text, lexemes, evidence.cues, &mut vocabulary)
        })
        .collect();
    let sources = evidence.sources.iter();
    let bench = Bench {
        evidence,
        sources: sources
            .map(|s| SourceUnits::read(&s.text, &s.lexemes, evidence.cues, &vocabulary))
            .collect(),
        named: evidence.named.iter().map(|_| OnceCell::new()).collect(),
        vocabulary,
    };
    let mut by_claim: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, citation) in extraction.citations.iter().enumerate() {
        by_claim.entry(citation.claim).or_default().push(number);
    }
    let mut judged: Vec<(usize, Judgement)> = Vec::with_capacity(extraction.citations.len());
    for (claim, numbers) in by_claim {
        let claim = claim.and_then(|claim| claims.get(claim));
        beat(1 + claim.map_or(0, |claim| claim.units.len()));
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
        judged.extend(bench.claim(claim, resolved));
    }
    judged.sort_unstable_by_key(|(number, _)| *number);
    Ok(judged.into_iter().map(|(_, judgement)| judgement).collect())
}

/// Citation number, whether its string was repaired, what it names, where that leads.
type Resolved<'a> = (usize, bool, &'a Reference, Resolution);

struct Bench<'a> {
    evidence: &'a Evidence<'a>,
    vocabulary: Vocabulary,
    /// By source of the context.
    sources: Vec<SourceUnits<'a>>,
    /// By named document, once a claim is looked for in it: its passages.
    named: Vec<OnceCell<Vec<SourceUnits<'a>>>>,
}

/// What one source says of a claim: the same for all citations of the claim that name it.
#[derive(Clone)]
struct Finding {
    verdict: Verdict,
    parts: SupportParts,
    quote: Option<Quote>,
}

impl<'a> Bench<'a> {
    /// Judges the citations of one claim together.
    fn claim(
        &self,
        claim: Option<&ClaimUnits<'_>>,
        resolved: Vec<Resolved<'_>>,
    ) -> Vec<(usize, Judgement)> {
        let weighed = claim.and_then(|claim| {
            let weighed = Weighed::of(claim, &self.sources, self.evidence.cues)?;
            Some((claim, weighed))
        });
        let weights = weighed.as_ref().map(|(_, weighed)| weighed);
        let meant: Vec<Option<usize>> = resolved.iter().map(|(.., r)| meant(r, weights)).collect();
        let cited: Vec<usize> = meant.iter().copied().flatten().collect();
        let joint = weights.map(|weighed| weighed.joint(&cited));
        // One sentence with ten thousand markers compares each source once.
        let mut findings: BTreeMap<usize, Option<Finding>> = BTreeMap::new();
        let best_other = weights.zip(joint.as_ref()).and_then(|(weighed, joint)| {
            let source = weighed.best_other(joint)?;
            let support = weighed.support(source);
            // What says nothing of the claim would not have been the better one.
            (support > 0.0).then(|| BestOther {
                source,
                marker: self.evidence.sources[source].marker.clone(),
                support,
            })
        });
        let judge =
            |((number, repaired, reference, resolution), meant): (Resolved<'_>, Option<usize>)| {
                let mut judgement = match meant {
                    Some(source) => {
                        let finding = findings.entry(source).or_insert_with(|| {
                            let (claim, weighed) = weighed.as_ref()?;
                            let units = &self.sources[source];
                            Some(Finding {
                                verdict: weighed.verdict(
                                    source,
                                    joint.as_ref()?,
                                    &self.evidence.rules,
                                ),
                                parts: weighed.parts(source, units),
                                quote: Quote::best(units, claim),
                            })
                        });
                        self.in_context(source, &resolution, finding.clone(), reference.pages())
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

    /// The passages of a named document.
    fn passages(&self, document: usize) -> &[SourceUnits<'a>] {
        let evidence = self.evidence;
        self.named[document].get_or_init(|| {
            let passages = evidence.named[document].passages.iter();
            let read = |passage: &'a NamedPassage| {
                SourceUnits::read(
                    &passage.text,
                    &passage.lexemes,
                    evidence.cues,
                    &self.vocabulary,
                )
            };
            passages.map(read).collect()
        })
    }

    fn in_context(
        &self,
        index: usize,
        resolution: &Resolution,
        finding: Option<Finding>,
        pages: Option<Pages>,
    ) -> Judgement {
        let source = &self.evidence.sources[index];
        let (fidelity, repaired) = match resolution {
            Resolution::Context {
                fidelity, repaired, ..
            } => (*fidelity, *repaired),
            _ => (0.0, false),
        };
        let verdict = finding.as_ref().map(|finding| finding.verdict);
        let status = match verdict {
            Some(Verdict::WrongSource) => Status::WrongSource,
            Some(Verdict::Unsupported) => Status::Unsupported,
            Some(Verdict::InsufficientAttribution) => Status::InsufficientAttribution,
            Some(Verdict::Held) | None if source.carried => Status::ResolvedCarried,
            Some(Verdict::Held) | None => Status::ResolvedCurrent,
        };
        let support = finding.as_ref().map(|finding| finding.parts.support);
        let jointly = verdict == Some(Verdict::Held)
            && support.is_some_and(|support| support < self.evidence.rules.threshold);
        let detail = match (jointly, fidelity < 1.0, pages) {
            (true, ..) => Some(Detail::HeldJointly),
            (_, true, Some(_)) if source.pages.is_some() => Some(Detail::PagesPartlyInContext),
            (_, true, _) => Some(Detail::DocumentOnly),
            _ => None,
        };
        Judgement {
            source: Some(index),
            coordinate_fidelity: Some(fidelity),
            support,
            quote: finding.as_ref().and_then(|finding| finding.quote.clone()),
            parts: finding.map(|finding| finding.parts),
            repaired,
            detail,
            ..Judgement::of(status, Some(place_of(source, pages)))
        }
    }

    fn elsewhere(
        &self,
        resolution: &Resolution,
        claim: Option<&ClaimUnits<'_>>,
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
        claim: Option<&ClaimUnits<'_>>,
        pages: Option<Pages>,
    ) -> Judgement {
        let looked = documents.iter().map(|&index| {
            let passages = &self.evidence.named[index].passages;
            let at_place: Vec<usize> = (0..passages.len())
                .filter(|&passage| match (pages, passages[passage].pages) {
                    (Some(claimed), Some(pages)) => claimed.shared_with(pages).is_some(),
                    _ => true,
                })
                .collect();
            let units: Vec<_> = at_place
                .iter()
                .map(|&passage| &self.passages(index)[passage])
                .collect();
            let together = claim.and_then(|claim| joint(claim, &units, self.evidence.cues));
            let best = together.as_ref().and_then(|together| together.best);
            let passage = at_place.get(best.unwrap_or(0)).copied();
            // Some passage or other of a long document holds each word: what counts is the best one, unless pages are named.
            let parts = together.map(|together| match (pages, claim, best) {
                (None, Some(claim), Some(best)) => {
                    SupportParts::alone(claim, units[best], self.evidence.cues)
                }
                _ => together.parts,
            });
            (parts, index, passage)
        });
        let support_of = |parts: &Option<SupportParts>| parts.as_ref().map(|parts| parts.support);
        let better = |best: &Option<SupportParts>, next: &Option<SupportParts>| {
            support_of(next) > support_of(best)
        };
        let best = looked.reduce(|best, next| if better(&best.0, &next.0) { next } else { best });
        let Some((parts, index, passage)) = best else {
            return Judgement::of(Status::UnknownId, None);
        };
        let document = &self.evidence.named[index];
        let support = support_of(&parts);
        let (status, detail) = match support {
            Some(support) if support < self.evidence.rules.threshold => {
                (Status::InvalidPage, Detail::InvalidPage)
            }
            _ => (Status::Unretrieved, Detail::Unretrieved),
        };
        let key = passage.map(|passage| &document.passages[passage].passage);
        let quote = passage.zip(claim);
        let quote =
            quote.and_then(|(passage, claim)| Quote::best(&self.passages(index)[passage], claim));
        Judgement {
            support,
            parts,
            quote,
            detail: Some(detail),
            ..Judgement::of(status, Some(document_place(document, key, pages)))
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
            parts: None,
            quote: None,
            best_other: None,
            repaired: false,
            detail: None,
        }
    }
}

/// The source of the context that a resolution means: of several, the one that supports the claim best.
fn meant(resolution: &Resolution, weighed: Option<&Weighed<'_>>) -> Option<usize> {
    let Resolution::Context { sources, .. } = resolution else {
        return None;
    };
    match weighed {
        Some(weighed) => weighed.best(sources.iter().copied()),
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
