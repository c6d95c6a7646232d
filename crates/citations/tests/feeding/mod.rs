//! Reads every prefix of an answer and checks the results against the whole answer.

use reground_citations::{
    CitationScope, ExtractedCitation, Extraction, Form, Grammar, GrammarRules, PartialExtraction,
    Resume, extract, feed, feed_from,
};

/// Returns a contradiction between the result for a prefix and the whole answer.
fn contradiction(
    answer: &str,
    whole: &Extraction,
    at: usize,
    fed: &PartialExtraction,
) -> Option<String> {
    let so_far = &answer[..at];
    let fail = |what: String| Some(format!("{what}\n of {so_far:?}\n in {answer:?}\n{fed:?}"));
    if !so_far.is_char_boundary(fed.shown) {
        return fail("shows half a character".into());
    }
    let straddling = whole
        .citations
        .iter()
        .find(|c| c.span.bytes.start < fed.shown && fed.shown < c.span.bytes.end);
    if let Some(cut) = straddling {
        return fail(format!("cuts {:?}", cut.raw(answer)));
    }
    // Footnotes and enclosing tags may be reported at the end, all others as soon as they are shown.
    let at_once = |c: &&ExtractedCitation| !matches!(c.form, Form::Footnote | Form::CiteTag);
    let shown = whole
        .citations
        .iter()
        .filter(|c| c.span.bytes.end <= fed.shown);
    if shown.filter(at_once).count() != fed.extraction.citations.iter().filter(at_once).count() {
        return fail("not all that is shown is told, or more".into());
    }
    let mut all = whole.citations.iter();
    for (number, certain) in fed.extraction.citations.iter().enumerate() {
        let is_it = all.any(|c| {
            let mut c = c.clone();
            if number >= fed.placed {
                c.scope = CitationScope::Sentence;
                c.sentence = None;
                c.claim = None;
                c.claim_at = None;
            }
            c == *certain
        });
        if !is_it {
            return fail(format!("{certain:?} is not in the whole"));
        }
    }
    if !whole.sentences.starts_with(&fed.extraction.sentences)
        || !whole.statements.starts_with(&fed.extraction.statements)
        || !whole.claims.starts_with(&fed.extraction.claims)
    {
        return fail("sentences or claims differ".into());
    }
    None
}

/// A grammar with all possible additions.
pub fn with_additions() -> Grammar {
    let rules = r#"{
        "patterns": [{"name": "case", "regex": "CASE-(?P<number>[0-9]+)( of (?P<id>[a-z]+))?"}],
        "locators": {"levels": ["book", "chapter", "verse"], "patterns": ["{book} {chapter}:{verse}", "{book} {chapter}"],
                     "works": [{"name": "Genesis", "abbreviations": ["Gen."]}, {"name": "Parashara", "abbreviations": ["BPHS"]}]},
        "titles": [{"name": "report.pdf", "aliases": ["the Q3 doc", "the Q3 document"]}, {"name": "annex"}],
        "positions": true,
        "ids": ["warnings-of-1999"]
    }"#;
    let grammar = Grammar::new(&serde_json::from_str::<GrammarRules>(rules).unwrap());
    let grammar = grammar.unwrap().numbering([1000, 1001, 2024]);
    grammar.naming(["annex", "A1", "second source"])
}

/// A citation without indices, its claim, the positions of the citations that are judged with it, and its statements.
type Meaning<'a> = (ExtractedCitation, Option<&'a str>, Vec<usize>, Vec<&'a str>);

/// What a result says about a citation.
fn meaning<'a>(read: &'a Extraction, citation: &'a ExtractedCitation) -> Meaning<'a> {
    let claim = read.claim_of(citation);
    let statements = &read.statements[read.statements_of(citation)];
    let shares = |c: &&ExtractedCitation| match citation.scope {
        CitationScope::Sentence => citation.claim.is_some() && c.claim == citation.claim,
        CitationScope::Answer => c.scope == citation.scope && c.sentence == citation.sentence,
    };
    let companions = read.citations.iter().filter(shares);
    (
        ExtractedCitation {
            sentence: None,
            claim: None,
            ..citation.clone()
        },
        claim,
        companions.map(|c| c.span.bytes.start).collect(),
        statements.iter().map(|s| s.text.as_str()).collect(),
    )
}

/// Returns a contradiction between a call for the rest of a prefix, and a call for all of it.
fn rest_differs(
    fed: &PartialExtraction,
    rest: &PartialExtraction,
    from: &Resume,
) -> Option<&'static str> {
    let placed = rest.settled + rest.placed;
    if rest.settled > from.settled {
        return Some("omits a citation that was not final");
    }
    if rest.shown != fed.shown {
        return Some("shows another length");
    }
    if placed != fed.placed {
        return Some("has another number of final citations");
    }
    let all = &fed.extraction.citations[rest.settled..];
    let meanings = |read: &PartialExtraction, citations: &[ExtractedCitation]| -> String {
        let all = citations.iter().map(|c| meaning(&read.extraction, c));
        format!("{:?}", all.collect::<Vec<_>>())
    };
    (meanings(fed, all) != meanings(rest, &rest.extraction.citations))
        .then_some("reads other citations")
}

/// Reads every prefix and returns the first contradiction.
pub fn check(answer: &str, grammar: &Grammar) -> Result<(), String> {
    let whole = extract(answer, grammar);
    let mut shown = 0;
    let mut placed = 0;
    let mut from = Resume::default();
    for at in (0..=answer.len()).filter(|at| answer.is_char_boundary(*at)) {
        let fed = feed(&answer[..at], grammar, false);
        if let Some(why) = contradiction(answer, &whole, at, &fed) {
            return Err(why);
        }
        if fed.shown < shown || fed.placed < placed {
            return Err(format!(
                "goes back from {shown} at {:?} {fed:?}",
                &answer[..at]
            ));
        }
        (shown, placed) = (fed.shown, fed.placed);
        let final_then = fed.extraction.citations[..fed.placed].iter();
        let changed = final_then
            .zip(&whole.citations)
            .find(|(then, now)| meaning(&fed.extraction, then) != meaning(&whole, now));
        if let Some((then, _)) = changed {
            let so_far = &answer[..at];
            return Err(format!(
                "{then:?} is not final after {so_far:?} of {answer:?}"
            ));
        }
        let rest = feed_from(&answer[..at], grammar, false, &from).map_err(|e| e.to_string())?;
        if let Some(why) = rest_differs(&fed, &rest, &from) {
            let so_far = &answer[..at];
            return Err(format!(
                "{why} from {from:?} on\n of {so_far:?}\n in {answer:?}\n{fed:?}\n{rest:?}"
            ));
        }
        let read: Resume = rest.resume.to_string().parse().unwrap();
        if read != rest.resume || read.bytes < from.bytes || read.settled != placed {
            return Err(format!("{from:?} becomes {read:?} at {:?}", &answer[..at]));
        }
        from = read;
    }
    let rest = feed_from(answer, grammar, true, &from).map_err(|e| e.to_string())?;
    let end = feed(answer, grammar, true);
    if let Some(why) = rest_differs(&end, &rest, &from) {
        return Err(format!(
            "{why} at the end of {answer:?} from {from:?} on: {rest:?}"
        ));
    }
    let fed = feed(answer, grammar, true);
    if fed.extraction != whole || fed.shown != answer.len() || fed.placed != whole.citations.len() {
        return Err(format!("the whole of {answer:?} differs"));
    }
    Ok(())
}
