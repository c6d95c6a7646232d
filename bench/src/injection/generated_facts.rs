//! A third generator of faults: sentences and passages that it writes itself. A source tells a fact among others; an answer tells it in
//! another order.

use serde_json::json;

use super::case::TestCase;
use super::conflicting_pair::Pair;
use crate::statistics::random::SplitMix;

/// Number of cases of each kind.
const CASES: usize = 200;

const FIRST: [&str; 20] = [
    "Adelmo", "Brisa", "Corvin", "Dalia", "Edvard", "Fiora", "Gunther", "Hedda", "Ivor", "Jolanta",
    "Kasimir", "Lorena", "Matteo", "Nerea", "Oskar", "Petra", "Quentin", "Rosalba", "Stellan",
    "Tamsin",
];
const LAST: [&str; 20] = [
    "Abernathy",
    "Bergmann",
    "Castellan",
    "Drummond",
    "Espinoza",
    "Falkner",
    "Grimaldi",
    "Halvorsen",
    "Iversen",
    "Jankovic",
    "Keller",
    "Lindqvist",
    "Moravec",
    "Novotny",
    "Okafor",
    "Pellegrini",
    "Quispe",
    "Rasmussen",
    "Szabo",
    "Thornbury",
];
const PLACE: [&str; 20] = [
    "Alkmaar",
    "Bergamo",
    "Cordoba",
    "Dresden",
    "Eindhoven",
    "Freiburg",
    "Ghent",
    "Haarlem",
    "Innsbruck",
    "Jaén",
    "Kaunas",
    "Linz",
    "Maribor",
    "Nantes",
    "Odense",
    "Pilsen",
    "Rijeka",
    "Salamanca",
    "Tampere",
    "Utrecht",
];
const THING: [&str; 16] = [
    "textile mill",
    "grain market",
    "railway station",
    "observatory",
    "public library",
    "shipyard",
    "botanical garden",
    "concert hall",
    "printing house",
    "cable factory",
    "paper mill",
    "water tower",
    "glass workshop",
    "city archive",
    "music school",
    "power plant",
];

/// The kind of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A fact with the citation of its source.
    Right,
    /// Another name.
    Name,
    /// Another number.
    Number,
    /// A denied verb.
    Denial,
    /// Two facts of two sources, both cited.
    BothCited,
    /// Two facts of two sources under one citation.
    OneCited,
}

impl Made {
    /// The kinds without a fault.
    pub const RIGHT: [Self; 2] = [Self::Right, Self::BothCited];
    /// The kinds of faults, in the order of the report.
    pub const FAULTS: [Self; 4] = [Self::Number, Self::Denial, Self::Name, Self::OneCited];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "generated facts",
            Self::Name => "generated, other name",
            Self::Number => "generated, other number",
            Self::Denial => "generated, denied",
            Self::BothCited => "generated, two facts with both sources",
            Self::OneCited => "generated, two facts under one citation",
        }
    }
}

/// A fact.
struct Fact {
    name: String,
    place: &'static str,
    number: usize,
    /// The sentence of the source.
    told: String,
    /// The words of the answer, which begin in lower case or with the name.
    said: String,
    /// The verb that "not" can follow.
    verb: &'static str,
}

impl Fact {
    /// The words of the answer with a denied verb.
    fn denied(&self) -> String {
        let verb = self.verb;
        self.said
            .replacen(&format!(" {verb} "), &format!(" {verb} not "), 1)
    }
}

fn pick(words: &[&'static str], random: &mut SplitMix) -> &'static str {
    words
        .get(random.below(words.len()))
        .copied()
        .unwrap_or_default()
}

fn fact(random: &mut SplitMix) -> Fact {
    let name = format!("{} {}", pick(&FIRST, random), pick(&LAST, random));
    let (place, thing) = (pick(&PLACE, random), pick(&THING, random));
    let year = 1700 + random.below(300);
    let count = 12 + random.below(900);
    let (number, verb, told, said) = match random.below(5) {
        0 => (
            year,
            "was",
            format!(
                "In {year}, {name} was appointed director of the {thing} in {place}, a post that had been vacant for months."
            ),
            format!("{name} was appointed director of the {thing} in {place} in {year}"),
        ),
        1 => (
            count,
            "could",
            format!(
                "The {thing} of {place} was designed by {name} and could hold {count} visitors when it opened."
            ),
            format!(
                "the {thing} of {place}, which was designed by {name}, could hold {count} visitors"
            ),
        ),
        2 => (
            count,
            "had",
            format!(
                "Records show that {name} had employed {count} workers at the {thing} near {place} before the fire."
            ),
            format!(
                "before the fire {name} had employed {count} workers at the {thing} near {place}"
            ),
        ),
        3 => (
            count,
            "is",
            format!(
                "According to the council of {place}, the {thing} is owned by the family of {name}, who have paid {count} florins a year for it."
            ),
            format!(
                "the {thing} in {place} is owned by the family of {name} for {count} florins a year"
            ),
        ),
        _ => (
            count,
            "can",
            format!(
                "Visitors of the {thing} in {place} can see {count} drawings by {name}, most of them in the east wing."
            ),
            format!("visitors can see {count} drawings by {name} in the {thing} of {place}"),
        ),
    };
    Fact {
        name,
        place,
        number,
        told,
        said,
        verb,
    }
}

/// A passage with the fact among two to four others.
fn passage(fact: &Fact, random: &mut SplitMix) -> String {
    let others = 2 + random.below(3);
    let mut facts: Vec<String> = (0..others).map(|_| self::fact(random).told).collect();
    facts.push(fact.told.clone());
    random.shuffle(&mut facts);
    facts.join(" ")
}

/// Pairs of passages that tell one fact in two ways, the second one with another number or a denial.
pub fn conflicts(denied: bool, count: usize, random: &mut SplitMix) -> Vec<Pair> {
    let pair = || {
        let fact = fact(random);
        let said = match denied {
            true => fact.denied(),
            false => {
                let other = fact.number + 1 + random.below(40);
                fact.said
                    .replace(&fact.number.to_string(), &other.to_string())
            }
        };
        let changed = with_capital(&said) + ".";
        let mut others: Vec<String> = (0..3).map(|_| self::fact(random).told).collect();
        others.push(changed.clone());
        random.shuffle(&mut others);
        Pair {
            one: passage(&fact, random),
            other: others.join(" "),
            changed,
        }
    };
    std::iter::repeat_with(pair).take(count).collect()
}

/// The cases of a kind.
pub fn cases(kind: Made, random: &mut SplitMix) -> Vec<TestCase> {
    std::iter::repeat_with(|| case(kind, random))
        .flatten()
        .take(CASES)
        .collect()
}

/// One case; `None` if the two facts or their passages have something in common.
fn case(kind: Made, random: &mut SplitMix) -> Option<TestCase> {
    let (a, b) = (fact(random), fact(random));
    let other = fact(random);
    let passages = [&a, &b, &other].map(|fact| passage(fact, random));
    let number = b.number.to_string();
    let shared = a.name == b.name
        || a.place == b.place
        || passages[0].contains(&b.name)
        || passages[1].contains(&a.name)
        || passages[0].contains(&number);
    if shared {
        return None;
    }
    let said = match kind {
        Made::Name => a.said.replace(&a.name, &b.name),
        Made::Number => a.said.replace(&a.number.to_string(), &number),
        Made::Denial => a.denied(),
        Made::BothCited | Made::OneCited => {
            let joint = pick(&[", and ", "; ", ", while ", " and "], random);
            format!("{}{joint}{}", a.said, b.said)
        }
        Made::Right => a.said,
    };
    let marks = match kind {
        Made::BothCited => "[A1][B1]",
        Made::OneCited => pick(&["[A1]", "[B1]"], random),
        _ => "[A1]",
    };
    let mut answer = with_capital(&said) + " ";
    let citations = marks
        .match_indices('[')
        .map(|(at, _)| answer.len() + at)
        .collect();
    answer.push_str(marks);
    answer.push('.');
    let markers = ["A1", "B1", "C1"];
    let passages = markers.iter().zip(&passages);
    Some(TestCase {
        answer,
        passages: passages
            .map(
                |(marker, content)| json!({"content": content, "doc_id": marker, "marker": marker}),
            )
            .collect(),
        corpus: None,
        citations,
    })
}

fn with_capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_cites_its_passages() {
        for kind in Made::RIGHT.into_iter().chain(Made::FAULTS) {
            let cases = cases(kind, &mut SplitMix(3));
            assert_eq!(cases.len(), CASES);
            for case in cases {
                let cited = match kind {
                    Made::BothCited => 2,
                    _ => 1,
                };
                assert_eq!(case.citations.len(), cited, "{}", case.answer);
                for at in case.citations {
                    assert!(case.answer[at..].starts_with('['), "{}", case.answer);
                }
            }
        }
    }

    /// Returns whether the answer has a number, and a name, that its source does not have.
    fn strange(case: &TestCase) -> (bool, bool) {
        let source = case.passages[0]["content"].as_str().unwrap();
        let said = case.answer.split('[').next().unwrap();
        let mut numbers = said.split(|c: char| !c.is_ascii_digit());
        let names = FIRST
            .iter()
            .flat_map(|first| LAST.map(|last| format!("{first} {last}")));
        let mut names = names.filter(|name| said.contains(name));
        (
            numbers.any(|number| !source.contains(number)),
            names.any(|name| !source.contains(&name)),
        )
    }

    #[test]
    fn a_fault_changes_what_its_kind_says() {
        for (kind, number, name, denied) in [
            (Made::Right, false, false, false),
            (Made::Number, true, false, false),
            (Made::Name, false, true, false),
            (Made::Denial, false, false, true),
        ] {
            for case in cases(kind, &mut SplitMix(5)) {
                assert_eq!(strange(&case), (number, name), "{}", case.answer);
                assert_eq!(case.answer.contains(" not "), denied, "{}", case.answer);
            }
        }
    }
}
