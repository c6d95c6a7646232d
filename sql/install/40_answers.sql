-- Answers, their citations with verdicts, and the words that judge support.

CREATE TABLE reground.citation_statuses (
    status             text PRIMARY KEY,
    holds              boolean,
    score              double precision,
    hallucination_mode text,
    meaning            text NOT NULL
);
COMMENT ON TABLE reground.citation_statuses IS 'Verdicts that a citation can have.';
COMMENT ON COLUMN reground.citation_statuses.status IS 'Name of the verdict, as in message_citations.status.';
COMMENT ON COLUMN reground.citation_statuses.holds IS 'Whether a citation with this status holds; NULL if undecided.';
COMMENT ON COLUMN reground.citation_statuses.score IS 'Fidelity score of the coordinates, 0 to 1; NULL is excluded from means.';
COMMENT ON COLUMN reground.citation_statuses.hallucination_mode IS 'Hallucination mode that the status belongs to.';
COMMENT ON COLUMN reground.citation_statuses.meaning IS 'Meaning of the status.';
INSERT INTO reground.citation_statuses (status, holds, score, hallucination_mode, meaning) VALUES
    ('resolved_current',         true,  1.0,  NULL,                    'names a source that this turn brought into the context'),
    ('resolved_carried',         true,  1.0,  NULL,                    'names a source carried into the context from an earlier turn'),
    ('wrong_source',             false, 1.0,  'cross_text_conflation', 'names a source of the context, but another one contains the content'),
    ('unsupported',              false, 1.0,  'paraphrase_attribution','names a source of the context that does not contain the content'),
    ('insufficient_attribution', false, 1.0,  NULL,                    'the content spans several sources, not all of them cited'),
    ('unretrieved',              false, 0.3,  NULL,                    'the place exists and contains the content, but was not in the context'),
    ('invalid_page',             false, 0.3,  NULL,                    'the place exists, but the content is not there'),
    ('stale_turn',               false, 0.3,  NULL,                    'names a marker of this conversation whose source is not in the context of this turn'),
    ('out_of_bounds',            false, 0.0,  'fabricated_coordinate', 'names a place that the document does not have'),
    ('unknown_id',               false, 0.0,  'fabricated_coordinate', 'names an id that does not exist'),
    ('imprecise',                true,  1.0,  NULL,                    'names a source loosely, in prose, and exactly one source fits'),
    ('malformed',                NULL,  NULL, NULL,                    'looks like a citation, but cannot be parsed'),
    ('unresolvable',             NULL,  NULL, NULL,                    'names only author and year, or a source that may no longer be read');

CREATE TABLE reground.support_cues (
    language text NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('negation', 'no_negation', 'decimal', 'number', 'scale', 'measure')),
    cue      text NOT NULL CHECK (cue <> '' AND (kind <> 'decimal' OR cue IN ('.', ','))
                            AND (kind <> 'number' OR cue ~ '^[^=]+=([0-9]+(\.[0-9]+)?)?$')
                            AND (kind <> 'scale' OR cue ~ '^[^=]+=[0-9]{1,18}$')
                            AND (kind <> 'measure' OR cue ~ '^[^=]+=[^=]+$')),
    built_in boolean NOT NULL DEFAULT false,
    -- A later release may ship a cue that a user has added. Both rows can exist, so that a dump of the user's row can be restored.
    PRIMARY KEY (language, kind, cue, built_in)
);
COMMENT ON TABLE reground.support_cues IS 'Words of each language for negation and numbers, used to judge support. Insert rows for further words or languages. Without negations for a language, denials are not checked.';
COMMENT ON COLUMN reground.support_cues.language IS 'Language code, as in the setting language, for example en.';
COMMENT ON COLUMN reground.support_cues.kind IS 'negation: a word that denies, or the end of such a word (n''t). no_negation: a longer phrase that begins with a negation, in Chinese and Japanese contains one, and does not deny (not only). decimal: the decimal separator, point or comma. number: a word and its value (twelve=12), or a joining word without a value (and=). scale: a word after a number, and its factor (million=1000000). measure: a word after a number, and its symbol (percent=%).';
COMMENT ON COLUMN reground.support_cues.cue IS 'The word or sign.';
COMMENT ON COLUMN reground.support_cues.built_in IS 'Whether the row came with the extension; other rows are dumped with the database.';
INSERT INTO reground.support_cues (language, kind, cue, built_in) SELECT language, kind, cue, true FROM (VALUES
    ('en', 'negation', 'not no never none nor neither without cannot nobody nothing nowhere hardly scarcely rarely unable fail fails failed lack lacks lacking n''t'),
    ('en', 'no_negation', 'not_only not_just not_merely no_more_than no_less_than no_fewer_than no_later_than no_doubt none_other_than no_information no_mention not_have_information not_have_any_information not_have_much_information not_have_enough_information not_mention not_mentioned not_specify not_specified'),
    ('en', 'decimal', '.'),
    ('en', 'number', 'zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 half=0.5 a_hundred=100 a_thousand=1000 a_million=1000000 a_billion=1000000000 a_dozen=12 half_a_dozen=6 half_a_million=500000 and='),
    ('en', 'scale', 'hundred=100 thousand=1000 million=1000000 billion=1000000000 trillion=1000000000000 dozen=12 k=1000 m=1000000 b=1000000000 mn=1000000 bn=1000000000 tn=1000000000000'),
    ('en', 'measure', 'percent=% per_cent=% gram=g grams=g kilogram=kg kilograms=kg milligram=mg milligrams=mg ounce=oz ounces=oz metre=m metres=m meter=m meters=m kilometre=km kilometres=km kilometer=km kilometers=km centimetre=cm centimetres=cm centimeter=cm centimeters=cm millimetre=mm millimetres=mm millimeter=mm millimeters=mm mile=mi miles=mi foot=ft feet=ft inch=in inches=in litre=l litres=l liter=l liters=l millilitre=ml millilitres=ml milliliter=ml milliliters=ml second=s seconds=s minute=min minutes=min hour=h hours=h day=d days=d week=wk weeks=wk month=mo months=mo year=yr years=yr degrees_celsius=°C degrees_fahrenheit=°F dollar=$ dollars=$ euro=€ euros=€ yen=¥ kilobyte=kB kilobytes=kB megabyte=MB megabytes=MB gigabyte=GB gigabytes=GB terabyte=TB terabytes=TB watt=W watts=W volt=V volts=V'),
    ('de', 'negation', 'nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends weder ohne kaum'),
    ('de', 'no_negation', 'nicht_nur nicht_bloß nicht_mehr_als nicht_weniger_als'),
    ('de', 'decimal', ','),
    ('de', 'number', 'null=0 eins=1 zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 dreizehn=13 vierzehn=14 fünfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 dreißig=30 vierzig=40 fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90 hundert=100 tausend=1000 eine_million=1000000 eine_milliarde=1000000000 ein_dutzend=12 zweimal=2 dreimal=3 viermal=4 fünfmal=5 sechsmal=6 siebenmal=7 achtmal=8 neunmal=9 zehnmal=10'),
    ('de', 'scale', 'hundert=100 tausend=1000 million=1000000 millionen=1000000 milliarde=1000000000 milliarden=1000000000 dutzend=12 mio=1000000 mrd=1000000000'),
    ('de', 'measure', 'prozent=% gramm=g kilogramm=kg kilo=kg milligramm=mg meter=m metern=m kilometer=km kilometern=km zentimeter=cm zentimetern=cm millimeter=mm millimetern=mm liter=l litern=l sekunde=s sekunden=s minute=min minuten=min stunde=h stunden=h tag=d tage=d tagen=d woche=wk wochen=wk monat=mo monate=mo monaten=mo jahr=yr jahre=yr jahren=yr grad_celsius=°C euro=€ dollar=$'),
    ('fr', 'negation', 'pas jamais aucun aucune rien personne sans ni nulle guère'),
    ('fr', 'no_negation', 'pas_seulement pas_plus_de pas_moins_de'),
    ('fr', 'decimal', ','),
    ('fr', 'number', 'deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 dix=10 onze=11 douze=12 treize=13 quatorze=14 quinze=15 seize=16 vingt=20 trente=30 quarante=40 cinquante=50 soixante=60 cent=100'),
    ('fr', 'scale', 'mille=1000 million=1000000 millions=1000000 milliard=1000000000 milliards=1000000000'),
    ('fr', 'measure', 'pour_cent=% euro=€ euros=€ dollar=$ dollars=$'),
    ('es', 'negation', 'no nunca jamás ningún ninguno ninguna nadie nada ni sin tampoco'),
    ('es', 'no_negation', 'no_solo no_sólo no_más_de no_menos_de'),
    ('es', 'decimal', ','),
    ('es', 'number', 'dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12 trece=13 catorce=14 quince=15 veinte=20 treinta=30 cuarenta=40 cincuenta=50 sesenta=60 setenta=70 ochenta=80 noventa=90 cien=100'),
    ('es', 'scale', 'mil=1000 millón=1000000 millones=1000000'),
    ('es', 'measure', 'por_ciento=% euro=€ euros=€ dólar=$ dólares=$'),
    ('it', 'negation', 'non mai nessun nessuno nessuna niente nulla né senza neanche nemmeno neppure'),
    ('it', 'decimal', ','),
    ('it', 'number', 'due=2 tre=3 quattro=4 cinque=5 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12 tredici=13 quattordici=14 quindici=15 venti=20 trenta=30 quaranta=40 cinquanta=50 sessanta=60 settanta=70 ottanta=80 novanta=90 cento=100'),
    ('it', 'scale', 'milione=1000000 milioni=1000000 miliardo=1000000000 miliardi=1000000000'),
    ('it', 'measure', 'per_cento=% euro=€ dollari=$'),
    ('pt', 'negation', 'não nunca jamais nenhum nenhuma ninguém nada nem sem tampouco'),
    ('pt', 'decimal', ','),
    ('pt', 'number', 'dois=2 duas=2 três=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12 treze=13 catorze=14 quinze=15 vinte=20 trinta=30 quarenta=40 cinquenta=50 sessenta=60 setenta=70 oitenta=80 noventa=90 cem=100'),
    ('pt', 'scale', 'mil=1000 milhão=1000000 milhões=1000000 bilhão=1000000000 bilhões=1000000000'),
    ('pt', 'measure', 'por_cento=% euro=€ euros=€ dólar=$ dólares=$'),
    ('nl', 'negation', 'niet geen nooit niemand niets nergens noch zonder nauwelijks'),
    ('nl', 'decimal', ','),
    ('nl', 'number', 'twee=2 drie=3 vier=4 vijf=5 zes=6 zeven=7 acht=8 negen=9 tien=10 elf=11 twaalf=12 dertien=13 veertien=14 vijftien=15 twintig=20 dertig=30 veertig=40 vijftig=50 zestig=60 zeventig=70 tachtig=80 negentig=90 honderd=100 tweemaal=2 driemaal=3'),
    ('nl', 'scale', 'duizend=1000 miljoen=1000000 miljard=1000000000'),
    ('nl', 'measure', 'procent=% euro=€ dollar=$'),
    ('ru', 'negation', 'не нет ни никогда никто ничто ничего нигде без нельзя'),
    ('ru', 'decimal', ','),
    ('ru', 'number', 'два=2 две=2 двух=2 три=3 трёх=3 трех=3 четыре=4 пять=5 шесть=6 семь=7 восемь=8 девять=9 десять=10 двенадцать=12 пятнадцать=15 двадцать=20 тридцать=30 сорок=40 пятьдесят=50 сто=100 дважды=2 трижды=3'),
    ('ru', 'scale', 'тыс=1000 тысяч=1000 тысячи=1000 млн=1000000 миллион=1000000 миллиона=1000000 миллионов=1000000 млрд=1000000000 миллиард=1000000000 миллиарда=1000000000 миллиардов=1000000000'),
    ('ru', 'measure', 'процент=% процента=% процентов=% евро=€ рублей=₽ долларов=$'),
    ('zh', 'negation', '不 没 沒 未 无 無 并非 並非 否认 否認'),
    ('zh', 'no_negation', '不同 不仅 不僅 不但 不断 不斷 不过 不過 不管 不论 不論 不少 不久 不禁 差不多 未来 未來 无论 無論'),
    ('zh', 'decimal', '.'),
    ('zh', 'scale', '百万=1000000 百萬=1000000 千万=10000000 千萬=10000000 万=10000 萬=10000 亿=100000000 億=100000000'),
    ('ja', 'negation', 'ない なかっ ません 不 未 無 非'),
    ('ja', 'no_negation', '少ない 非常 未来 不思議 かもしれない かもしれません'),
    ('ja', 'decimal', '.'),
    ('ja', 'scale', '百万=1000000 千万=10000000 万=10000 億=100000000 兆=1000000000000')
) AS b(language, kind, cues), pg_catalog.string_to_table(cues, ' ') AS c(words), pg_catalog.replace(c.words, '_', ' ') AS cue;

CREATE TABLE reground.messages (
    message_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant          text NOT NULL,
    conversation_id bigint NOT NULL,
    turn_id         bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    message_ref     text,
    answer          text,
    answer_hash     text NOT NULL,
    answer_tokens   integer NOT NULL,
    model           text,
    usage           jsonb,
    citations       jsonb,
    citations_hash  text,
    tags            jsonb NOT NULL DEFAULT '{}',
    citation_count  integer NOT NULL,
    malformed_count integer NOT NULL,
    cfs             double precision,
    stage_cfs       double precision,
    grounded_cfs    double precision,
    diagnostic      text,
    decision        text NOT NULL CHECK (decision IN ('accept', 'regenerate')),
    reasons         text[] NOT NULL DEFAULT '{}',
    superseded      boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    origin          text NOT NULL DEFAULT 'live' CHECK (origin IN ('live', 'imported')),
    -- Without a foreign key: pg_dump --inserts could write the copy before its original. Both have the same turn, with which they are deleted.
    repair_of       bigint,
    repair_mode     text CHECK (repair_mode IN ('mark', 'repoint', 'strict')),
    UNIQUE (conversation_id, message_ref),
    UNIQUE (repair_of, repair_mode),
    CHECK ((repair_of IS NULL) = (repair_mode IS NULL) AND (superseded OR repair_of IS NULL))
);
CREATE INDEX messages_turn ON reground.messages (turn_id);
CREATE INDEX messages_created ON reground.messages USING brin (created_at);
COMMENT ON TABLE reground.messages IS 'One row per answer. A regenerated answer supersedes earlier answers of its turn, which stay.';
COMMENT ON COLUMN reground.messages.message_id IS 'Key.';
COMMENT ON COLUMN reground.messages.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.messages.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.messages.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.messages.message_ref IS 'The application''s id of the answer, unique within the conversation.';
COMMENT ON COLUMN reground.messages.answer IS 'The answer of the model; NULL with store_answers hash.';
COMMENT ON COLUMN reground.messages.answer_hash IS 'SHA-256 (hex) of the answer, byte for byte.';
COMMENT ON COLUMN reground.messages.answer_tokens IS 'Tokens (o200k_base) of the answer.';
COMMENT ON COLUMN reground.messages.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.messages.usage IS 'Usage record of the model''s API.';
COMMENT ON COLUMN reground.messages.citations IS 'Citations that the model''s API returned besides the text, if given; they replace citations in the text. NULL with store_answers hash, or after a document of the context was forgotten.';
COMMENT ON COLUMN reground.messages.citations_hash IS 'SHA-256 (hex) of citations, to recognise a repeated call if they are not stored.';
COMMENT ON COLUMN reground.messages.tags IS 'Tags of the application.';
COMMENT ON COLUMN reground.messages.citation_count IS 'Number of citations in the answer.';
COMMENT ON COLUMN reground.messages.malformed_count IS 'Number of these that cannot be parsed.';
COMMENT ON COLUMN reground.messages.cfs IS 'Citation fidelity score of the answer, 0 to 1; NULL without citations.';
COMMENT ON COLUMN reground.messages.stage_cfs IS 'Mean product of the five stage factors over the citations.';
COMMENT ON COLUMN reground.messages.grounded_cfs IS 'Mean of score × support over the citations.';
COMMENT ON COLUMN reground.messages.diagnostic IS 'no_citations_found, or NULL.';
COMMENT ON COLUMN reground.messages.decision IS 'accept or regenerate.';
COMMENT ON COLUMN reground.messages.reasons IS 'Reasons to regenerate the answer: unknown_id, out_of_bounds, contradicted, few_hold, malformed, low_cfs, low_grounded_cfs, no_citations, one_sided. Empty if it is accepted.';
COMMENT ON COLUMN reground.messages.superseded IS 'Whether a later answer of the same turn replaced this answer, or it is a corrected copy; such answers are left out of figures.';
COMMENT ON COLUMN reground.messages.created_at IS 'When end_turn was called, or the time given to record_turn.';
COMMENT ON COLUMN reground.messages.origin IS 'live, or imported (record_turn). Service level indicators, rollups and alerts count live answers only.';

COMMENT ON COLUMN reground.messages.repair_of IS 'The answer that this one is a corrected copy of (repair_answer); NULL for an answer of a model.';
COMMENT ON COLUMN reground.messages.repair_mode IS 'mark, repoint or strict; NULL for an answer of a model.';

CREATE TABLE reground.message_citations (
    citation_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant              text NOT NULL,
    conversation_id     bigint NOT NULL,
    turn_id             bigint NOT NULL,
    message_id          bigint NOT NULL REFERENCES reground.messages ON DELETE CASCADE,
    citation_no         integer NOT NULL,
    marker              text,
    raw                 text NOT NULL,
    form                text,
    scope               text NOT NULL DEFAULT 'sentence' CHECK (scope IN ('sentence', 'answer')),
    corpus              text,
    doc_id              text,
    chunk_id            text,
    title               text,
    uri                 text,
    locator             text,
    claim               text,
    quote               text,
    quote_start         integer,
    quote_end           integer,
    fact_summary        text,
    status              text NOT NULL REFERENCES reground.citation_statuses,
    holds               boolean,
    hallucination_mode  text,
    score               double precision,
    coordinate_fidelity double precision,
    support             double precision,
    support_parts       jsonb,
    diagnostic          text,
    detail              text,
    best_other_marker   text,
    factor_coordinates  smallint,
    factor_retrieval    smallint,
    factor_rerank       smallint,
    factor_context      smallint,
    factor_generation   smallint,
    lost_stage          text,
    source_version      integer,
    source_hash         text,
    repaired            boolean NOT NULL,
    answer_start        integer NOT NULL,
    answer_end          integer NOT NULL,
    byte_start          integer NOT NULL,
    byte_end            integer NOT NULL,
    utf16_start         integer NOT NULL,
    utf16_end           integer NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    UNIQUE (message_id, citation_no)
);
CREATE INDEX message_citations_document ON reground.message_citations (tenant, corpus, doc_id);
CREATE INDEX message_citations_version ON reground.message_citations (doc_id, source_version);
CREATE INDEX message_citations_turn ON reground.message_citations (turn_id);
-- citation_quality and stage_survival read only this index for a period: a tenth of the pages of the table.
CREATE INDEX message_citations_created ON reground.message_citations (created_at)
    INCLUDE (tenant, message_id, citation_id, holds, support, factor_coordinates, factor_retrieval, factor_rerank, factor_context, factor_generation);
-- Citations of an answer are stored side by side, so ANALYZE underestimates the number of answers, and the planner then reads the
-- whole table for one answer. The fixed value is five citations per answer.
ALTER TABLE reground.message_citations ALTER COLUMN message_id SET (n_distinct = -0.2), ALTER COLUMN turn_id SET (n_distinct = -0.2);
COMMENT ON TABLE reground.message_citations IS 'One row per citation of each answer, with its verdict and its source.';
COMMENT ON COLUMN reground.message_citations.citation_id IS 'Key.';
COMMENT ON COLUMN reground.message_citations.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.message_citations.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.message_citations.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.message_citations.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.message_citations.citation_no IS 'Number of the citation within the answer, from 1.';
COMMENT ON COLUMN reground.message_citations.marker IS 'Marker that the citation resolved to, or names; NULL for other forms.';
COMMENT ON COLUMN reground.message_citations.raw IS 'The citation as written in the answer; with store_answers hash its marker only, or an empty string.';
COMMENT ON COLUMN reground.message_citations.form IS 'Form of the citation, for example marker, number, named_source, locator; custom:NAME for a pattern of the application.';
COMMENT ON COLUMN reground.message_citations.scope IS 'sentence: the citation supports claim. answer: it supports the statements of the answer before it, as in Sources: [A1], or in a list of references.';
COMMENT ON COLUMN reground.message_citations.corpus IS 'Corpus of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.message_citations.doc_id IS 'Document of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.message_citations.chunk_id IS 'Passage of the source; NULL if none was resolved.';
COMMENT ON COLUMN reground.message_citations.title IS 'Title of the document.';
COMMENT ON COLUMN reground.message_citations.uri IS 'Address of the document.';
COMMENT ON COLUMN reground.message_citations.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.message_citations.claim IS 'Sentence that the citation belongs to, without citations; NULL with store_answers hash.';
COMMENT ON COLUMN reground.message_citations.quote IS 'Sentence of the source that supports the claim best; NULL with store_answers hash.';
COMMENT ON COLUMN reground.message_citations.quote_start IS 'First character of quote in the passage, from 0; for a window, in the text of its row.';
COMMENT ON COLUMN reground.message_citations.quote_end IS 'One past its last character.';
COMMENT ON COLUMN reground.message_citations.fact_summary IS 'The quote, else the first fact of the source.';
COMMENT ON COLUMN reground.message_citations.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.message_citations.holds IS 'Whether the citation holds; NULL if this cannot be decided.';
COMMENT ON COLUMN reground.message_citations.hallucination_mode IS 'fabricated_coordinate, cross_text_conflation or paraphrase_attribution; NULL otherwise.';
COMMENT ON COLUMN reground.message_citations.score IS 'Fidelity score of the coordinates, 0 to 1.';
COMMENT ON COLUMN reground.message_citations.coordinate_fidelity IS 'How exactly the citation names its place, 0 to 1.';
COMMENT ON COLUMN reground.message_citations.support IS 'How far the text of the source supports the claim, 0 to 1: 0.65 × window + 0.35 × pairs of support_parts, less deductions for missing numbers, names and quotations, times 0.38 in case of a conflict; with scope answer, the best statement; NULL without a text to compare.';
COMMENT ON COLUMN reground.message_citations.support_parts IS 'Parts of the support score: answer (with scope answer: number of statements, supported, share and mean), segment, units, coverage, window, pairs, window_range, numbers_missing, numbers_contradicted, names_missing, quotations, conflicts, negated_words, language (missing: denials were not checked). Members without content are left out.';
COMMENT ON COLUMN reground.message_citations.diagnostic IS 'exact_context_match, valid_doc_invalid_page_or_unretrieved, hallucinated_page_exceeds_document_bounds or hallucinated_document_id.';
COMMENT ON COLUMN reground.message_citations.detail IS 'Explanation of the verdict.';
COMMENT ON COLUMN reground.message_citations.best_other_marker IS 'Marker of the other source of the context that supports the claim best.';
COMMENT ON COLUMN reground.message_citations.factor_coordinates IS 'Stage factor: the passage has coordinates.';
COMMENT ON COLUMN reground.message_citations.factor_retrieval IS 'Stage factor: the passage was a candidate of this turn, or carried.';
COMMENT ON COLUMN reground.message_citations.factor_rerank IS 'Stage factor: the reranker returned the passage under its own id.';
COMMENT ON COLUMN reground.message_citations.factor_context IS 'Stage factor: the passage was in the final context.';
COMMENT ON COLUMN reground.message_citations.factor_generation IS 'Stage factor: the citation resolves and its source supports the claim, or its status is insufficient_attribution.';
COMMENT ON COLUMN reground.message_citations.lost_stage IS 'First pipeline stage whose factor is 0; NULL if no stage lost the citation.';
COMMENT ON COLUMN reground.message_citations.source_version IS 'Version of the document that was cited.';
COMMENT ON COLUMN reground.message_citations.source_hash IS 'SHA-256 (hex) of the text of the cited passage, kept when the document is deleted.';
COMMENT ON COLUMN reground.message_citations.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON COLUMN reground.message_citations.answer_start IS 'First character of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.message_citations.answer_end IS 'One past the last character of the citation in the answer.';
COMMENT ON COLUMN reground.message_citations.byte_start IS 'First byte (UTF-8) of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.message_citations.byte_end IS 'One past the last byte.';
COMMENT ON COLUMN reground.message_citations.utf16_start IS 'First UTF-16 code unit of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.message_citations.utf16_end IS 'One past the last UTF-16 code unit.';
COMMENT ON COLUMN reground.message_citations.created_at IS 'When the citation was judged.';

CREATE TABLE reground.answer_changes (
    message_id     bigint NOT NULL REFERENCES reground.messages ON DELETE CASCADE,
    change_no      integer NOT NULL,
    tenant         text NOT NULL,
    change         text NOT NULL CHECK (change IN ('repointed', 'removed', 'added', 'marked', 'sentence_removed')),
    reason         text NOT NULL,
    citation_no    integer,
    sentence       text,
    before         text,
    after          text,
    marker         text,
    status_before  text REFERENCES reground.citation_statuses,
    status_after   text REFERENCES reground.citation_statuses,
    support_before double precision,
    support_after  double precision,
    before_start   integer NOT NULL,
    before_end     integer NOT NULL,
    after_start    integer NOT NULL,
    after_end      integer NOT NULL,
    PRIMARY KEY (message_id, change_no)
);
COMMENT ON TABLE reground.answer_changes IS 'One row per change of each corrected copy of an answer (repair_answer).';
COMMENT ON COLUMN reground.answer_changes.message_id IS 'Id of the corrected copy.';
COMMENT ON COLUMN reground.answer_changes.change_no IS 'Number of the change within the answer, from 1.';
COMMENT ON COLUMN reground.answer_changes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.answer_changes.change IS 'repointed: a citation names another source. removed: a citation was removed. added: a sentence without a citation got one. marked, sentence_removed: a sentence that nothing supports.';
COMMENT ON COLUMN reground.answer_changes.reason IS 'Verdict on the changed citation; uncited for an added one, no_support for a sentence.';
COMMENT ON COLUMN reground.answer_changes.citation_no IS 'Number of the changed citation in the original answer; NULL for added citations and sentences.';
COMMENT ON COLUMN reground.answer_changes.sentence IS 'Sentence of the original answer, with its citations; NULL with store_answers hash.';
COMMENT ON COLUMN reground.answer_changes.before IS 'Changed text of the original answer; empty for an addition, NULL with store_answers hash.';
COMMENT ON COLUMN reground.answer_changes.after IS 'Text that replaces it; empty for a removal, NULL with store_answers hash.';
COMMENT ON COLUMN reground.answer_changes.marker IS 'Marker of the source that is cited now.';
COMMENT ON COLUMN reground.answer_changes.status_before IS 'Verdict on the changed citation.';
COMMENT ON COLUMN reground.answer_changes.status_after IS 'Verdict on the new citation.';
COMMENT ON COLUMN reground.answer_changes.support_before IS 'Support by the source that was cited, 0 to 1.';
COMMENT ON COLUMN reground.answer_changes.support_after IS 'Support by the source that is cited now, 0 to 1.';
COMMENT ON COLUMN reground.answer_changes.before_start IS 'First character of before in the original answer, from 0.';
COMMENT ON COLUMN reground.answer_changes.before_end IS 'One past its last character.';
COMMENT ON COLUMN reground.answer_changes.after_start IS 'First character of after in the corrected copy, from 0.';
COMMENT ON COLUMN reground.answer_changes.after_end IS 'One past its last character.';

-- Labels of reviewers and reports of users.

CREATE TABLE reground.citation_labels (
    citation_id   bigint NOT NULL REFERENCES reground.message_citations ON DELETE CASCADE,
    labelled_by   text NOT NULL CHECK (labelled_by <> ''),
    labelled_role text NOT NULL,
    tenant        text NOT NULL,
    label         text NOT NULL CHECK (label IN ('accurate', 'partial', 'hallucinated', 'unverifiable')),
    note          text,
    labelled_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (citation_id, labelled_by)
);
COMMENT ON TABLE reground.citation_labels IS 'Labels of reviewers, one row per citation and reviewer.';
COMMENT ON COLUMN reground.citation_labels.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_labels.labelled_by IS 'Name of the reviewer, as given by the role that wrote the label.';
COMMENT ON COLUMN reground.citation_labels.labelled_role IS 'Role that wrote the label.';
COMMENT ON COLUMN reground.citation_labels.tenant IS 'Tenant of the citation.';
COMMENT ON COLUMN reground.citation_labels.label IS 'accurate, partial, hallucinated or unverifiable.';
COMMENT ON COLUMN reground.citation_labels.note IS 'Explanation by the reviewer.';
COMMENT ON COLUMN reground.citation_labels.labelled_at IS 'When the label was last changed.';

CREATE TABLE reground.citation_reports (
    report_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    citation_id   bigint REFERENCES reground.message_citations ON DELETE CASCADE,
    tenant        text NOT NULL,
    reported_by   text NOT NULL,
    reported_role text NOT NULL,
    reason        text NOT NULL CHECK (reason <> ''),
    created_at    timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    message_id    bigint NOT NULL REFERENCES reground.messages ON DELETE CASCADE,
    justified     boolean,
    note          text,
    reviewed_by   text,
    reviewed_role text,
    reviewed_at   timestamptz
);
CREATE INDEX citation_reports_citation ON reground.citation_reports (citation_id);
CREATE INDEX citation_reports_message ON reground.citation_reports (message_id);
COMMENT ON TABLE reground.citation_reports IS 'Citations and answers reported by users, with the outcome of the review.';
COMMENT ON COLUMN reground.citation_reports.report_id IS 'Key.';
COMMENT ON COLUMN reground.citation_reports.citation_id IS 'Id of the citation; NULL if the report is about the answer.';
COMMENT ON COLUMN reground.citation_reports.tenant IS 'Tenant of the answer.';
COMMENT ON COLUMN reground.citation_reports.reported_by IS 'Name of the user, as given by the role that wrote the report.';
COMMENT ON COLUMN reground.citation_reports.reported_role IS 'Role that wrote the report.';
COMMENT ON COLUMN reground.citation_reports.reason IS 'Problem described by the user.';
COMMENT ON COLUMN reground.citation_reports.created_at IS 'When the row was created.';
COMMENT ON COLUMN reground.citation_reports.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.citation_reports.justified IS 'Whether the report was justified; NULL before its review.';
COMMENT ON COLUMN reground.citation_reports.note IS 'Explanation by the reviewer.';
COMMENT ON COLUMN reground.citation_reports.reviewed_by IS 'Name of the reviewer, as given by the role that reviewed the report.';
COMMENT ON COLUMN reground.citation_reports.reviewed_role IS 'Role that reviewed the report.';
COMMENT ON COLUMN reground.citation_reports.reviewed_at IS 'When the report was last reviewed.';
