//! Answers with planted faults, corrected by `repair_text`: citation precision and recall by the labels before and after, and how many
//! right citations change.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use postgres::GenericClient;

use super::answers::{self, ShownAnswer};
use super::case::{MarkerStyle, passages};
use super::fault_kind::FaultKind;
use super::faults::fault;
use super::models;
use super::options::Options;
use super::report::Figure;
use crate::attribution::marking::{MIN_OVERLAP, marked};
use crate::attribution::overlap::overlap;
use crate::data::claims::Set;
use crate::data::{Domain, Folder};
use crate::statistics::random::SplitMix;

/// The modes, and `none` for the answer as it is.
const MODES: [&str; 4] = ["none", "mark", "repoint", "strict"];

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    /// Half of the citations name another passage of the context, or none.
    Markers,
    /// Half of the citations are missing.
    Missing,
    /// One sentence says something else.
    Content,
}

impl Planted {
    const ALL: [Self; 4] = [Self::Nothing, Self::Markers, Self::Missing, Self::Content];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Markers => "wrong markers",
            Self::Missing => "missing citations",
            Self::Content => "false sentences",
        }
    }
}

/// A sentence of an answer with its label.
#[derive(Clone, Debug)]
struct Said {
    /// The text with the white space after it.
    text: String,
    marker: Option<String>,
    label: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// The passage that humans judged relevant and that contains the sentence.
    Of(usize),
    /// No passage has been labelled for it.
    Unlabelled,
    /// A planted sentence, which no passage supports.
    False,
}

/// Citations and sentences by their labels.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    citations: usize,
    right: usize,
    /// Sentences with a label, and those that cite the right passage.
    labelled: usize,
    cited: usize,
    /// Planted sentences, and those that are marked or removed.
    planted: usize,
    planted_found: usize,
    /// Other sentences, and those that are marked or removed.
    others: usize,
    others_found: usize,
    /// Right citations of the original answer, and those that are gone.
    right_before: usize,
    right_lost: usize,
    /// Citations that name another passage than before, and those of them that are right.
    moved: usize,
    moved_right: usize,
    /// Citations added to labelled sentences, and those of them that are right.
    added: usize,
    added_right: usize,
}

/// An answer and its sentences with their labels.
type Labelled<'a> = (&'a ShownAnswer, Vec<Said>);

/// Corrects the answers that humans wrote, and those of the labelled set of claims, and prints citation precision and recall. The figures
/// are those of the mode `repoint`.
///
/// # Errors
/// Errors of the server, unreadable data.
pub fn measure(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    options: &Options,
) -> Result<Vec<Figure>> {
    println!("## Corrected answers\n");
    let mut figures = of_humans(client, all, options.seed)?;
    println!("### {}, which took no part\n", Domain::Fiqa.name());
    let held_out = answers::read(&Folder::below(&options.data)?, &[Domain::Fiqa])?;
    of_humans(client, &held_out, options.seed)?;
    if options.has_models() {
        println!("### Answers of models, AttributionBench\n");
        figures.extend(of_models(client, &options.data, options.seed)?);
    }
    Ok(figures)
}

/// Each kind of fault in the answers that humans wrote.
fn of_humans(
    client: &mut impl GenericClient,
    all: &[ShownAnswer],
    seed: u64,
) -> Result<Vec<Figure>> {
    head();
    let mut figures = Vec::new();
    for planted in Planted::ALL {
        let mut random = SplitMix(seed);
        let answers: Vec<Labelled<'_>> = all
            .iter()
            .filter_map(|shown| Some((shown, answer(all, shown, planted, &mut random)?)))
            .collect();
        figures.extend(rows(client, planted.name(), &answers)?);
    }
    println!();
    Ok(figures)
}

/// The claims of answers that models wrote, by question, as they are and with wrong markers. A claim that humans did not find in its cited
/// text counts as a false sentence.
fn of_models(client: &mut impl GenericClient, data: &Path, seed: u64) -> Result<Vec<Figure>> {
    let claims = Set::AttributionBench.read(data)?;
    let (all, cited) = models::answers(&claims);
    head();
    let mut figures = Vec::new();
    for planted in [Planted::Nothing, Planted::Markers] {
        let mut random = SplitMix(seed);
        let answers = all.iter().zip(&cited).map(|(shown, cited)| {
            let said = answer(&all, shown, planted, &mut random);
            let mut said = said.unwrap_or_else(|| labelled(shown));
            for (sentence, cited) in said.iter_mut().zip(cited) {
                if sentence.label == Label::Unlabelled {
                    sentence.label = Label::False;
                    sentence.marker = Some(MarkerStyle::Letters.marker(*cited));
                }
            }
            (shown, said)
        });
        let name = format!("models, {}", planted.name());
        figures.extend(rows(client, &name, &answers.collect::<Vec<_>>())?);
    }
    println!();
    Ok(figures)
}

fn head() {
    println!(
        "| planted | mode | citations | precision | recall | right ones changed | moved | right | added | right | false sentences found | other sentences found |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
}

/// Prints a row for each mode, and returns the figures of `repoint`.
fn rows(
    client: &mut impl GenericClient,
    name: &str,
    answers: &[Labelled<'_>],
) -> Result<Vec<Figure>> {
    let statement = client.prepare(
        "SELECT answer FROM reground.repair_text($1, $2, $3, text_config => 'english') LIMIT 1",
    )?;
    let mut figures = Vec::new();
    for mode in MODES {
        let mut counts = Counts::default();
        for (shown, said) in answers {
            let text = written(said);
            let repaired = match mode {
                "none" => text.clone(),
                mode => {
                    let given = passages(shown, MarkerStyle::Letters);
                    client
                        .query_one(&statement, &[&text, &given, &mode])?
                        .get(0)
                }
            };
            counts.add(shown, said, &text, &repaired);
        }
        counts.print(name, mode);
        if mode == "repoint" {
            figures = counts.figures(name);
        }
    }
    Ok(figures)
}

/// The sentences as they are, with the passages that they cite.
fn labelled(shown: &ShownAnswer) -> Vec<Said> {
    let sentences = shown.sentences.iter();
    sentences
        .map(|sentence| {
            let cited = sentence.supported_by.map(|(passage, _)| passage);
            Said {
                text: sentence.text.clone(),
                marker: cited.map(|passage| MarkerStyle::Letters.marker(passage)),
                label: cited.map_or(Label::Unlabelled, Label::Of),
            }
        })
        .collect()
}

/// An answer with its faults; `None` if it has no citation, or no suitable sentence.
fn answer(
    all: &[ShownAnswer],
    shown: &ShownAnswer,
    planted: Planted,
    random: &mut SplitMix,
) -> Option<Vec<Said>> {
    let mut places: Vec<usize> = shown.citing().collect();
    random.shuffle(&mut places);
    let faults = match planted {
        Planted::Nothing => 0,
        Planted::Content => 1,
        Planted::Markers | Planted::Missing => places.len().div_ceil(2),
    };
    if places.is_empty() {
        return None;
    }
    let mut said = labelled(shown);
    let mut left = faults;
    for place in places {
        if left == 0 {
            break;
        }
        let kind = match (planted, random.below(4)) {
            (Planted::Missing, _) => {
                said[place].marker = None;
                left -= 1;
                continue;
            }
            (Planted::Markers, 0 | 1) => FaultKind::OtherPassage,
            (Planted::Markers, _) => FaultKind::UnknownMarker,
            (_, 0) => FaultKind::ForeignSentence,
            (_, 1) => FaultKind::ChangedNumber,
            (_, 2) => FaultKind::Negated,
            _ => FaultKind::SwappedName,
        };
        let Some(instead) = fault(all, shown, place, kind, random) else {
            continue;
        };
        let sentence = &mut said[place];
        if planted == Planted::Content {
            let space = &sentence.text[sentence.text.trim_end().len()..];
            sentence.text = format!("{}{space}", instead.said.trim_end());
            sentence.label = Label::False;
        }
        sentence.marker = Some(instead.marker);
        left -= 1;
    }
    (left < faults || faults == 0).then_some(said)
}

fn written(said: &[Said]) -> String {
    said.iter()
        .map(|sentence| {
            let body = sentence.text.trim_end();
            let space = &sentence.text[body.len()..];
            format!(
                "{}{space}",
                marked(body, sentence.marker.as_deref().into_iter())
            )
        })
        .collect()
}

/// A text without its marks and markers, and these with their places in it.
struct Unmarked<'t> {
    text: String,
    marks: Vec<(usize, &'t str)>,
}

impl<'t> Unmarked<'t> {
    fn of(text: &'t str) -> Self {
        let mut bare = Self {
            text: String::with_capacity(text.len()),
            marks: Vec::new(),
        };
        let mut rest = text;
        while let Some((before, bracket)) = rest.split_once('[') {
            bare.text.push_str(before);
            let inside = bracket.split_once(']');
            let names = inside.filter(|(inside, _)| inside.split(", ").all(is_name));
            rest = match names {
                Some((inside, after)) => {
                    bare.text.truncate(bare.text.trim_end_matches(' ').len());
                    let place = bare.text.len();
                    bare.marks
                        .extend(inside.split(", ").map(|name| (place, name)));
                    after
                }
                None => {
                    bare.text.push('[');
                    bracket
                }
            };
        }
        bare.text.push_str(rest);
        bare
    }

    /// The marks and markers of each sentence; `None` for a sentence that is gone. No word is changed, so the sentences are found by
    /// their words.
    fn of_each(&self, said: &[Said]) -> Vec<Option<BTreeSet<&'t str>>> {
        let mut starts: Vec<Option<usize>> = Vec::with_capacity(said.len());
        let mut at = 0;
        for sentence in said {
            let stem = sentence
                .text
                .trim_end_matches(|c: char| !c.is_alphanumeric());
            let start = self.text[at..].find(stem).map(|start| at + start);
            let start = start.filter(|_| !stem.is_empty());
            at = start.map_or(at, |start| start + stem.len());
            starts.push(start);
        }
        let of = |number: usize| {
            let start = starts[number]?;
            let next = starts[number + 1..].iter().flatten().next();
            let within = start + 1..=next.copied().unwrap_or(self.text.len());
            let marks = self
                .marks
                .iter()
                .filter(|(place, _)| within.contains(place));
            Some(marks.map(|(_, name)| *name).collect())
        };
        (0..said.len()).map(of).collect()
    }
}

/// Whether a text is a marker as `B1`, or the mark of an unsupported sentence.
fn is_name(text: &str) -> bool {
    let mut signs = text.chars();
    let letter = signs.next().is_some_and(|c| c.is_ascii_uppercase());
    text == MARK || letter && text.len() > 1 && signs.all(|c| c.is_ascii_digit())
}

/// The mark of an unsupported sentence.
const MARK: &str = "?";

impl Counts {
    fn add(&mut self, shown: &ShownAnswer, said: &[Said], text: &str, repaired: &str) {
        let before = Unmarked::of(text).of_each(said);
        let after = Unmarked::of(repaired).of_each(said);
        for ((sentence, before), after) in said.iter().zip(before).zip(after) {
            // A sentence without a word.
            let Some(cited_before) = before else {
                continue;
            };
            // Another passage is as right as the labelled one if it has as many of the words.
            let is_right = |marker: &&str| {
                let place = (0..shown.passages.len())
                    .find(|place| MarkerStyle::Letters.marker(*place) == **marker);
                let contained = |place: usize| {
                    overlap(&sentence.text, &shown.passages[place].words).unwrap_or(0.0)
                };
                match (sentence.label, place) {
                    (Label::Of(right), Some(place)) => {
                        place == right || contained(place) >= contained(right)
                    }
                    (Label::Unlabelled, Some(place)) => contained(place) >= MIN_OVERLAP,
                    (Label::False, _) | (_, None) => false,
                }
            };
            let gone = after.is_none();
            let mut cited = after.unwrap_or_default();
            let found = cited.remove(MARK) || gone;
            let right: Vec<&&str> = cited.iter().filter(|marker| is_right(marker)).collect();
            self.citations += cited.len();
            self.right += right.len();
            match sentence.label {
                Label::Of(_) => {
                    self.labelled += 1;
                    self.cited += usize::from(!right.is_empty());
                }
                Label::Unlabelled => {}
                Label::False => {
                    self.planted += 1;
                    self.planted_found += usize::from(found);
                }
            }
            if sentence.label != Label::False {
                self.others += 1;
                self.others_found += usize::from(found);
            }
            let right_before = cited_before.iter().filter(|marker| is_right(marker));
            for marker in right_before {
                self.right_before += 1;
                self.right_lost += usize::from(!cited.contains(marker));
            }
            for marker in cited.difference(&cited_before) {
                let is_right = usize::from(is_right(marker));
                if !cited_before.is_empty() {
                    self.moved += 1;
                    self.moved_right += is_right;
                } else if sentence.label != Label::Unlabelled {
                    self.added += 1;
                    self.added_right += is_right;
                }
            }
        }
    }

    fn print(&self, planted: &str, mode: &str) {
        println!(
            "| {planted} | {mode} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.citations,
            share(self.right, self.citations),
            share(self.cited, self.labelled),
            share(self.right_lost, self.right_before),
            self.moved,
            share(self.moved_right, self.moved),
            self.added,
            share(self.added_right, self.added),
            share(self.planted_found, self.planted),
            share(self.others_found, self.others),
        );
    }

    fn figures(&self, planted: &str) -> Vec<Figure> {
        let part = |name: &str, part: usize, all: usize| {
            (
                format!("corrected {planted}, {name}"),
                part as f64 / all.max(1) as f64,
            )
        };
        vec![
            part("precision", self.right, self.citations),
            part("recall", self.cited, self.labelled),
            part(
                "right citations kept",
                self.right_before - self.right_lost,
                self.right_before,
            ),
        ]
    }
}

fn share(part: usize, all: usize) -> String {
    match all {
        0 => String::new(),
        all => format!("{:.3}", part as f64 / all as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, Said, Unmarked};

    #[test]
    fn marks_belong_to_the_sentence_before_or_around_them() {
        let said = ["It roars. ", "It runs `fast.` ", "It sleeps."].map(|text| Said {
            text: text.to_owned(),
            marker: None,
            label: Label::Unlabelled,
        });
        let marks = Unmarked::of("It roars [A1, B2]. It [?] runs `fast.` [C3]").of_each(&said);
        let marks: Vec<_> = marks
            .into_iter()
            .map(|marks| marks.map(|marks| marks.into_iter().collect::<Vec<_>>()))
            .collect();
        assert_eq!(marks, [Some(vec!["A1", "B2"]), Some(vec!["?", "C3"]), None]);
    }
}
