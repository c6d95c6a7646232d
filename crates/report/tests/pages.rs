//! Whole pages: data is always escaped, and small pages have the expected structure.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;
use reground_report::conversation::{Answer, Citation, Conversation, Source, Turn};
use reground_report::corpus::{
    CitationGroup, Corpus, Document, FailingCitation, Holding, Score, Stage, Status, TimeUnit,
    WorstAnswer,
};
use reground_report::html::is_linkable;

/// Content of a page according to a browser's tokenizer.
#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedPage {
    /// Tags with the names of their attributes, in order.
    shape: Vec<String>,
    /// Values of href.
    links: Vec<String>,
    /// Text between the tags.
    text: String,
    /// Parse errors and constructs that no page should contain.
    faults: Vec<String>,
}

#[derive(Default)]
struct Sink(RefCell<ParsedPage>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut found = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => {
                let mut shape = format!("{:?} {}", tag.kind, tag.name);
                for attribute in &tag.attrs {
                    let name = attribute.name.local.to_string();
                    shape.push_str(&format!(" {name}"));
                    if name == "href" {
                        found.links.push(attribute.value.to_string());
                    }
                    if name.starts_with("on") || name == "src" {
                        found.faults.push(name);
                    }
                }
                let style = tag.kind == TagKind::StartTag && &*tag.name == "style";
                found.shape.push(shape);
                if style {
                    return TokenSinkResult::RawData(
                        html5ever::tokenizer::states::RawKind::Rawtext,
                    );
                }
            }
            Token::CharacterTokens(text) => found.text.push_str(&text),
            Token::ParseError(error) => found.faults.push(error.into_owned()),
            Token::CommentToken(text) => found.faults.push(text.to_string()),
            Token::NullCharacterToken => found.faults.push("NUL".to_owned()),
            Token::DoctypeToken(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

fn parsed(page: &str) -> ParsedPage {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(page));
    let tokenizer = Tokenizer::new(
        Sink::default(),
        TokenizerOpts {
            exact_errors: true,
            ..TokenizerOpts::default()
        },
    );
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// A citation in which every text of users, documents and models is `text`.
fn citation(
    text: &str,
    status: &str,
    holds: Option<bool>,
    answer_start: usize,
    answer_end: usize,
) -> Citation {
    let some = || Some(text.to_owned());
    Citation {
        citation_no: 1,
        marker: some(),
        raw: text.to_owned(),
        doc_id: some(),
        title: some(),
        uri: some(),
        locator: some(),
        claim: some(),
        quote: some(),
        status: status.to_owned(),
        holds,
        score: Some(1.0),
        support: Some(0.5),
        detail: some(),
        best_other_marker: some(),
        lost_stage: Some("generation".to_owned()),
        answer_start,
        answer_end,
    }
}

/// A conversation in which every text of users, documents and models is `text`.
fn conversation(text: &str) -> Conversation {
    let some = || Some(text.to_owned());
    let citation =
        |status: &str, holds, start, end| self::citation(text, status, holds, start, end);
    let answer = |superseded| Answer {
        answer: Some(format!("{text}012345")),
        message_ref: some(),
        model: some(),
        tags: vec![(text.to_owned(), some()), (text.to_owned(), None)],
        cfs: Some(0.4),
        decision: "regenerate".to_owned(),
        reasons: vec![text.to_owned()],
        superseded,
        citations: vec![
            citation("resolved_current", Some(true), 0, 2),
            citation("unsupported", Some(false), 3, 5),
            citation("unknown_id", Some(false), 4, 6),
            citation(text, None, 6, 6),
        ],
    };
    let turn = |number, answers| Turn {
        turn_no: number,
        state: "ended".to_owned(),
        query: text.to_owned(),
        intent: "new_topic".to_owned(),
        corpus: text.to_owned(),
        context_tokens: 100,
        attribution_share: Some(1.0),
        predicted_accuracy: Some(0.9),
        warnings: vec![text.to_owned()],
        tags: vec![(text.to_owned(), some())],
        sources: vec![Source {
            marker: text.to_owned(),
            doc_id: text.to_owned(),
            title: some(),
            uri: some(),
            origin: "fresh".to_owned(),
            ..Source::default()
        }],
        answers,
        ..Turn::default()
    };
    Conversation {
        conversation_ref: text.to_owned(),
        tenant: text.to_owned(),
        corpus: some(),
        turns: vec![turn(1, vec![answer(true), answer(false)]), turn(2, vec![])],
    }
}

/// An answer to read first, in which every text of users, documents and models is `text`.
fn worst_answer(text: &str) -> WorstAnswer {
    WorstAnswer {
        conversation_ref: text.to_owned(),
        tenant: text.to_owned(),
        turn_no: 1,
        query: text.to_owned(),
        model: Some(text.to_owned()),
        decision: "accept".to_owned(),
        reasons: vec![text.to_owned()],
        grounded_cfs: Some(0.1),
        citations: 4,
        failing: 2,
        unjudged: 1,
        worst_citations: vec![FailingCitation {
            citation: citation(text, "unsupported", Some(false), 3, 5),
            meaning: "not in the source".to_owned(),
        }],
    }
}

/// A corpus in which every text of users, documents and models is `text`.
fn corpus(text: &str) -> Corpus {
    let some = || Some(text.to_owned());
    let document = || Document {
        doc_id: text.to_owned(),
        title: some(),
        contexts: 3,
        citations: 2,
        holding: 1,
    };
    let group = || CitationGroup {
        value: some(),
        citations: 4,
        judged: 3,
        holding: 2,
        support: None,
    };
    let held = |previous, holding| Holding {
        previous,
        judged: 3,
        holding,
        answers: 2,
    };
    Corpus {
        corpus: text.to_owned(),
        tenant: some(),
        since: some(),
        until: some(),
        conversations: 1,
        answers: 2,
        refused: 1,
        failing: 1,
        contradicting: 1,
        held: vec![held(false, 2), held(true, 3)],
        cfs: Some(0.5),
        cfs_p5: Some(0.1),
        stale: 1,
        models: vec![group()],
        document_types: vec![group()],
        all_document_types: 14,
        stages: vec![Stage {
            name: text.to_owned(),
            reached: 4,
            survived: 2,
        }],
        statuses: vec![Status {
            status: text.to_owned(),
            holds: None,
            meaning: text.to_owned(),
            citations: 4,
        }],
        unit: TimeUnit::Day,
        scores: vec![
            Score {
                begins: "2026-05-01".to_owned(),
                mean: Some(0.5),
                p5: Some(0.2),
                answers: 2,
                judged: 3,
                holding: 2,
            },
            Score::default(),
        ],
        documents: vec![document()],
        idle: vec![document()],
        idle_documents: 3,
        worst: vec![worst_answer(text)],
    }
}

/// Fails if a page with `text` has another structure than a page with harmless text of the same linkability.
fn check_stays_text(text: &str, page: &dyn Fn(&str) -> String) -> Result<(), TestCaseError> {
    let harmless = if is_linkable(text) {
        "https://a.example/long"
    } else {
        "harmless"
    };
    let (found, expected) = (parsed(&page(text)), parsed(&page(harmless)));
    prop_assert!(
        found.faults.is_empty(),
        "{:?} gives {:?}",
        text,
        found.faults
    );
    let differs = found
        .shape
        .iter()
        .zip(&expected.shape)
        .find(|(a, b)| a != b);
    prop_assert!(differs.is_none(), "{:?}: {:?}", text, differs);
    prop_assert_eq!(found.shape.len(), expected.shape.len(), "{:?}", text);
    for link in found.links {
        let scheme = link.to_ascii_lowercase();
        let web = scheme.starts_with("https://") || scheme.starts_with("http://");
        prop_assert!(link.starts_with("#turn-") || web, "{}", link);
    }
    Ok(())
}

/// Hostile texts: concatenated pieces of markup.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<script>alert(1)</script>",
        "</title>",
        "</style>",
        "<!--",
        "-->",
        "]]>",
        "<svg onload=x>",
        "\" onmouseover=\"x",
        "\"onmouseover=\"x",
        "https://a.example/\"onmouseover=\"x",
        "'",
        "`",
        "&lt;",
        "&#60;",
        "&",
        "\u{202e}",
        "\u{200f}",
        "\u{feff}",
        "\u{1b}[2J",
        "\r\n",
        "\u{2028}",
        "javascript:alert(1)",
        "https://a.example/",
        "data:text/html,",
        "<a href=",
        "<",
        ">",
        "/",
        "=",
        "字",
        "\u{10ffff}",
        "<textarea>",
        "<plaintext>",
        "\u{e0041}",
        " ",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()),
        "\\PC{1,12}",
        any::<String>().prop_map(|text| format!("x{}", text.replace('\0', ""))),
    ]
}

proptest! {
    // Each case parses two pages, so the time for shrinking is limited.
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn user_text_is_never_markup(text in hostile_text()) {
        // Six fixed characters are prepended, so that the citations have positions.
        check_stays_text(&format!("xxxxxx{text}"), &|text| conversation(text).page())?;
        check_stays_text(&text, &|text| corpus(text).page())?;
    }

    #[test]
    fn addresses_are_links_or_text(text in hostile_text()) {
        let conversation = |text: &str| {
            let mut one = conversation("harmless");
            one.turns[0].sources[0].uri = Some(text.to_owned());
            one.turns[0].answers[1].citations[0].uri = Some(text.to_owned());
            one
        };
        check_stays_text(&text, &|text| conversation(text).page())?;
    }
}

#[test]
fn invisible_characters_are_shown() {
    let found = parsed(&conversation("harmless\u{202e}nimda<b>").page());
    assert!(found.text.contains("harmless[U+202E]nimda<b>"));
    assert!(!found.text.contains('\u{202e}'));
}

#[test]
fn a_page_contains_all_citations() {
    let page = conversation("harmless").page();
    // The citations of the current and of the superseded answer.
    assert_eq!(page.matches("class=\"cite ").count(), 8);
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 4);
    assert_eq!(page.matches("class=\"shared ").count(), 2);
    assert!(page.contains("1 earlier answer, superseded"));
    assert!(page.contains("No answer yet."));
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    assert_eq!(page, conversation("harmless").page());
    let page = corpus("harmless").page();
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 3);
    assert_eq!(page.matches("<svg class=\"interval\"").count(), 3);
    // Document types, documents, and citations of the answer.
    for more in ["And 13 more.", "And 2 more."] {
        assert!(page.contains(more), "{more}");
    }
    assert_eq!(page.matches("And 2 more.").count(), 2);
}

/// The share that holds comes first, then the answers to read, and the fidelity of coordinates last.
#[test]
fn content_comes_before_coordinates() {
    let page = corpus("harmless").page();
    let order = [
        "Citations that hold</h2><p class=\"figure\">66.7 %</p>",
        "4 of 6 judged citations.",
        "33.3 points fewer than in the period before (100 %, 6 of 6)",
        "Answers to read first",
        "2 of 4 citations do not hold, 1 cannot be told",
        " · policy: accept (harmless)",
        "<b>!</b> <b>unsupported</b>",
        ">Claim</span> <bdi>harmless</bdi>",
        ">Reason</span> <bdi>not in the source (harmless)</bdi>",
        "by model",
        "by document type",
        "Fidelity of the coordinates (CFS)",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|part| page.find(part).unwrap_or_else(|| panic!("{part}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(!page.contains('✓'));
}

#[test]
fn a_small_page_has_the_expected_structure() {
    let citation =
        |citation_no, marker: &str, status: &str, holds, char_start, char_end| Citation {
            citation_no,
            marker: Some(marker.to_owned()),
            raw: format!("[{marker}]"),
            status: status.to_owned(),
            holds,
            answer_start: char_start,
            answer_end: char_end,
            ..Citation::default()
        };
    let shown = Conversation {
        conversation_ref: "small".to_owned(),
        tenant: "acme".to_owned(),
        corpus: None,
        turns: vec![Turn {
            turn_no: 1,
            state: "ended".to_owned(),
            query: "Who gives milk?".to_owned(),
            intent: "new_topic".to_owned(),
            retrieved: true,
            answers: vec![Answer {
                answer: Some("Kühe [A1]. Pigs & goats [Z9].".to_owned()),
                decision: "accept".to_owned(),
                cfs: Some(0.5),
                citations: vec![
                    citation(1, "A1", "resolved_current", Some(true), 5, 9),
                    citation(2, "Z9", "unknown_id", Some(false), 24, 28),
                ],
                ..Answer::default()
            }],
            ..Turn::default()
        }],
    };
    let page = shown.page();
    let shown = page
        .split("<div class=\"says\" dir=\"auto\">")
        .nth(1)
        .unwrap();
    let shown = shown.split("</div>").next().unwrap();
    let card = |sign: &str, status: &str| {
        format!(
            "<span class=\"card\"><span class=\"verdict\"><b>{sign}</b> <b>{status}</b></span><span class=\"figures\">support – · score –</span></span>"
        )
    };
    assert_eq!(
        shown,
        format!(
            "Kühe <span class=\"cite holds\" tabindex=\"0\" role=\"note\" aria-label=\"citation 1: resolved current\"><bdi>[A1]</bdi><span class=\"sign\">✓</span>{}</span>. \
             Pigs &amp; goats <span class=\"cite place\" tabindex=\"0\" role=\"note\" aria-label=\"citation 2: unknown id\"><bdi>[Z9]</bdi><span class=\"sign\">✗</span>{}</span>.",
            card("✓", "resolved current"),
            card("✗", "unknown id")
        )
    );
    for figure in [
        "<dd class=\"figure\">50 %</dd>",
        "<dd class=\"note\">1 of 2</dd>",
        "<dd class=\"figure\">0.50</dd>",
        "<span class=\"place\"><b>✗</b> <b>1 of 2 citations does not hold</b></span> · policy: accept · CFS 0.50</p>",
    ] {
        assert!(page.contains(figure), "{figure}");
    }
}

#[test]
fn empty_reports_show_messages() {
    let empty = Conversation {
        conversation_ref: "empty".to_owned(),
        tenant: "acme".to_owned(),
        ..Conversation::default()
    };
    let page = empty.page();
    assert!(page.contains("No corpus yet") && page.contains("Nothing to show yet."));
    assert!(parsed(&page).faults.is_empty());
    let page = Corpus {
        corpus: "empty".to_owned(),
        ..Corpus::default()
    }
    .page();
    assert!(page.contains("No answer in this period.") && !page.contains("<svg"));
}

/// The page labels branches and imported turns. Additional queries are shown as text.
#[test]
fn turns_are_labelled_with_their_parent() {
    let turn = |number, follows| Turn {
        turn_no: number,
        follows,
        state: "open".to_owned(),
        intent: "drill_down".to_owned(),
        retrieved: true,
        ..Turn::default()
    };
    let shown = Conversation {
        conversation_ref: "branches".to_owned(),
        tenant: "acme".to_owned(),
        corpus: None,
        turns: vec![
            Turn {
                imported: true,
                ..turn(1, None)
            },
            Turn {
                superseded: true,
                ..turn(2, Some(1))
            },
            Turn {
                retrievals: vec![Some("<b>honey</b>".to_owned()), None],
                ..turn(3, Some(1))
            },
            turn(4, None),
        ],
    };
    let page = shown.page();
    let parts: Vec<&str> = page.split("<section class=\"turn\"").skip(1).collect();
    let shown = |turn: usize, what: &str| parts[turn].contains(what);
    assert!(shown(0, "imported") && !shown(0, "drill down") && !shown(0, "new start"));
    assert!(shown(1, "superseded") && !shown(1, "follows"));
    assert!(shown(2, "follows turn 1") && !shown(2, "superseded"));
    assert!(shown(2, "Searched again: &lt;b&gt;honey&lt;/b&gt;") && shown(2, "were added"));
    assert!(shown(3, "new start"));
}

/// An answer without stored text still shows its citations.
#[test]
fn citations_are_shown_for_an_answer_that_was_not_stored() {
    let shown = Conversation {
        conversation_ref: "private".to_owned(),
        turns: vec![Turn {
            turn_no: 1,
            state: "ended".to_owned(),
            answers: vec![Answer {
                answer: None,
                decision: "accept".to_owned(),
                citations: vec![Citation {
                    citation_no: 1,
                    marker: Some("A1".to_owned()),
                    status: "resolved_current".to_owned(),
                    holds: Some(true),
                    ..Citation::default()
                }],
                ..Answer::default()
            }],
            ..Turn::default()
        }],
        ..Conversation::default()
    };
    let page = shown.page();
    assert!(page.contains("The answer was not stored."), "{page}");
    assert!(page.contains("A1"), "{page}");
}
