//! What is printed.

use reground_encoders::Encoder;

use crate::answer::{Answer, Fault};
use crate::arguments::Arguments;
use crate::documents::Folder;
use crate::ingest::Ingested;
use crate::questions::Question;
use crate::screen::{Screen, Style, WIDTH, clip, columns, wrap};
use crate::tally::{Share, Tally};
use crate::turn::{Begun, Judged, Source, Verdict};

/// Column at which text begins beside a label.
const TEXT: usize = 14;
/// Column at which the reason for a verdict begins.
const REASON: usize = 42;
/// Columns of a document's title in the table of sources.
const TITLE: usize = 46;

fn labelled(screen: &Screen, label: &str, text: &str) {
    let label = screen.paint(Style::Label, &format!("{label:<TEXT$}"));
    println!("{label}{}", wrap(text, TEXT));
}

fn rule(screen: &Screen, title: &str) {
    let line = "─".repeat(WIDTH.saturating_sub(columns(title) + 4));
    println!(
        "\n{}",
        screen.paint(Style::Bold, &format!("── {title} {line}"))
    );
}

/// The first lines.
pub fn title(screen: &Screen) {
    println!(
        "{}",
        screen.paint(
            Style::Bold,
            "reground: documents in, a conversation of six turns, every citation audited"
        )
    );
    println!(
        "{}",
        wrap(
            "There is no language model here. Answers are composed from the sources that the database returned, \
             some of them wrong on purpose; every verdict is the database's.",
            0
        )
    );
}

/// What the ingestion did.
pub fn ingested(
    screen: &Screen,
    arguments: &Arguments,
    folder: &Folder,
    done: &Ingested,
    encoder: Option<&Encoder>,
    conversation: &str,
) {
    println!();
    let count = folder.documents.len();
    let mut files = vec![format!("{count} file{}", if count == 1 { "" } else { "s" })];
    if folder.empty > 0 {
        files.push(format!("{} without text left out", folder.empty));
    }
    if done.removed > 0 {
        files.push(format!("{} of an earlier run removed", done.removed));
    }
    labelled(
        screen,
        "Documents",
        &format!("{} · {}", arguments.docs.display(), files.join(" · ")),
    );
    let added = done.passages - done.kept;
    labelled(
        screen,
        "Passages",
        &format!(
            "{} · kept {}, added {added} · a section of Markdown counts as a page",
            done.passages, done.kept
        ),
    );
    let embeddings = match encoder {
        Some(encoder) => format!(
            "{} dimensions · kept {}, embedded {}",
            encoder.dimensions(),
            done.kept_embeddings,
            done.embedded
        ),
        None => "none: no model was given, so search is lexical only".to_owned(),
    };
    labelled(screen, "Embeddings", &embeddings);
    labelled(screen, "Conversation", conversation);
}

/// A question, its intent, and the sources for its answer.
pub fn question(screen: &Screen, number: usize, of: usize, question: &Question, begun: &Begun) {
    rule(screen, &format!("Turn {number} of {of}: {}", question.part));
    labelled(
        screen,
        "Question",
        &screen.paint(Style::Bold, &question.text),
    );
    let intent = format!(
        "{} {:.2} · {}",
        begun.intent,
        begun.confidence,
        begun.signals.join(" · ")
    );
    labelled(screen, "Intent", &intent);
    let sources = format!(
        "{} with {} tokens in {} ms",
        begun.sources.len(),
        begun.tokens,
        begun.took.as_millis()
    );
    labelled(screen, "Sources", &sources);
    if !begun.warnings.is_empty() {
        labelled(screen, "Warnings", &begun.warnings.join(", "));
    }
    println!();
    let header = format!(
        "  {:<7} {:<8} {:>6} {:>6}  {:<TITLE$} place",
        "marker", "origin", "score", "carry", "document"
    );
    println!("{}", screen.paint(Style::Dim, &header));
    for source in &begun.sources {
        println!("{}", source_line(source));
    }
}

fn source_line(source: &Source) -> String {
    let carry = source
        .carry_score
        .map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"));
    format!(
        "  {:<7} {:<8} {:>6.3} {carry:>6}  {:<TITLE$} {}",
        source.marker,
        source.origin,
        source.score,
        clip(&format!("{} · {}", source.title, source.doc_id), TITLE),
        clip(&source.locator, WIDTH - TITLE - 36),
    )
}

/// An answer with its citations marked in place, then why, then its scores.
pub fn answer(screen: &Screen, answer: &Answer, judged: &Judged) {
    println!();
    labelled(
        screen,
        "Answer",
        &marked(screen, &answer.text, &judged.verdicts),
    );
    if !judged.verdicts.is_empty() {
        println!();
    }
    for verdict in &judged.verdicts {
        let planted = answer
            .statements
            .iter()
            .find(|statement| statement.start == verdict.start)
            .and_then(|statement| statement.planted);
        verdict_lines(screen, verdict, planted);
    }
    let score =
        |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| format!("{value:.2}"));
    let style = if judged.decision == "accept" {
        Style::Good
    } else {
        Style::Bad
    };
    let mut decision = screen.paint(style, &judged.decision);
    if !judged.reasons.is_empty() {
        decision.push_str(&format!(" ({})", judged.reasons.join(", ")));
    }
    println!();
    labelled(
        screen,
        "CFS",
        &format!(
            "{} · grounded {} · decision: {decision}",
            score(judged.cfs),
            score(judged.grounded_cfs)
        ),
    );
}

fn sign(verdict: &Verdict) -> (char, Style) {
    match verdict.holds {
        Some(true) => ('✓', Style::Good),
        Some(false) => ('✗', Style::Bad),
        None => ('?', Style::Dim),
    }
}

/// The answer with a sign before each citation, put where the database says that it begins.
fn marked(screen: &Screen, text: &str, verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    let mut at = 0;
    let characters: Vec<char> = text.chars().collect();
    for verdict in verdicts {
        let Some(before) = characters.get(at..verdict.start) else {
            continue;
        };
        out.extend(before);
        let (sign, style) = sign(verdict);
        // In one piece, so that no line ends within a citation.
        let citation = format!("{sign} {}", verdict.raw).replace(' ', "\u{a0}");
        out.push_str(&screen.paint(style, &citation));
        at = verdict.start + verdict.raw.chars().count();
    }
    out.extend(characters.get(at..).unwrap_or_default());
    out
}

fn verdict_lines(screen: &Screen, verdict: &Verdict, planted: Option<Fault>) {
    let (sign, style) = sign(verdict);
    let mut why = vec![screen.paint(style, &verdict.status)];
    why.extend(verdict.diagnostic.clone());
    why.extend(
        verdict
            .detail
            .clone()
            .filter(|detail| *detail != verdict.status),
    );
    why.extend(
        verdict
            .support
            .map(|support| format!("support {support:.2}")),
    );
    let other = verdict
        .best_other
        .as_ref()
        .filter(|_| verdict.holds == Some(false));
    why.extend(other.map(|other| format!("best other [{other}]")));
    // Lines break between the reasons only.
    for reason in &mut why {
        *reason = reason.replace(' ', "\u{a0}");
    }
    let raw = clip(&verdict.raw, REASON - 5);
    let padding = " ".repeat(REASON.saturating_sub(4 + columns(&raw)));
    println!(
        "  {} {raw}{padding}{}",
        screen.paint(style, &sign.to_string()),
        wrap(&why.join(" · "), REASON)
    );
    if let Some(fault) = planted {
        let planted = format!("planted: {}", fault.name());
        println!(
            "{}{}",
            " ".repeat(REASON),
            screen.paint(Style::Dim, &planted)
        );
    }
}

/// What was planted against what was found.
pub fn tally(screen: &Screen, tally: &Tally) {
    rule(screen, "Planted against found");
    let line = |name: &str, verb: &str, share: Share| {
        let style = if share.found == share.of {
            Style::Good
        } else {
            Style::Bad
        };
        let text = format!("{verb} {} of {}", share.found, share.of);
        println!("  {name:<24} {}", screen.paint(style, &text));
    };
    for fault in Fault::ALL {
        match tally.faults.get(&fault) {
            Some(&share) => line(fault.name(), "found", share),
            None => println!("  {:<24} no opportunity in these documents", fault.name()),
        }
    }
    line("all planted faults", "found", tally.planted());
    line("right citations", "held", tally.right);
    for surprise in &tally.surprises {
        println!("  {} {}", screen.paint(Style::Bad, "✗"), wrap(surprise, 4));
    }
}

/// What to type next.
pub fn explore(screen: &Screen, uri: &str, conversation: &str) {
    rule(screen, "Explore it in SQL");
    println!("  psql {uri}\n");
    let statements = [
        format!(
            "SELECT turn, raw, status, support, claim, quote FROM reground.citation_audit\n  WHERE conversation = '{conversation}' ORDER BY citation_id;"
        ),
        format!(
            "SELECT turn, intent, intent_signals, sources, cfs, decision, reasons FROM reground.turn_audit\n  WHERE conversation = '{conversation}' ORDER BY turn;"
        ),
        format!(
            "SELECT e.* FROM reground.turn_audit AS t, reground.explain_turn(t.turn_id) AS e\n  WHERE t.conversation = '{conversation}' AND t.turn = 5;"
        ),
        format!(
            "SELECT s.doc_id, s.passage, s.carry_score, s.inactive_turns, s.cited\n  FROM reground.conversation_sources AS s JOIN reground.conversations AS c USING (conversation_id)\n  WHERE c.external_id = '{conversation}' ORDER BY s.carry_score DESC;"
        ),
    ];
    for statement in statements {
        println!("  {}", statement.replace('\n', "\n  "));
    }
}
