//! Cue words: what a language uses to compare, to point back, to change the subject and to ask about the sources.
//!
//! A cue is a row `(language, kind, cue)`; the built-in rows are a default that callers replace or extend. All
//! languages given are looked for at once: a turn is short and mixes languages.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use reground_pulse::beat;
use unicode_segmentation::UnicodeSegmentation;

/// What a cue tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Comparison announced before its members: "difference between X and Y".
    ComparePrefix,
    /// Comparison between its members: "X versus Y".
    CompareInfix,
    /// Comparison after its members: "are X and Y the same".
    CompareSuffix,
    /// A comparative or a choice that is a comparison only together with two members: "better", "which is".
    Comparative,
    /// A comparative that takes the next word along: "more reliable".
    Degree,
    /// What a comparative is followed by: "than".
    Than,
    /// What joins the members of a comparison: "and", "with".
    Joiner,
    /// Joins alternatives: "or".
    Alternative,
    /// Ends the members of a comparison: "in terms of", "that".
    Boundary,
    /// A word that stands for something said before: "it", "they".
    Pronoun,
    /// An opening that continues the previous turn: "what about", "and".
    Continuation,
    /// A correction or a question back: "I meant".
    Clarification,
    /// A change of subject: "on another note".
    Shift,
    /// A request about the sources themselves: "in that document".
    Sources,
    /// A word without content of its own.
    Stop,
}

/// The built-in rows: language, kind, cues separated by commas.
#[rustfmt::skip]
pub const BUILT_IN: &[(&str, Kind, &str)] = &[
    ("en", Kind::ComparePrefix, "compare, comparing, comparison of, comparison between, contrast, difference between, \
        differences between, difference among, differences among, difference of, distinction between, \
        distinguish between, choose between, similarities between, difference with, difference to, \
        differences to, difference from, differences from"),
    ("en", Kind::CompareInfix, "versus, vs, compared to, compared with, in comparison to, in comparison with, \
        as opposed to, differ from, differs from, different from, different than, the same as, same as, similar to, \
        better than, worse than, identical to, equivalent to"),
    ("en", Kind::CompareSuffix, "the same, the same thing, alike, identical, interchangeable, different, equivalent, similar"),
    ("en", Kind::Comparative, "better, worse, best, worst, more, most, less, least, faster, slower, cheaper, bigger, \
        larger, smaller, older, newer, stronger, safer, easier, harder, prefer, preferable, difference, differences, \
        pros and cons, which one, which of them"),
    ("en", Kind::Degree, "more, most, less, least"),
    ("en", Kind::Than, "than"),
    ("en", Kind::Joiner, "and, or, with, to, from, versus, vs, against"),
    ("en", Kind::Alternative, "or"),
    ("en", Kind::Boundary, "in terms of, with respect to, with regard to, regarding, when, that, which, for, if, so, \
        because, please, is, are, was, were, do, does, did, should, can"),
    ("en", Kind::Pronoun, "it, its, itself, they, them, their, theirs, themselves, this, that, these, those, he, him, \
        his, she, her, hers, one, ones, in there, on there, from there, over there, get there, go there, then, both, former, latter, such, here"),
    ("en", Kind::Continuation, "what about, how about, and what, and how, and if, and for, and about, and, also, but, \
        so, then, what else, anything else, any other, any more, tell me more, more about, more details, go on, \
        continue, elaborate, explain more, how so, why not, for example, example, examples, such as, other, \
        others, another, too, as well, else, instead, still, again"),
    ("en", Kind::Clarification, "i meant, i mean, no i, not what i, you said, you mean, you say, are you saying, \
        is that true, is that right, are you sure, do you mean, does that mean, what do you mean, clarify, \
        i thought, i heard, correct, right"),
    ("en", Kind::Shift, "new topic, new question, another topic, another question, different topic, different question, \
        different subject, unrelated, unrelated question, change the subject, changing the subject, change of subject, \
        changing topic, switching topic, switching topics, change topic, moving on, on another note, \
        on a different note, something else, something different, forget that, never mind that"),
    ("en", Kind::Sources, "these sources, those sources, that source, this source, the sources, same source, \
        same sources, your sources, your source, which source, which sources, what source, what sources, \
        which of these documents, which of those documents, which of the documents, which document, \
        which documents, which passage, which page, what page, that document, this document, these documents, \
        those documents, the same document, same document, same documents, that article, this article, \
        that page, this page, that passage, this passage, that paper, that section, where does it say, \
        where did it say, where does the document, where do the documents, does it say, do they say, \
        the document say, the documents say, quote the, cite, citation, citations, reference for that, \
        already found, you already found, you cited, you quoted, listed above, cited above, quoted above, \
        mentioned above, which of these, which of those"),
    ("en", Kind::Stop, "a, an, the, and, or, but, if, of, to, in, on, at, by, for, with, from, as, is, are, was, were, \
        be, been, being, am, do, does, did, doing, done, have, has, had, having, will, would, can, could, should, \
        shall, may, might, must, not, no, nor, so, than, too, very, just, only, also, any, some, all, each, every, \
        both, other, others, another, such, own, same, it, its, he, him, his, she, her, they, them, their, this, \
        that, these, those, there, here, i, me, my, we, us, our, you, your, who, whom, whose, what, which, when, \
        where, why, how, about, into, over, under, between, out, up, down, off, again, more, most, much, many, \
        few, lot, tell, please, give, know, want, need, mean, meant, get, got, make, let, say, said, like, ok, okay, \
        yes, thanks, thank, don't, doesn't, didn't, isn't, can't, i'm, it's, that's, what's, there's"),
    ("de", Kind::ComparePrefix, "vergleiche, vergleichen, vergleich zwischen, vergleich von, unterschied zwischen, \
        unterschiede zwischen, unterscheidet sich, unterscheiden sich, gemeinsamkeiten zwischen, gemeinsamkeiten von"),
    ("de", Kind::CompareInfix, "im vergleich zu, im vergleich zum, im vergleich zur, im vergleich mit, verglichen mit, \
        im gegensatz zu, im gegensatz zum, im gegensatz zur, im unterschied zu, anders als, dasselbe wie, das gleiche wie"),
    ("de", Kind::CompareSuffix, "dasselbe, das gleiche, gleich, identisch, austauschbar, gleichwertig, ähnlich"),
    ("de", Kind::Comparative, "besser, schlechter, beste, mehr, weniger, schneller, langsamer, billiger, günstiger, teurer, \
        größer, kleiner, älter, neuer, stärker, schwächer, sicherer, leichter, einfacher, schwieriger, unterschied, \
        unterschiede, vor- und nachteile"),
    ("de", Kind::Than, "als"),
    ("de", Kind::Joiner, "und, oder, mit"),
    ("de", Kind::Alternative, "oder"),
    ("de", Kind::Boundary, "in bezug auf, im hinblick auf, hinsichtlich, bezüglich, wenn, falls, dass, weil, bitte, ist, sind, \
        wird, werden, kann, soll"),
    // "Sie" also addresses the one who is asked, "das" and "die" are articles: they point back only in company.
    ("de", Kind::Pronoun, "es, er, ihn, ihm, ihnen, dies, diese, diesen, diesem, dieser, dieses, jene, jenes, deren, dessen, \
        dort, davon, dafür, dagegen, daran, darauf, daraus, darin, darüber, darunter, dabei, dadurch, damit, dazu, beides, \
        beiden, letztere, letzterer, ersteres, letzteres, ist das, geht das, kostet das, heißt das, macht das, was das"),
    ("de", Kind::Continuation, "was ist mit, wie sieht es mit, wie steht es mit, wie ist es mit, und was, und wie, und wenn, \
        und für, und bei, und mit, und, auch, aber, noch, was noch, sonst noch, mehr dazu, erzähl mehr, mehr über, genauer, \
        weiter, wieso, warum nicht, zum beispiel, beispiel, beispiele, außerdem, stattdessen, trotzdem, andere, anderen"),
    ("de", Kind::Clarification, "ich meinte, ich meine, nein ich, meinst du, meinen sie, du sagtest, sie sagten, bedeutet das, \
        bist du sicher, sind sie sicher, stimmt das, ist das richtig, ist das wahr, ich dachte, ich habe gehört"),
    ("de", Kind::Shift, "neues thema, neue frage, anderes thema, andere frage, themenwechsel, thema wechseln, \
        das thema wechseln, etwas anderes, was anderes, unabhängig davon, vergiss das, ganz anderes"),
    ("de", Kind::Sources, "diese quelle, diese quellen, dieser quelle, diesen quellen, den quellen, welche quelle, \
        welche quellen, welcher quelle, welches dokument, welche dokumente, welchem dokument, dieses dokument, \
        diesem dokument, diese dokumente, diesen dokumenten, dieser artikel, diesem artikel, dieser seite, welcher seite, \
        diesem abschnitt, wo steht das, wo steht es, steht das, zitiere, zitat, zitate, oben zitiert, oben genannt, \
        dieselbe quelle, dieselben quellen, derselben quelle"),
    // Words that carry content in English stay out, although German uses them for grammar: "war", "man", "bin", "art".
    ("de", Kind::Stop, "der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, kein, keine, keinen, und, oder, \
        aber, wenn, weil, dass, von, vom, zu, zum, zur, im, in, an, am, auf, aus, bei, beim, für, mit, nach, seit, über, unter, \
        um, durch, gegen, ohne, zwischen, als, wie, ist, sind, waren, wird, werden, wurde, wurden, sein, hat, haben, hatte, \
        hatten, kann, können, könnte, soll, sollte, sollen, muss, müssen, darf, dürfen, möchte, nicht, auch, nur, noch, schon, \
        sehr, mehr, es, er, sie, ihr, ihn, ihm, ihnen, ihre, ihren, ihrem, ihrer, seine, seinen, seinem, seiner, dies, diese, \
        diesen, diesem, dieser, dieses, dort, hier, ich, mir, mich, mein, meine, meinen, meinem, meiner, wir, uns, unser, \
        unsere, du, dir, dich, dein, deine, wer, wem, wen, was, welche, welcher, welches, welchen, wann, wo, warum, wieso, \
        viel, viele, bitte, gibt, geben, sag, sagen, danke, ja, nein, davon, dafür, dazu, damit, darüber"),
];

/// A set of cues, ready for matching.
#[derive(Clone, Debug)]
pub struct Cues {
    /// By first word: the whole cue as words, and its kind; longest first.
    by_first: BTreeMap<String, Vec<(Vec<String>, Kind)>>,
}

/// A cue found in a text: words `start..end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// First word of the cue.
    pub start: usize,
    /// One past its last word.
    pub end: usize,
    /// The cue as it stands in the table.
    pub cue: String,
}

impl Cues {
    /// The built-in rows, read once a process.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static CUES: LazyLock<Cues> = LazyLock::new(|| {
            Cues::from_rows(BUILT_IN.iter().flat_map(|(language, kind, cues)| {
                cues.split(',')
                    .map(move |cue| (*language, *kind, cue.trim()))
            }))
        });
        &CUES
    }

    /// Cues from rows of language, kind and cue; rows without a word are ignored.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = (&'a str, Kind, &'a str)>) -> Self {
        let mut by_first: BTreeMap<String, Vec<(Vec<String>, Kind)>> = BTreeMap::new();
        for (_language, kind, cue) in rows {
            let words: Vec<String> = cue.unicode_words().map(str::to_lowercase).collect();
            if let Some(first) = words.first() {
                by_first
                    .entry(first.clone())
                    .or_default()
                    .push((words, kind));
            }
        }
        for cues in by_first.values_mut() {
            cues.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        Self { by_first }
    }

    /// Whether a single lower-cased word is a cue of this kind.
    #[must_use]
    pub fn is(&self, word: &str, kind: Kind) -> bool {
        self.by_first
            .get(word)
            .is_some_and(|cues| cues.iter().any(|(words, k)| *k == kind && words.len() == 1))
    }

    /// The longest cue of this kind that starts at word `at` of `words`.
    #[must_use]
    pub fn at(&self, words: &[(usize, String)], at: usize, kind: Kind) -> Option<Found> {
        beat(1);
        let rest = words.get(at..)?;
        let first = &rest.first()?.1;
        self.by_first
            .get(first)?
            .iter()
            .filter(|(_, k)| *k == kind)
            .find_map(|(cue, _)| {
                let fits =
                    rest.len() >= cue.len() && cue.iter().zip(rest).all(|(c, (_, w))| c == w);
                fits.then(|| Found {
                    start: at,
                    end: at + cue.len(),
                    cue: cue.join(" "),
                })
            })
    }

    /// The first cue of this kind in the text.
    #[must_use]
    pub fn find(&self, words: &[(usize, String)], kind: Kind) -> Option<Found> {
        (0..words.len()).find_map(|at| self.at(words, at, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn the_longest_cue_wins_and_words_are_whole() {
        let cues = Cues::built_in();
        let text = words("What is the difference between X and Y?");
        assert_eq!(
            cues.find(&text, Kind::ComparePrefix).unwrap().cue,
            "difference between"
        );
        assert_eq!(cues.find(&words("itemise"), Kind::Pronoun), None);
    }

    #[test]
    fn callers_bring_their_own_rows() {
        let cues = Cues::from_rows([
            ("zh", Kind::CompareInfix, "相比"),
            ("de", Kind::Pronoun, "er"),
        ]);
        assert!(
            cues.find(&words("甲与乙相比"), Kind::CompareInfix)
                .is_some()
        );
        assert!(cues.is("er", Kind::Pronoun));
        assert!(!cues.is("it", Kind::Pronoun));
    }
}
