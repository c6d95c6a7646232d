//! The six questions, and the faults to plant in their answers.

use crate::answer::Fault;
use crate::documents::Document;

/// A question of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What the turn demonstrates, for the heading.
    pub kind: &'static str,
    /// Text of the question.
    pub text: String,
    /// Faults to plant in the answer, in addition to its correct statements.
    pub faults: &'static [Fault],
}

/// The conversation: what each turn demonstrates, and the faults of its answer.
const TURNS: [(&str, &[Fault]); 6] = [
    ("the opening question", &[]),
    ("a follow-up with a pronoun", &[Fault::Invented]),
    ("a comparison", &[Fault::Misattributed]),
    ("a change of topic", &[Fault::Stale]),
    (
        "back to the first topic",
        &[Fault::OutOfBounds, Fault::Misattributed],
    ),
    (
        "about the sources themselves",
        &[Fault::Stale, Fault::Invented],
    ),
];

fn questions(texts: [String; 6]) -> Vec<Question> {
    TURNS
        .iter()
        .zip(texts)
        .map(|(&(kind, faults), text)| Question { kind, text, faults })
        .collect()
}

/// Returns the questions about the project's manual.
pub fn about_the_manual() -> Vec<Question> {
    questions(
        [
            "How do I start the embedded server?",
            "Can it also be a server of my own?",
            "What is the difference between carried sources and pinned sources?",
            "On a different note, which roles may read the rows of every tenant?",
            "Back to the embedded server: how do I stop it, and where are its data?",
            "Which of these documents explains what the build needs?",
        ]
        .map(str::to_owned),
    )
}

/// Returns questions about any documents, made from their titles and headings.
pub fn about(documents: &[Document]) -> Vec<Question> {
    let [first, second, third] = topics(documents);
    questions([
        format!("What should I know about {first}?"),
        "And what else is important about it?".to_owned(),
        format!("What is the difference between {first} and {second}?"),
        format!("On a different note, what should I know about {third}?"),
        format!("Back to {first}: which details matter most?"),
        "Which of these documents explains it best?".to_owned(),
    ])
}

/// Returns three subjects, from different documents if there are three: the first heading below the title, or else the title.
fn topics(documents: &[Document]) -> [String; 3] {
    let count = documents.len();
    let places = [0, count / 3, 2 * count / 3];
    [0, 1, 2].map(|topic| {
        // In a small folder the same document occurs again. Then its next heading is used.
        let again = places[..topic]
            .iter()
            .filter(|&&place| place == places[topic])
            .count();
        documents
            .get(places[topic])
            .map_or_else(String::new, |document| {
                let heading = document.headings.get(again).unwrap_or(&document.title);
                without_number(heading).to_owned()
            })
    })
}

/// Returns a heading without its number and final punctuation.
fn without_number(heading: &str) -> &str {
    let name = heading.trim_start_matches(|c: char| c.is_ascii_digit() || ".) ".contains(c));
    let name = name.trim_end_matches(['.', '?', '!', ':']);
    if name.is_empty() { heading } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str, headings: &[&str]) -> Document {
        Document {
            id: id.into(),
            title: format!("Title of {id}"),
            headings: headings.iter().map(|&h| h.to_owned()).collect(),
            page_starts: None,
            text: String::new(),
        }
    }

    #[test]
    fn any_folder_has_six_questions() {
        for count in 1..7 {
            let documents: Vec<_> = (0..count)
                .map(|i| document(&format!("{i}.md"), &[]))
                .collect();
            let questions = about(&documents);
            assert_eq!(questions.len(), 6);
            assert!(questions[0].text.contains("Title of 0.md"));
        }
        let three = ["a", "b", "c"].map(|id| document(id, &[&format!("Heading of {id}?")]));
        let asked = about(&three);
        assert_eq!(
            asked[2].text,
            "What is the difference between Heading of a and Heading of b?"
        );
        assert!(asked[3].text.ends_with("Heading of c?"));
        let one = [document("a", &["1. First", "2. Second", "2026"])];
        assert_eq!(topics(&one), ["First", "Second", "2026"]);
    }

    #[test]
    fn every_fault_is_planted() {
        for fault in Fault::ALL {
            assert!(TURNS.iter().any(|(_, faults)| faults.contains(&fault)));
        }
    }
}
