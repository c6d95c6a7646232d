-- Reports in HTML: their content, who sees which, and hostile text.
CREATE SCHEMA reports;
SET search_path = reports, public;
SELECT reground.create_corpus('reports', title_weight => 0);
SELECT doc_id, version FROM (VALUES ('tea', 'Green tea steeps for two minutes.', '<script>alert("tea")</script>', 'javascript:alert(1)'), ('rye', 'Rye bread rises slowly in the cold.', 'Rye', 'https://a.example/"onclick="x')) AS v(doc_id, body, title, uri),
    reground.put_document('reports', doc_id, content => body, title => title, uri => uri);
SELECT marker, doc_id FROM reground.begin_turn('reports-<b>', '<i>How</i> long does green tea steep, and how does rye bread rise?', 'reports', tags => '{"team\"": "<u>blue</u>", "none": null}', settings => '{"max_sources": 2, "carry_threshold": 0}');
SELECT marker, status FROM reground.end_turn(regress.turn('reports-<b>'), 'Green tea steeps long [A1].', model => 'first');
SELECT marker, status FROM reground.end_turn(regress.turn('reports-<b>'), U&'Green tea steeps for two minutes [A1]. Rye bread rises slowly in the cold [A1, B1]. Pigs \202Eylf\202C [Z9].<img src=x onerror=alert(1)>', message_ref => 'm&m', model => '"small"', tags => '{"answer": "yes"}');
SELECT marker IS NOT NULL AS found FROM reground.begin_turn('reports-<b>', 'and rye?') LIMIT 1;
SELECT reground.abandon_turn(regress.turn('reports-<b>'));
SELECT count(*) > 0 AS begun FROM reground.begin_turn('reports-<b>', 'what else?');
SELECT reground.pin('reports-empty', doc_id => 'rye', corpus => 'reports');

CREATE FUNCTION found(page text, VARIADIC what text[]) RETURNS TABLE (what text, times bigint) LANGUAGE sql AS $$
    SELECT w, (char_length(page) - char_length(replace(page, w, ''))) / char_length(w) FROM unnest($2) WITH ORDINALITY AS u(w, place) ORDER BY place $$;
CREATE TEMPORARY TABLE pages AS SELECT reground.conversation_report('reports-<b>') AS conversation, reground.corpus_report('reports') AS corpus;
-- No data becomes an element, an attribute or a link.
SELECT replace(f.what, U&'\202E', 'the override') AS what, f.times FROM pages, found(conversation, '<script', '<img', '<i>', '<u>', 'onerror="', 'onclick="', 'href="javascript', 'href="https://a.example/', '&lt;script&gt;alert(&quot;tea&quot;)&lt;/script&gt;', '<title>Conversation reports-&lt;b&gt;</title>', '[U+202E]ylf[U+202C]', U&'\202E',
    'team&quot;', '&lt;u&gt;blue&lt;/u&gt;', 'javascript:alert(1)', 'm&amp;m', '&quot;small&quot;') AS f;
-- The page needs no other resource.
SELECT conversation ~ '^<!DOCTYPE html>' AND conversation ~ 'content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"' AND conversation !~ 'src="|@import|url\(' AS whole, conversation = reground.conversation_report('reports-<b>') AS the_same FROM pages;
-- One mark for each citation, and each part of the page.
SELECT f.what, f.times, f.times = CASE f.what WHEN 'class="cite ' THEN (SELECT count(*) FROM reground.citation_audit WHERE conversation_ref = 'reports-<b>') WHEN '<section class="turn"' THEN (SELECT count(*) FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = 'reports-<b>') END AS counted
FROM pages, found(conversation, 'class="cite ', '<section class="turn"', '<svg class="plot"', 'class="shared ', '1 earlier answer, superseded', 'Abandoned without an answer.', 'No answer yet.', 'citation 1: resolved current', 'unknown id') AS f;
SELECT f.* FROM found(reground.conversation_report('reports-empty'), 'class="turn"', 'Nothing to show yet.', 'No corpus yet') AS f;
-- The figures of the corpus report equal plain counts.
SELECT f.* FROM pages, found(corpus, '<script', '<i>', '&lt;i&gt;How&lt;/i&gt;', '<svg class="plot"', 'reports-&lt;b&gt;') AS f;
SELECT pages.corpus ~ format('>Citations</dt><dd class="figure">%s</dd><dd class="note">%s judged</dd>', count(*), count(holds)) AS citations, pages.corpus ~ format('<p>%s of %s judged citations.</p>', count(*) FILTER (WHERE holds), count(holds)) AS holding,
    pages.corpus ~ '>Stale</dt><dd class="figure">0</dd>' AS stale FROM pages, reground.citation_audit AS a WHERE a.conversation_ref = 'reports-<b>' AND NOT a.superseded GROUP BY pages.corpus;
SELECT string_agg(corpus ~ format('<bdi>%s</bdi></th><td class="number" data-name="Reached">%s</td><td class="number" data-name="Survived">%s</td>', s.stage, s.reached, s.survived) || '', ' ' ORDER BY s.stage_no) AS stages FROM pages, reground.stage_survival('conversation') AS s WHERE s.value = 'reports-<b>' AND s.reached > 0;
SELECT version FROM reground.put_document('reports', 'tea', content => 'Green tea steeps for three minutes.');
SELECT f.what, f.times, (SELECT count(*) FROM reground.stale_citations AS s WHERE s.conversation_ref = 'reports-<b>') AS stale FROM found(reground.corpus_report('reports'), '>Stale</dt><dd class="figure">2</dd>') AS f;
SELECT f.* FROM found(reground.corpus_report('reports', until => '2020-01-01'), 'No answer in this period.') AS f;
SELECT f.* FROM found(reground.corpus_report('reports', NULL), 'All answers') AS f;
SELECT f.* FROM found(reground.corpus_report('reports', '-infinity', 'infinity'), '>Answers</dt><dd class="figure">1</dd>') AS f;
-- An accepted answer with failing citations shows no check mark. The worst answers by content come first.
SELECT reground.create_corpus('reports-worst', title_weight => 0);
SELECT doc_id, version FROM (VALUES (12, 'Barley.md'), (34, 'Oats.pdf'), (56, 'Millet')) AS v(n, doc_id), reground.put_document('reports-worst', doc_id, content => substring(doc_id, '^[A-Za-z]*') || ' grows on ' || n || ' fields of the valley.');
SELECT sum((SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.begin_turn('worst-' || n, 'On how many fields of the valley do Barley, Oats and Millet grow?', 'reports-worst', settings => '{"max_sources": 3}')), a, model => 'm'))) AS citations
FROM (VALUES (1, 'Barley grows on 12 fields of the valley [Source: Barley.md].'), (2, 'Barley grows on 12 fields of the valley [Source: Oats.pdf].'), (3, 'Barley grows on 12 fields [Source: Barley.md]. Oats grow on 34 fields [Source: Millet].'),
    (4, 'Barley grows on 99 fields of the valley [Source: Barley.md].'), (5, 'Pigs fly at night [Source: Nowhere.md]. Barley grows on 12 fields of the valley [Source: Oats.pdf]. Cows sing [Q7]. Geese dance [Q8].'), (6, 'Barley grows on 12 fields of the valley.')) AS v(n, a);
CREATE TEMPORARY TABLE worst AS SELECT reground.corpus_report('reports-worst') AS page;
SELECT page ~ '✓' AS a_verdict_holds, split_part(page, '>Verdicts</h2>', 1) ~ '✓' AS checked_off, f.* FROM worst, found(page, 'policy: accept', '✗</b> <b>1 of 2 citations does not hold</b></span> · policy: accept', 'And 1 more. Conversation', '<bdi>pdf</bdi>', '<bdi>(none)</bdi>') AS f;
SELECT array_agg(m[1] ORDER BY place) AS read_first, array_agg(m[1] ORDER BY place) = (
    SELECT array_agg(a.conversation_ref ORDER BY c.share, ('contradicted' = ANY (a.reasons)) DESC, a.grounded_cfs, a.message_id DESC)
    FROM reground.turn_audit AS a JOIN (SELECT message_id, avg(CASE WHEN holds THEN 1.0 ELSE 0 END) AS share FROM reground.citation_audit WHERE holds IS NOT NULL GROUP BY 1) AS c USING (message_id) WHERE a.corpus = 'reports-worst' AND c.share < 1) AS as_counted
FROM worst, regexp_matches(page, 'Conversation <bdi>([^<]+)</bdi>, turn', 'g') WITH ORDINALITY AS r(m, place);
-- The change from the period before: two of its three citations hold, and none of the six since.
UPDATE reground.messages AS m SET created_at = now() - interval '10 days' FROM reground.conversations AS v WHERE v.conversation_id = m.conversation_id AND v.conversation_ref IN ('worst-1', 'worst-3');
SELECT (regexp_match(reground.corpus_report('reports-worst', since => s, until => u), '<p class="of">([^<]*(?:fewer|more|As many)[^<]*)</p>'))[1] AS change FROM (VALUES (now() - interval '7 days', NULL), (now() - interval '7 days', now() + interval '1 year'), (now() - interval '1 day', NULL), (NULL, NULL), ('-infinity', NULL), ('4713-01-02 BC', NULL), ('infinity', 'infinity')) AS v(s, u);
SELECT reground.drop_corpus('reports-worst', true);
-- Calls that are refused.
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.conversation_report('reports-none')$$, $$SELECT reground.conversation_report(NULL)$$, $$SELECT reground.conversation_report('reports-<b>', 'nobody')$$,
    $$SELECT reground.corpus_report('reports-none')$$, $$SELECT reground.corpus_report(NULL)$$]) AS f, regress.refusal(f) AS r;
-- A tenant sees its own conversations, an auditor all; for an ambiguous name the auditor names the tenant.
CREATE ROLE regress_reports_a IN ROLE reground_user;
CREATE ROLE regress_reports_auditor IN ROLE reground_auditor;
GRANT USAGE ON SCHEMA regress, reports TO regress_reports_a, regress_reports_auditor;
GRANT SELECT ON reports.reports, reports.reports_documents TO regress_reports_a;
SET ROLE regress_reports_a;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.conversation_report('reports-<b>')$$, $$SELECT reground.conversation_report('reports-<b>', 'postgres')$$]) AS f, regress.refusal(f) AS r;
SELECT f.* FROM found(reground.corpus_report('reports'), 'No answer in this period.') AS f;
SELECT marker IS NOT NULL AS found FROM reground.begin_turn('reports-<b>', 'green tea of mine', 'reports', settings => '{"max_sources": 1}');
SELECT status FROM reground.end_turn(regress.turn('reports-<b>'), 'Green tea steeps for two minutes [A1].');
SELECT f.* FROM found(reground.conversation_report('reports-<b>'), 'green tea of mine', 'green tea steep,', '<bdi>regress_reports_a</bdi>') AS f;
SELECT f.* FROM found(reground.corpus_report('reports'), '>Answers</dt><dd class="figure">1</dd>') AS f;
-- Functions and operators of the search_path of the caller are not used.
RESET ROLE;
CREATE FUNCTION reports.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR reports.= (LEFTARG = text, RIGHTARG = text, FUNCTION = reports.never);
GRANT EXECUTE ON FUNCTION reports.never TO PUBLIC;
SET ROLE regress_reports_a;
SET search_path = reports, pg_catalog;
SELECT char_length(reground.conversation_report('reports-<b>')) > 1000 AS found;
SET search_path = reports, public;
SET ROLE regress_reports_auditor;
SELECT f, r.state, r.message, r.hint FROM unnest(ARRAY[$$SELECT reground.conversation_report('reports-<b>')$$]) AS f, regress.refusal(f) AS r;
SELECT f.* FROM reports.found(reground.conversation_report('reports-<b>', 'regress_reports_a'), 'green tea of mine') AS f;
SELECT f.* FROM reports.found(reground.corpus_report('reports'), '>Answers</dt><dd class="figure">2</dd>') AS f;
SELECT f.* FROM reports.found(reground.corpus_report('reports', tenant => 'regress_reports_a'), '>Answers</dt><dd class="figure">1</dd>') AS f;
RESET ROLE;
RESET search_path;
DROP OPERATOR reports.= (text, text);
SELECT reground.drop_corpus('reports', true);
DROP SCHEMA reports CASCADE;
REVOKE ALL ON SCHEMA regress FROM regress_reports_a, regress_reports_auditor;
DROP ROLE regress_reports_a, regress_reports_auditor;
