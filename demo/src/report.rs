//! Printed output.

use crate::answer::{Answer, Fault};
use crate::arguments::Arguments;
use crate::documents::Folder;
use crate::ingest::IngestReport;
use crate::prompt::Prompt;
use crate::questions::Question;
use crate::screen::{Screen, Style, WIDTH, clip, columns, wrap};
use crate::service::MODEL;
use crate::tally::{Share, Tally};
use crate::turn::{BegunTurn, JudgedAnswer, Source, Verdict};

/// Column of the text after a label.
const TEXT: usize = 14;
/// Column of the reasons for a verdict.
const REASON: usize = 42;
/// Width of a document's title in the table of sources.
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

/// Prints the title.
pub fn title(screen: &Screen, llm: Option<&str>) {
    println!(
        "{}",
        screen.paint(
            Style::Bold,
            "reground: documents in, a conversation of six turns, every citation audited"
        )
    );
    let answers = match llm {
        Some(model) => format!("The language model {model} writes the answers."),
        None => "No language model is used. Answers are composed from the sources that the database returned, and some \
                 citations are wrong on purpose."
            .to_owned(),
    };
    println!(
        "{}",
        wrap(
            &format!("{answers} All verdicts come from the database."),
            0
        )
    );
}

/// Prints the results of the ingestion.
pub fn ingested(
    screen: &Screen,
    arguments: &Arguments,
    folder: &Folder,
    done: &IngestReport,
    llm: Option<&str>,
    conversation: &str,
) {
    println!();
    let count = folder.documents.len();
    let mut files = vec![format!("{count} file{}", if count == 1 { "" } else { "s" })];
    if folder.empty > 0 {
        files.push(format!("{} without text skipped", folder.empty));
    }
    if done.removed > 0 {
        files.push(format!("{} of an earlier run removed", done.removed));
    }
    labelled(
        screen,
        "Documents",
        &format!("{} · {}", arguments.docs.display(), files.join(" · ")),
    );
    let added = done.passages - done.unchanged;
    labelled(
        screen,
        "Passages",
        &format!(
            "{} · unchanged {}, added {added} · each Markdown section counts as a page",
            done.passages, done.unchanged
        ),
    );
    let embeddings = match &arguments.worker {
        Some(_) => format!(
            "{MODEL}, by the worker · unchanged {}, embedded {}",
            done.unchanged_embeddings, done.embedded
        ),
        None => "none: there is no worker, so search is lexical only".to_owned(),
    };
    labelled(screen, "Embeddings", &embeddings);
    let answers = llm.unwrap_or("composed from the sources, with planted faults");
    labelled(screen, "Answers", answers);
    labelled(screen, "Conversation", conversation);
}

/// Prints a question, its intent and its sources.
pub fn question(
    screen: &Screen,
    number: usize,
    total: usize,
    question: &Question,
    turn: &BegunTurn,
) {
    rule(
        screen,
        &format!("Turn {number} of {total}: {}", question.kind),
    );
    labelled(
        screen,
        "Question",
        &screen.paint(Style::Bold, &question.text),
    );
    let intent = format!(
        "{} {:.2} · {}",
        turn.intent,
        turn.confidence,
        turn.signals.join(" · ")
    );
    labelled(screen, "Intent", &intent);
    let sources = format!(
        "{} with {} tokens in {} ms",
        turn.sources.len(),
        turn.tokens,
        turn.took.as_millis()
    );
    labelled(screen, "Sources", &sources);
    if !turn.warnings.is_empty() {
        labelled(screen, "Warnings", &turn.warnings.join(", "));
    }
    println!();
    let header = format!(
        "  {:<7} {:<8} {:>6} {:>6}  {:<TITLE$} position",
        "marker", "origin", "score", "carry", "document"
    );
    println!("{}", screen.paint(Style::Dim, &header));
    for source in &turn.sources {
        println!("{}", source_line(source));
    }
}

/// Prints the whole prompt of a turn as the model gets it.
pub fn prompt(screen: &Screen, number: usize, prompt: &Prompt, question: &str) {
    let part = |name: &str, text: &str| {
        println!("\n{}", screen.paint(Style::Label, name));
        for line in text.trim_end().lines() {
            println!("  {}", wrap(line, 2));
        }
    };
    println!();
    labelled(
        screen,
        "Prompt",
        &format!("all of turn {number}, with the default settings"),
    );
    part("instructions", &prompt.instructions);
    part("sources", &prompt.sources);
    for message in &prompt.history {
        let name = match message.role.as_str() {
            "sources" => "history: cited sources".to_owned(),
            role => format!("history: {role}"),
        };
        part(&name, &message.content);
    }
    part("question", question);
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

/// Prints an answer with its citations marked, then the verdicts and the scores.
pub fn answer(screen: &Screen, answer: &Answer, judged: &JudgedAnswer) {
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
            .find(|statement| statement.start == verdict.answer_start)
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

/// Returns the answer with a sign before each citation, at the position that the database returned.
fn marked(screen: &Screen, text: &str, verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    let mut at = 0;
    let characters: Vec<char> = text.chars().collect();
    for verdict in verdicts {
        let Some(before) = characters.get(at..verdict.answer_start) else {
            continue;
        };
        out.extend(before);
        let (sign, style) = sign(verdict);
        // No-break spaces prevent line breaks within a citation.
        let citation = format!("{sign} {}", verdict.raw).replace(' ', "\u{a0}");
        out.push_str(&screen.paint(style, &citation));
        at = verdict.answer_start + verdict.raw.chars().count();
    }
    out.extend(characters.get(at..).unwrap_or_default());
    out
}

fn verdict_lines(screen: &Screen, verdict: &Verdict, planted: Option<Fault>) {
    let (sign, style) = sign(verdict);
    let mut reasons = vec![screen.paint(style, &verdict.status)];
    reasons.extend(verdict.diagnostic.clone());
    reasons.extend(
        verdict
            .detail
            .clone()
            .filter(|detail| *detail != verdict.status),
    );
    reasons.extend(
        verdict
            .support
            .map(|support| format!("support {support:.2}")),
    );
    let other = verdict
        .best_other_marker
        .as_ref()
        .filter(|_| verdict.holds == Some(false));
    reasons.extend(other.map(|other| format!("better source [{other}]")));
    // No-break spaces prevent line breaks within a reason.
    for reason in &mut reasons {
        *reason = reason.replace(' ', "\u{a0}");
    }
    let raw = clip(&verdict.raw, REASON - 5);
    let padding = " ".repeat(REASON.saturating_sub(4 + columns(&raw)));
    println!(
        "  {} {raw}{padding}{}",
        screen.paint(style, &sign.to_string()),
        wrap(&reasons.join(" · "), REASON)
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

/// Prints how many citations of a language model hold.
pub fn held(screen: &Screen, tally: &Tally) {
    rule(screen, "Citations of the language model");
    let Share { found, total } = tally.held;
    println!("  {found} of {total} citations with a verdict hold");
}

/// Prints the comparison of the planted faults with the verdicts.
pub fn tally(screen: &Screen, tally: &Tally) {
    rule(screen, "Planted faults and verdicts");
    let line = |name: &str, verb: &str, share: Share| {
        let style = if share.found == share.total {
            Style::Good
        } else {
            Style::Bad
        };
        let text = format!("{verb} {} of {}", share.found, share.total);
        println!("  {name:<24} {}", screen.paint(style, &text));
    };
    for fault in Fault::ALL {
        match tally.faults.get(&fault) {
            Some(&share) => line(fault.name(), "detected", share),
            None => println!("  {:<24} not possible with these documents", fault.name()),
        }
    }
    line("all planted faults", "detected", tally.planted());
    line("correct citations", "held", tally.correct);
    for line in &tally.unexpected {
        println!("  {} {}", screen.paint(Style::Bad, "✗"), wrap(line, 4));
    }
}

/// Prints SQL statements to try next.
pub fn explore(screen: &Screen, uri: &str, conversation: &str) {
    rule(screen, "Continue in SQL");
    println!("  psql {uri}\n");
    let statements = [
        format!(
            "SELECT turn_no, raw, status, support, claim, quote FROM reground.citation_audit\n  WHERE conversation_ref = '{conversation}' ORDER BY citation_id;"
        ),
        format!(
            "SELECT turn_no, intent, intent_signals, source_count, cfs, decision, reasons FROM reground.turn_audit\n  WHERE conversation_ref = '{conversation}' ORDER BY turn_no;"
        ),
        format!(
            "SELECT e.* FROM reground.turn_audit AS t, reground.explain_turn(t.turn_id) AS e\n  WHERE t.conversation_ref = '{conversation}' AND t.turn_no = 5;"
        ),
        format!(
            "SELECT s.doc_id, s.chunk_id, s.carry_score, s.inactive_turns, s.cited\n  FROM reground.conversation_sources AS s JOIN reground.conversations AS c USING (conversation_id)\n  WHERE c.conversation_ref = '{conversation}' ORDER BY s.carry_score DESC;"
        ),
    ];
    for statement in statements {
        println!("  {}", statement.replace('\n', "\n  "));
    }
}
