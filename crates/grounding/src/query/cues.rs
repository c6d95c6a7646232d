//! Cue words: the words of a language that compare, point back, change the subject, or ask about the sources.
//!
//! A cue is a row `(language, kind, cue)`. Callers can replace or extend the built-in rows. All languages are matched
//! at once, because a turn is short and may mix languages.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use reground_interrupt::check_interrupt;
use unicode_segmentation::UnicodeSegmentation;

/// The meaning of a cue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A comparison cue before its members: "difference between X and Y".
    ComparePrefix,
    /// An assessment, which is a comparison only if it has two members: "pros and cons of X and Y".
    AssessPrefix,
    /// A word that joins the members of an assessment: "and". "pros and cons of moving to Berlin" has one member.
    AssessJoiner,
    /// A comparison cue between its members: "X versus Y".
    CompareInfix,
    /// A comparison cue after its members: "are X and Y the same".
    CompareSuffix,
    /// A comparative or a choice that makes a comparison only with two members: "better", "which is".
    Comparative,
    /// A comparative followed by the word that it grades: "more reliable".
    Degree,
    /// The word after a comparative: "than".
    Than,
    /// A word that joins the members of a comparison: "and", "with".
    Joiner,
    /// A word that joins alternatives: "or".
    Alternative,
    /// A word that ends the members of a comparison: "in terms of", "that".
    Boundary,
    /// A word that refers to an earlier one: "it", "they".
    Pronoun,
    /// An opening that continues the previous turn: "what about", "and".
    Continuation,
    /// A correction or a question back: "I meant".
    Clarification,
    /// A change of subject: "on another note".
    Shift,
    /// A question about the sources themselves: "in that document".
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
    ("en", Kind::AssessPrefix, "pros and cons of, pros cons of, advantages and disadvantages of, advantages or disadvantages of, \
        benefits and drawbacks of, strengths and weaknesses of, trade offs of, tradeoffs of, trade offs between, \
        tradeoffs between"),
    ("en", Kind::AssessJoiner, "and, or, versus, vs, against"),
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
    ("de", Kind::AssessPrefix, "vor und nachteile von, vor und nachteile der, vor und nachteile des, vorteile und nachteile von, \
        vorteile und nachteile der, vorteile und nachteile des, stärken und schwächen von"),
    ("de", Kind::AssessJoiner, "und, oder, gegenüber"),
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
    // "Sie" is also a form of address, and "das" and "die" are articles. They count only in the phrases listed here.
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
    // Words that carry content in English are left out, although German uses them for grammar: "war", "man", "bin",
    // "art".
    ("de", Kind::Stop, "der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, kein, keine, keinen, und, oder, \
        aber, wenn, weil, dass, von, vom, zu, zum, zur, im, in, an, am, auf, aus, bei, beim, für, mit, nach, seit, über, unter, \
        um, durch, gegen, ohne, zwischen, als, wie, ist, sind, waren, wird, werden, wurde, wurden, sein, hat, haben, hatte, \
        hatten, kann, können, könnte, soll, sollte, sollen, muss, müssen, darf, dürfen, möchte, nicht, auch, nur, noch, schon, \
        sehr, mehr, es, er, sie, ihr, ihn, ihm, ihnen, ihre, ihren, ihrem, ihrer, seine, seinen, seinem, seiner, dies, diese, \
        diesen, diesem, dieser, dieses, dort, hier, ich, mir, mich, mein, meine, meinen, meinem, meiner, wir, uns, unser, \
        unsere, du, dir, dich, dein, deine, wer, wem, wen, was, welche, welcher, welches, welchen, wann, wo, warum, wieso, \
        viel, viele, bitte, gibt, geben, sag, sagen, danke, ja, nein, davon, dafür, dazu, damit, darüber"),
    // For other languages, only cues without another meaning in English or German, because all languages are matched at
    // once.
    ("fr", Kind::ComparePrefix, "comparer, compare avec, comparaison entre, différence entre, différences entre, quelle différence, points communs entre"),
    ("fr", Kind::CompareInfix, "par rapport à, par rapport au, par rapport aux, comparé à, comparée à, en comparaison de, contrairement à, différent de"),
    ("fr", Kind::Joiner, "et"),
    ("fr", Kind::Continuation, "et pour, et si, et avec, et les, et le, et la, qu'en est, et quand, et comment, par exemple, plus de détails, quoi d'autre, pourquoi pas"),
    ("fr", Kind::Clarification, "je voulais dire, je veux dire, tu veux dire, vous voulez dire, êtes vous sûr, es tu sûr, est ce vrai"),
    ("fr", Kind::Shift, "nouveau sujet, nouvelle question, autre sujet, autre question, changeons de sujet, change de sujet, autre chose, rien à voir"),
    ("fr", Kind::Sources, "cette source, ces sources, quelle source, quelles sources, quel document, quels documents, ce document, ces documents, cet article, \
        cette page, quelle page, ce passage, où est ce écrit, où est il écrit, cité ci dessus, même source, mêmes sources"),
    ("es", Kind::ComparePrefix, "comparar, comparación entre, diferencia entre, diferencias entre, qué diferencia, similitudes entre"),
    ("es", Kind::CompareInfix, "en comparación con, comparado con, comparada con, a diferencia de, frente a, diferente de, distinto de"),
    ("es", Kind::Continuation, "y para, y si, y con, y los, y las, y el, y la, y qué, y cómo, y cuándo, qué tal, por ejemplo, más detalles, qué más, por qué no"),
    ("es", Kind::Clarification, "quise decir, quiero decir, quieres decir, quiere decir, estás seguro, está seguro, es verdad"),
    ("es", Kind::Shift, "nuevo tema, nueva pregunta, otro tema, otra pregunta, cambiando de tema, cambiemos de tema, cambio de tema, otra cosa"),
    ("es", Kind::Sources, "esta fuente, estas fuentes, esa fuente, qué fuente, qué fuentes, cuál fuente, qué documento, qué documentos, este documento, ese documento, \
        estos documentos, este artículo, esta página, qué página, dónde dice, dónde está escrito, citado arriba, la misma fuente, las mismas fuentes"),
    ("it", Kind::ComparePrefix, "confronta, confrontare, confronto tra, confronto fra, differenza tra, differenza fra, differenze tra, differenze fra"),
    ("it", Kind::CompareInfix, "rispetto a, rispetto al, rispetto alla, in confronto a, a differenza di, diverso da, diversa da"),
    ("it", Kind::Continuation, "e per, e se, e con, e gli, e i, e il, e le, e quando, e come, che ne dici, per esempio, ad esempio, più dettagli, cos'altro, perché no"),
    ("it", Kind::Clarification, "volevo dire, voglio dire, intendi dire, intende dire, sei sicuro, è sicuro, è vero"),
    ("it", Kind::Shift, "nuovo argomento, nuova domanda, altro argomento, altra domanda, un'altra domanda, cambiamo argomento, cambiando argomento, tutt'altro"),
    ("it", Kind::Sources, "questa fonte, queste fonti, quella fonte, quale fonte, quali fonti, quale documento, quali documenti, questo documento, questi documenti, \
        questo articolo, questa pagina, quale pagina, dove c'è scritto, dov'è scritto, citato sopra, la stessa fonte, le stesse fonti"),
    ("pt", Kind::ComparePrefix, "comparar, comparação entre, diferença entre, diferenças entre, qual a diferença, semelhanças entre"),
    ("pt", Kind::CompareInfix, "em comparação com, comparado com, comparada com, ao contrário de, em relação a, diferente de"),
    ("pt", Kind::Continuation, "e para, e se, e com, e os, e as, e quando, e como, e quanto, que tal, por exemplo, mais detalhes, o que mais, por que não"),
    ("pt", Kind::Clarification, "quis dizer, quero dizer, você quer dizer, tem certeza, é verdade"),
    ("pt", Kind::Shift, "novo assunto, nova pergunta, outro assunto, outra pergunta, mudando de assunto, mudar de assunto, outra coisa"),
    ("pt", Kind::Sources, "esta fonte, estas fontes, essa fonte, essas fontes, qual fonte, quais fontes, que fonte, qual documento, quais documentos, este documento, \
        esse documento, estes documentos, este artigo, esta página, qual página, onde diz, onde está escrito, citado acima, mesma fonte, mesmas fontes"),
    ("nl", Kind::ComparePrefix, "vergelijk, vergelijken, vergelijking tussen, verschil tussen, verschillen tussen, overeenkomsten tussen"),
    ("nl", Kind::CompareInfix, "vergeleken met, in vergelijking met, in tegenstelling tot, anders dan, hetzelfde als"),
    ("nl", Kind::Joiner, "en"),
    ("nl", Kind::Continuation, "en voor, en als, en met, en hoe, en wat, en wanneer, hoe zit het, wat nog meer, bijvoorbeeld, meer details, waarom niet, vertel meer"),
    ("nl", Kind::Clarification, "ik bedoelde, ik bedoel, bedoel je, bedoelt u, weet je het zeker, weet u het zeker, is dat waar"),
    ("nl", Kind::Shift, "nieuw onderwerp, nieuwe vraag, ander onderwerp, andere vraag, iets anders, van onderwerp veranderen"),
    ("nl", Kind::Sources, "deze bron, deze bronnen, die bron, welke bron, welke bronnen, welk document, welke documenten, dit document, deze documenten, dit artikel, \
        deze pagina, welke pagina, waar staat dat, waar staat het, hierboven geciteerd, dezelfde bron, dezelfde bronnen"),
    ("ru", Kind::ComparePrefix, "сравни, сравните, сравнить, сравнение, разница между, различие между, различия между, отличие между, чем отличается, чем отличаются"),
    ("ru", Kind::CompareInfix, "по сравнению с, в отличие от, отличается от, отличаются от, против"),
    ("ru", Kind::CompareSuffix, "одинаковы, одно и то же"),
    ("ru", Kind::Joiner, "и, или, с, от"),
    ("ru", Kind::Alternative, "или"),
    ("ru", Kind::Pronoun, "он, она, оно, они, его, её, ее, их, ему, ей, им, это, этот, эта, эти, этого, этой, этих, тот, та, те, там"),
    ("ru", Kind::Continuation, "а если, а для, а как, а когда, а что, а с, и, ещё, еще, а ещё, что ещё, что еще, например, подробнее, почему нет, также, тоже"),
    ("ru", Kind::Clarification, "я имел в виду, я имела в виду, вы имеете в виду, ты имеешь в виду, вы уверены, ты уверен, это правда"),
    ("ru", Kind::Shift, "новая тема, новый вопрос, другая тема, другой вопрос, сменим тему, другое дело, о другом"),
    ("ru", Kind::Sources, "этот источник, эти источники, какой источник, какие источники, каком источнике, какой документ, какие документы, каком документе, \
        этот документ, этом документе, эти документы, этих документов, эта статья, этой странице, какой странице, где это написано, где написано, тот же источник, те же источники"),
    ("ru", Kind::Stop, "и, в, во, не, на, с, со, как, а, то, все, так, но, да, ты, к, у, же, вы, за, бы, по, только, мне, было, вот, от, меня, нет, о, из, \
        ли, если, или, ни, быть, был, была, были, до, вас, для, мы, чем, сам, без, что, кто, где, когда, какой, какая, какие, сколько, есть, можно, может"),
    ("zh", Kind::ComparePrefix, "比较, 比較, 对比, 對比, 相比"),
    ("zh", Kind::CompareInfix, "相比, 相较于, 相較於"),
    ("zh", Kind::CompareSuffix, "的区别, 的區別, 有什么区别, 有什麼區別, 有何区别, 有何區別, 的差别, 的差別, 有什么不同, 有什麼不同, 的不同, 一样吗, 一樣嗎, 相同吗, 相同嗎"),
    ("zh", Kind::Joiner, "和, 与, 與, 跟, 同"),
    ("zh", Kind::Alternative, "还是, 還是, 或者"),
    ("zh", Kind::Pronoun, "它, 它们, 它們, 他, 她, 他们, 他們, 这个, 這個, 那个, 那個, 这些, 這些, 那些, 这样, 這樣, 那里, 那裡, 其中"),
    ("zh", Kind::Continuation, "那么, 那麼, 那, 还有, 還有, 另外, 如果, 比如, 例如, 具体, 具體, 详细, 詳細, 继续, 繼續, 为什么不, 為什麼不"),
    ("zh", Kind::Clarification, "我的意思是, 你是说, 你是說, 你的意思是, 你确定, 你確定, 真的吗, 真的嗎"),
    ("zh", Kind::Shift, "换个话题, 換個話題, 换一个话题, 換一個話題, 新话题, 新話題, 新问题, 新問題, 另一个问题, 另一個問題, 另外一个问题, 不相关的"),
    ("zh", Kind::Sources, "这个来源, 這個來源, 这些来源, 這些來源, 哪个来源, 哪個來源, 哪些来源, 哪些來源, 哪个文件, 哪份文件, 哪个文档, 哪些文件, 这份文件, 這份文件, \
        这个文档, 这些文件, 哪一页, 哪一頁, 这一页, 這一頁, 在哪里写, 哪里写着, 哪裡寫著, 出处, 出處, 同一来源, 上面引用"),
    ("ja", Kind::CompareInfix, "と比べて, と比較して, に比べて, に対して"),
    ("ja", Kind::CompareSuffix, "の違い, の違いは, どう違う, どう違いますか, を比較, の比較, 同じですか"),
    ("ja", Kind::Joiner, "と"),
    ("ja", Kind::Pronoun, "それ, これ, その, この, あれ, あの, 彼, 彼女, 彼ら, そこ"),
    ("ja", Kind::Continuation, "では, それでは, また, さらに, 他に, ほかに, 例えば, たとえば, もっと詳しく, 詳しく"),
    ("ja", Kind::Shift, "話は変わり, 話を変え, 別の質問, 別の話, 新しい質問, 新しい話題"),
    ("ja", Kind::Sources, "この資料, その資料, どの資料, この文書, その文書, どの文書, どのページ, このページ, 出典, 引用元, どこに書いて, 同じ資料"),
];

/// A set of cues, indexed for matching.
#[derive(Clone, Debug)]
pub struct Cues {
    /// By first word: the words of the whole cue and its kind, longest first.
    by_first: BTreeMap<String, Vec<(Vec<String>, Kind)>>,
}

/// A cue found in a text: words `start..end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CueMatch {
    /// First word of the cue.
    pub start: usize,
    /// One past its last word.
    pub end: usize,
    /// The cue as listed in the table.
    pub cue: String,
}

impl Cues {
    /// The built-in rows, parsed once per process.
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

    /// Cues from rows of language, kind and cue. Rows without a word are ignored.
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
    pub fn at(&self, words: &[(usize, String)], at: usize, kind: Kind) -> Option<CueMatch> {
        check_interrupt(1);
        let rest = words.get(at..)?;
        let first = &rest.first()?.1;
        self.by_first
            .get(first)?
            .iter()
            .filter(|(_, k)| *k == kind)
            .find_map(|(cue, _)| {
                let fits =
                    rest.len() >= cue.len() && cue.iter().zip(rest).all(|(c, (_, w))| c == w);
                fits.then(|| CueMatch {
                    start: at,
                    end: at + cue.len(),
                    cue: cue.join(" "),
                })
            })
    }

    /// The first cue of this kind in the text.
    #[must_use]
    pub fn find(&self, words: &[(usize, String)], kind: Kind) -> Option<CueMatch> {
        (0..words.len()).find_map(|at| self.at(words, at, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(usize, String)> {
        let words = text.unicode_word_indices();
        words.map(|(at, word)| (at, word.to_lowercase())).collect()
    }

    #[test]
    fn the_longest_cue_of_whole_words_matches() {
        let cues = Cues::built_in();
        let text = words("What is the difference between X and Y?");
        assert_eq!(
            cues.find(&text, Kind::ComparePrefix).unwrap().cue,
            "difference between"
        );
        assert_eq!(cues.find(&words("itemise"), Kind::Pronoun), None);
    }

    #[test]
    fn callers_can_provide_their_own_rows() {
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
