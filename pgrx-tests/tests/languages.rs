//! Conversations in German, in Chinese and in several languages: searches find the sources, correct citations hold, and citations of
//! a wrong source, with a wrong number or with a negation are detected.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;
use serde_json::{Value, json};

/// A sentence of an answer with its citation as `{words of the passage}`, and the expected status.
type Sentence = (&'static str, &'static str);

const HOLDS: &str = "resolved_current";
const CARRIED: &str = "resolved_carried";
const WRONG_SOURCE: &str = "wrong_source";
const UNSUPPORTED: &str = "unsupported";

/// A turn: the question and the answer.
struct Turn {
    query: &'static str,
    answer: &'static [Sentence],
}

/// Puts a document with one passage per text.
fn put(client: &mut Client, corpus: &str, doc: &str, language: &str, texts: &[&str]) -> Result<()> {
    let passages: Vec<Value> = texts.iter().map(|text| json!({"content": text})).collect();
    client.execute(
        "SELECT reground.put_document($1, $2, passages => $3, title => $2, language => $4)",
        &[&corpus, &doc, &json!(passages), &language],
    )?;
    Ok(())
}

/// Runs a conversation; each citation has the expected status, and searches return the same rows with and without the
/// index.
fn run_conversation(
    client: &mut Client,
    conversation: &str,
    corpus: &str,
    turns: &[Turn],
) -> Result<()> {
    for turn in turns {
        same_without_index(client, corpus, turn.query)?;
        let context = client.query(
            "SELECT turn_id, marker, content FROM reground.begin_turn($1, $2, $3)",
            &[&conversation, &turn.query, &corpus],
        )?;
        let first = context
            .first()
            .with_context(|| format!("nothing was found for {}", turn.query))?;
        let id: i64 = first.get(0);
        let shown: BTreeMap<String, String> =
            context.iter().map(|row| (row.get(2), row.get(1))).collect();
        let mut answer = String::new();
        for (sentence, _) in turn.answer {
            let mut rest = *sentence;
            while let Some((before, after)) = rest.split_once('{') {
                let (words, after) = after.split_once('}').context("a citation that ends")?;
                let marker = shown.iter().find(|(text, _)| text.contains(words));
                let (_, marker) = marker.with_context(|| {
                    format!("{}: {words} is not among {:#?}", turn.query, shown.keys())
                })?;
                answer.push_str(before);
                answer.push_str(marker);
                rest = after;
            }
            answer.push_str(rest);
        }
        let judged = client.query(
            "SELECT status, claim, support FROM reground.end_turn($1, $2) ORDER BY answer_start",
            &[&id, &answer],
        )?;
        let found: Vec<String> = judged.iter().map(|row| row.get(0)).collect();
        let expected: Vec<&str> = turn.answer.iter().map(|(_, status)| *status).collect();
        let told: Vec<(String, Option<String>, Option<f64>)> = judged
            .iter()
            .map(|row| (row.get(0), row.get(1), row.get(2)))
            .collect();
        ensure!(
            found == expected,
            "{answer}\nexpected {expected:?}\njudged {told:#?}"
        );
    }
    Ok(())
}

/// The index and the exact scan return the same passages with the same scores. The index stores lengths up to 40 words exactly, and no
/// passage here is longer.
fn same_without_index(client: &mut Client, corpus: &str, query: &str) -> Result<()> {
    let mut ask = |way: &str| -> Result<Vec<(String, String)>> {
        let rows = client.query(
            "SELECT chunk_id, round(lexical_score::numeric, 9)::text FROM reground.search($1, $2, settings => $3) ORDER BY lexical_rank",
            &[&corpus, &query, &json!({"lexical_search": way})],
        )?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    };
    let (auto, exact) = (ask("auto")?, ask("exact")?);
    ensure!(!auto.is_empty(), "nothing was found for {query}");
    ensure!(
        auto == exact,
        "{query}: by the index {auto:?}, without {exact:?}"
    );
    let lacks = client.query("SELECT detail FROM reground.check_corpus($1) WHERE item = 'lexical index' AND status <> 'ok'", &[&corpus])?;
    ensure!(lacks.is_empty(), "no index serves {corpus}");
    Ok(())
}

const HEAT_PUMP: [&str; 6] = [
    "Die Vorlauftemperatur der Wärmepumpe darf 55 °C nicht überschreiten. Bei Fußbodenheizungen beträgt sie höchstens 35 °C.",
    "Im Verbund von hundert Geräten liefert die Wärmepumpenanlage bis zu 1.234,5 kW Heizleistung.",
    "Der Mindestabstand zur Grundstücksgrenze beträgt 3,0 m; an der Ausblasseite sind 1,5 m freizuhalten.",
    "Das Kältemittel R290 ist brennbar. Arbeiten am Kältekreis dürfen nur zertifizierte Fachbetriebe ausführen.",
    "Der Luftfilter ist alle sechs Monate zu reinigen. Die Garantie erlischt ohne jährliche Wartung.",
    "Der Schallleistungspegel der Wärmepumpe liegt im Nachtbetrieb bei 48 dB(A).",
];

const LIBRARY: [&str; 6] = [
    "Bücher werden für vier Wochen ausgeliehen. Die Leihfrist kann zweimal verlängert werden, sofern keine Vorbestellung vorliegt.",
    "DVDs und Zeitschriften dürfen nicht verlängert werden.",
    "Für jedes verspätet zurückgegebene Medium ist eine Gebühr von 0,50 € je Woche fällig, höchstens jedoch 12,50 €.",
    "Der Jahresausweis der Stadtbücherei kostet 24,00 € für Erwachsene.",
    "Jugendliche unter 18 Jahren zahlen keine Gebühr für den Ausweis.",
    "Der Verlust des Ausweises ist unverzüglich zu melden; ein Ersatzausweis kostet 5,00 €.",
];

const CHINESE_LIBRARY: [&str; 6] = [
    "借书证有效期为一年，到期前可以续办。",
    "成人每次最多可借10本书，借期为30天，可续借一次。",
    "图书逾期每天罚款0.5元，最高不超过50元。",
    "儿童办理借书证不收取任何费用。",
    "参考书和报纸不能外借，只能在馆内阅读。",
    "图书馆周一闭馆，周二至周日上午九点开放。",
];

const CHINESE_HEAT_PUMP: [&str; 4] = [
    "热泵的额定制热功率为12.5千瓦，最高出水温度为55℃。",
    "室外机与围墙之间的距离不得小于1.5米。",
    "滤网应每六个月清洗一次。未按时保养的，保修失效。",
    "制冷剂R290易燃，维修只能由有资质的人员进行。",
];

const ENGLISH: [&str; 4] = [
    "Laptops can be borrowed for 3 hours and must not leave the building.",
    "The reading rooms are open until 10 pm on weekdays.",
    "The heat pump's defrost cycle takes about 8 minutes.",
    "Food is not allowed in the reading rooms.",
];

const GERMAN_TURNS: [Turn; 7] = [
    Turn {
        query: "Welche Vorlauftemperatur ist bei der Wärmepumpe zulässig?",
        answer: &[
            (
                "Die Vorlauftemperatur darf 55 °C nicht überschreiten [{Vorlauftemperatur}]. ",
                HOLDS,
            ),
            (
                "Bei Fußbodenheizungen beträgt sie höchstens 45 °C [{Vorlauftemperatur}]. ",
                UNSUPPORTED,
            ),
            (
                "Die Vorlauftemperatur darf 55 °C überschreiten [{Vorlauftemperatur}].",
                UNSUPPORTED,
            ),
        ],
    },
    Turn {
        query: "Und wie laut sind die Wärmepumpen nachts im Betrieb?",
        answer: &[
            (
                "Der Schallleistungspegel liegt im Nachtbetrieb bei 48 dB(A) [{Schallleistungspegel}]. ",
                HOLDS,
            ),
            (
                "Im Nachtbetrieb liegt der Schallleistungspegel bei 48 dB(A) [{Vorlauftemperatur}].",
                WRONG_SOURCE,
            ),
        ],
    },
    Turn {
        query: "Welche Heizleistung liefert die Wärmepumpenanlage im Verbund?",
        answer: &[
            (
                "Im Verbund liefert die Anlage bis zu 1234,5 kW [{1.234,5 kW}]. ",
                HOLDS,
            ),
            (
                "Im Verbund liefert die Anlage bis zu 12.345 kW [{1.234,5 kW}].",
                UNSUPPORTED,
            ),
        ],
    },
    Turn {
        query: "Anderes Thema: Wie lange kann ich Bücher ausleihen und die Leihfrist verlängern?",
        answer: &[
            (
                "Bücher werden vier Wochen ausgeliehen[{vier Wochen}]. ",
                HOLDS,
            ),
            (
                "Die Leihfrist wird zweimal verlängert, wenn keine Vorbestellung vorliegt [{vier Wochen}]. ",
                HOLDS,
            ),
            (
                "Die Leihfrist kann fünfmal verlängert werden [{vier Wochen}].",
                UNSUPPORTED,
            ),
        ],
    },
    Turn {
        query: "Gilt das mit dem Verlängern auch für DVDs?",
        answer: &[
            ("DVDs dürfen nicht verlängert werden [{DVDs}]. ", HOLDS),
            (
                "DVDs und Zeitschriften dürfen verlängert werden [{DVDs}].",
                UNSUPPORTED,
            ),
        ],
    },
    Turn {
        query: "Und welche Gebühr ist fällig, wenn ich Medien verspätet zurückgebe?",
        answer: &[
            (
                "Je Woche ist eine Gebühr von 0,50 € fällig, höchstens 12,50 € [{0,50 €}]. ",
                HOLDS,
            ),
            (
                "Fällig ist eine Gebühr von 1,50 € je Woche [{0,50 €}].",
                UNSUPPORTED,
            ),
        ],
    },
    Turn {
        query: "Was kostet der Ausweis für Erwachsene und Jugendliche?",
        answer: &[
            (
                "Der Jahresausweis kostet 24 Euro für Erwachsene [{24,00 €}], ",
                HOLDS,
            ),
            (
                "und Jugendliche unter 18 Jahren zahlen keine Gebühr [{unter 18}]. ",
                HOLDS,
            ),
            (
                "Jugendliche unter 18 Jahren zahlen eine Gebühr [{unter 18}].",
                UNSUPPORTED,
            ),
        ],
    },
];

#[test]
fn a_german_conversation() -> Result<()> {
    let database = Database::create("languages_german")?;
    let mut client = database.connect()?;
    client.batch_execute("SET client_min_messages = error; SELECT reground.create_corpus('handbuch', text_config => 'german')")?;
    put(&mut client, "handbuch", "wärmepumpe", "de", &HEAT_PUMP)?;
    put(&mut client, "handbuch", "bücherei", "de", &LIBRARY)?;
    run_conversation(&mut client, "deutsch", "handbuch", &GERMAN_TURNS)
}

#[test]
fn a_chinese_conversation() -> Result<()> {
    let database = Database::create("languages_chinese")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SET client_min_messages = error;
         SELECT reground.create_corpus('规定', text_config => 'reground.bigrams', settings => '{\"language\": \"zh\"}')",
    )?;
    put(&mut client, "规定", "图书馆", "zh", &CHINESE_LIBRARY)?;
    put(&mut client, "规定", "热泵", "zh", &CHINESE_HEAT_PUMP)?;
    let turns = [
        Turn {
            query: "图书逾期要罚款多少？",
            answer: &[
                ("图书逾期每天罚款0.5元【{逾期}】。", HOLDS),
                ("罚款最高不超过50元［{逾期}］！", HOLDS),
                ("图书逾期每天罚款5元[{逾期}]。", UNSUPPORTED),
            ],
        },
        Turn {
            query: "一次最多可以借几本书，借期多长？",
            answer: &[
                ("成人每次最多可借10本书[{10本书}]，", HOLDS),
                ("借期为60天[{10本书}]。", UNSUPPORTED),
                ("成人每次最多可借10本书[{借书证有效期}]。", WRONG_SOURCE),
            ],
        },
        Turn {
            query: "参考书和报纸能外借吗？",
            answer: &[
                ("不能，参考书和报纸不能外借【{参考书}】。", HOLDS),
                ("参考书和报纸能外借【{参考书}】。", UNSUPPORTED),
            ],
        },
        Turn {
            query: "换个话题：热泵的制热功率和出水温度是多少？",
            answer: &[
                ("额定制热功率为12.5千瓦[{额定制热}]。", HOLDS),
                ("最高出水温度为65℃[{额定制热}]。", UNSUPPORTED),
            ],
        },
        Turn {
            query: "热泵的滤网多久清洗一次？不保养会怎样？",
            answer: &[
                ("滤网每六个月清洗一次[{滤网}]。", HOLDS),
                ("未按时保养的，保修失效[{滤网}]。", HOLDS),
                ("滤网每六个月清洗一次[{额定制热}]。", WRONG_SOURCE),
            ],
        },
    ];
    run_conversation(&mut client, "中文", "规定", &turns)
}

#[test]
fn a_conversation_over_documents_in_three_languages() -> Result<()> {
    let database = Database::create("languages_mixed")?;
    let mut client = database.connect()?;
    client.batch_execute("SET client_min_messages = error; SELECT reground.create_corpus('mixed', text_config_per_document => true)")?;
    put(&mut client, "mixed", "Benutzungsordnung", "de", &LIBRARY)?;
    put(&mut client, "mixed", "Handbuch", "de-DE", &HEAT_PUMP)?;
    put(&mut client, "mixed", "图书馆规则", "zh", &CHINESE_LIBRARY)?;
    put(&mut client, "mixed", "House rules", "en", &ENGLISH)?;
    let turns = [
        // One question with words of three languages; each is parsed like the documents of its language.
        Turn {
            query: "Are laptops borrowed overnight? Dürfen DVDs verlängert werden? 参考书能外借吗？",
            answer: &[
                ("Laptops can be borrowed for 3 hours [{Laptops}]. ", HOLDS),
                ("Laptops may leave the building [{Laptops}]. ", UNSUPPORTED),
                ("DVDs dürfen nicht verlängert werden [{DVDs}]. ", HOLDS),
                (
                    "DVDs und Zeitschriften dürfen verlängert werden [{DVDs}]. ",
                    UNSUPPORTED,
                ),
                ("参考书和报纸不能外借[{参考书}]。", HOLDS),
                ("参考书和报纸能外借[{参考书}]。", UNSUPPORTED),
                (
                    "DVDs und Zeitschriften dürfen nicht verlängert werden [{Laptops}]. ",
                    WRONG_SOURCE,
                ),
                ("参考书和报纸不能外借[{DVDs}]。", WRONG_SOURCE),
            ],
        },
        // An English question about a German document: words that are equal in both languages find it.
        Turn {
            query: "Is R290 flammable?",
            answer: &[
                ("Das Kältemittel R290 ist brennbar [{R290}]. ", HOLDS),
                (
                    "Das Kältemittel R290 ist nicht brennbar [{R290}]. ",
                    UNSUPPORTED,
                ),
            ],
        },
        Turn {
            query: "Welche Gebühr ist fällig, und 逾期罚款多少？",
            answer: &[
                (
                    "Je Woche ist eine Gebühr von 0,50 € fällig, höchstens 12,50 € [{0,50 €}]. ",
                    HOLDS,
                ),
                ("图书逾期每天罚款0.5元[{逾期}]。", HOLDS),
                ("图书逾期每天罚款1.5元[{逾期}]。", UNSUPPORTED),
            ],
        },
    ];
    run_conversation(&mut client, "mixed", "mixed", &turns)?;
    // The language of the judgement is stored with the citation.
    let languages = client.query(
        "SELECT DISTINCT support_parts ->> 'language' FROM reground.message_citations WHERE support_parts ->> 'language' IS NOT NULL ORDER BY 1",
        &[],
    )?;
    let languages: Vec<String> = languages.iter().map(|row| row.get(0)).collect();
    ensure!(languages == ["de", "en", "zh"], "{languages:?}");
    Ok(())
}

#[test]
fn a_carried_source_is_judged_in_its_language() -> Result<()> {
    let database = Database::create("languages_carried")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SET client_min_messages = error;
         SELECT reground.create_corpus('mixed', text_config_per_document => true, settings => '{\"carry_threshold\": 0, \"query_from\": \"turn\"}')",
    )?;
    put(&mut client, "mixed", "Benutzungsordnung", "de", &LIBRARY)?;
    put(&mut client, "mixed", "House rules", "en", &ENGLISH)?;
    let turns = [
        Turn {
            query: "Dürfen DVDs verlängert werden?",
            answer: &[("DVDs dürfen nicht verlängert werden [{DVDs}].", HOLDS)],
        },
        Turn {
            query: "and those laptops?",
            answer: &[
                (
                    "DVDs und Zeitschriften dürfen verlängert werden [{DVDs}]. ",
                    UNSUPPORTED,
                ),
                ("DVDs dürfen nicht verlängert werden [{DVDs}]. ", CARRIED),
                ("Laptops must not leave the building [{Laptops}].", HOLDS),
            ],
        },
    ];
    run_conversation(&mut client, "carried", "mixed", &turns)
}
