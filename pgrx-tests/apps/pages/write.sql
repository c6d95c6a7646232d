-- An ordinary conversation, one whose texts all contain markup, and one of long texts; test-pages renders them and their corpora.
SELECT reground.create_corpus('handbook', dimensions => 3);
SELECT reground.put_document('handbook', doc_id, title => title, uri => uri, content => body, page_count => 1)
FROM (VALUES
    ('access.md', 'Access and passwords', 'https://docs.example/handbook/access', 'Passwords expire after 90 days. Admins reset them under Settings. A second factor is required for every admin.'),
    ('backup.md', 'Backup', 'https://docs.example/handbook/backup', 'Backups run every night at 02:00 and are kept for 30 days. Restores are tested every quarter.'),
    ('billing.md', 'Billing', 'https://docs.example/handbook/billing', 'Invoices are sent on the first day of each month. Payment is due within 14 days.'),
    ('leave.md', 'Leave', NULL, 'Everyone has 28 days of leave a year. Leave is requested two weeks ahead.'),
    ('travel.md', 'Travel', 'https://docs.example/handbook/travel', 'Trains come before planes for journeys of less than six hours. Receipts are kept for a year.')) AS d(doc_id, title, uri, body);
SELECT reground.put_embeddings('handbook', '{1,2,3,4,5}', '{"[1,0,0]","[0,1,0]","[0,0,1]","[-0.5,0.5,0.5]","[0,0.7,0.7]"}'::vector[]);

CREATE FUNCTION asked(conversation text, query text, embedding vector, tags jsonb DEFAULT '{}', corpus text DEFAULT 'handbook', settings jsonb DEFAULT '{}') RETURNS bigint LANGUAGE sql AS
    $$ SELECT min(turn_id) FROM reground.begin_turn($1, $2, $5, $3, settings => '{"max_sources": 3}' || $6, tags => $4) $$;
CREATE FUNCTION answered(turn bigint, answer text, model text, message text DEFAULT NULL, tags jsonb DEFAULT '{}') RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(citation_id) FROM reground.end_turn($1, $2, message_ref => $4, model => $3, tags => $5) $$;

SELECT answered(asked('helpdesk-2041', 'How long do passwords last, and who resets them?', '[1,0.2,0]', '{"channel": "web"}'),
    'Passwords expire after 90 days [A1]. Admins reset them under Settings [A1], and every admin needs a second factor [A1].', 'large', 'msg-1');
SELECT answered(asked('helpdesk-2041', 'And backups: when do they run, and how long are they kept?', '[0.1,1,0]', '{"channel": "web"}'),
    'Backups run every night at 02:00 [B1]. They are kept for 90 days [B1].', 'small', 'msg-2a');
SELECT answered((SELECT max(turn_id) FROM reground.turns), 'Backups run every night at 02:00 and are kept for 30 days [B1]. Restores are tested every quarter [B1, A1].', 'large', 'msg-2b');
SELECT answered(asked('helpdesk-2041', 'When is an invoice due?', '[0,0,1]', '{"channel": "phone"}'),
    'Payment is due within 14 days [Source: billing.md, p. 1]. Late invoices cost 5 % [Z9]. Passwords expire after 90 days [A1]. See also [Source: billing.md, p. 12].', 'large', 'msg-3');
SELECT answered(asked('helpdesk-2041', 'How much leave is there, compared with travel days?', '[0.5,0.7,0.4]', '{"channel": "web"}'),
    'Everyone has 28 days of leave a year [Source: leave.md]. Trains come before planes [Source: travel.md]. Invoices are sent on the first day of each month [Source: travel.md].', 'large', 'msg-4');
SELECT answered(asked('helpdesk-2041', 'Can I ride a horse to work?', '[0.2,0.2,0.9]', '{"channel": "web"}'), 'The handbook says nothing about that.', 'small', 'msg-5');
SELECT reground.abandon_turn(asked('helpdesk-2041', 'never mind', '[1,0,0]'));
SELECT asked('helpdesk-2041', 'Who asks for leave two weeks ahead?', '[-0.4,0.7,0.4]') > 0;
SELECT sum(answered(asked('helpdesk-' || n, 'How long do passwords last?', '[1,0.2,0]'),
    CASE WHEN n % 7 = 0 THEN 'Passwords never expire [Z9]. ' ELSE '' END || 'Passwords expire after 90 days [A1]. Backups run every night [A1].', CASE WHEN n % 3 = 0 THEN 'small' ELSE 'large' END)) FROM generate_series(1, 40) AS n;
-- Spreads the answers over several days, with one day without answers, so that scores have a history, and some over the week before.
UPDATE reground.messages SET created_at = date_trunc('day', now()) - interval '6 days' + CASE WHEN message_id % 6 >= 3 THEN message_id % 6 + 1 ELSE message_id % 6 END * interval '1 day' + interval '9 hours' WHERE message_id > 6;
UPDATE reground.messages SET created_at = created_at - interval '8 days' WHERE message_id > 30;

-- The hostile conversation. Each text tries to break out of another context: an element, an attribute, a comment, a title, a style, a link.
CREATE FUNCTION nasty(place text) RETURNS text LANGUAGE sql IMMUTABLE RETURN
    '</title></style></textarea><script>alert("' || place || '")</script><img src=x onerror="alert(''' || place || ''')">"''><b class=cite>' || place || E'<!-- --!> ]]> &lt;b&gt; \u202Eesrever\u202C \u200F\x1b[31m';
SELECT reground.create_corpus('hostile <b>corpus</b>', dimensions => 3);
SELECT reground.put_document('hostile <b>corpus</b>', nasty('document'), title => nasty('title'), uri => 'https://docs.example/"onmouseover="alert(1)//', content => 'Cows give milk. ' || nasty('content'));
SELECT reground.put_document('hostile <b>corpus</b>', 'script', title => '<svg/onload=alert(1)>', uri => 'javascript:alert(1)', content => 'Sheep give wool.');
SELECT reground.put_document('hostile <b>corpus</b>', 'data', title => 'data', uri => 'data:text/html,<script>alert(1)</script>', content => 'Hens give eggs.');
SELECT answered(asked(nasty('conversation'), nasty('query') || ' milk wool eggs', NULL, jsonb_build_object(nasty('tag'), nasty('value'), 'number', 7, 'none', NULL, 'deep', '{"<i>": ["<u>"]}'::jsonb), 'hostile <b>corpus</b>'),
    nasty('answer') || ' Cows give milk [A1]. Sheep give wool [B1][C1]. ' || nasty('middle') || ' Pigs fly [Source: <script>alert(2)</script>]. Hens give eggs [A1, B1, C1].' || nasty('end'), nasty('model'), nasty('message'), jsonb_build_object('a', nasty('answer tag')));
SELECT answered((SELECT max(turn_id) FROM reground.turns), 'Cows give milk [A1]. <script>alert(3)</script>', 'second <b>', 'second');
-- Citations of an API: two that overlap, and one without any text.
SELECT count(*) > 0 FROM reground.end_turn(asked(nasty('conversation'), 'and wool?', NULL, '{}', 'hostile <b>corpus</b>'), 'Sheep <i>give</i> wool.', message_ref => 'third',
    citations => '[{"start": 0, "end": 19, "text": "Sheep <i>give</i>", "document_ids": ["script"]}, {"start": 6, "end": 23, "text": "<i>give</i> wool.", "document_ids": ["script", "<b>none</b>"]}]');
INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, citation_no, raw, status, repaired, answer_start, answer_end, byte_start, byte_end, utf16_start, utf16_end)
    SELECT tenant, conversation_id, turn_id, message_id, 99, '', 'malformed', false, 9999, 3, 0, 0, 0, 0 FROM reground.messages ORDER BY message_id DESC LIMIT 1;
SELECT reground.pin('helpdesk-pinned', doc_id => 'leave.md', corpus => 'handbook');

-- No answer, and one answer.
SELECT reground.create_corpus('empty'), reground.create_corpus('one');
SELECT reground.put_document('one', 'milk', 'Cows give milk.');
SELECT answered(asked('one', 'Who gives milk?', NULL, '{}', 'one'), 'Cows give milk [A1].', NULL);

-- Long texts: words without a space, wide scripts, scripts from right to left, and more document types than a list shows.
CREATE FUNCTION long(place text) RETURNS text LANGUAGE sql IMMUTABLE RETURN place || '-' || repeat('Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft', 2);
SELECT reground.create_corpus('Donaudampfschifffahrtselektrizitatenhauptbetrieb', dimensions => 3);
SELECT reground.put_document('Donaudampfschifffahrtselektrizitatenhauptbetrieb', CASE n % 4 WHEN 0 THEN repeat('very/long/path/', 12) ELSE '' END || long('file' || n) || CASE n % 8 WHEN 0 THEN '' ELSE '.' || chr(97 + n) || repeat('x', n % 9) END,
    title => CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN long('title') WHEN 2 THEN repeat('水稻種植與灌溉管理手冊', 8) ELSE repeat('دليل زراعة الأرز وإدارة الري ', 6) END,
    uri => CASE WHEN n % 3 = 0 THEN 'https://docs.example/' || repeat('segment', 30) || '/' || n END,
    content => format('Field %s grows %s kinds of rice. ', n, n + 10) || repeat('灌溉', 20) || repeat(' الأرز', 10))
FROM generate_series(1, 30) AS n;
SELECT sum(answered(asked(CASE WHEN n < 24 THEN long('conversation') ELSE long('other' || n) END,
        CASE n % 3 WHEN 0 THEN long('question') WHEN 1 THEN 'كم نوعا من الأرز يزرع في الحقل؟ field ' || n ELSE repeat('這塊田種了多少種水稻', 12) || ' field ' || n END, NULL,
        jsonb_build_object(long('tag'), long('value')), 'Donaudampfschifffahrtselektrizitatenhauptbetrieb'),
    format('Field %s grows %s kinds of rice [A1]. ', n, n + 10) || CASE n % 3 WHEN 0 THEN long('answer') || ' [B1]' WHEN 1 THEN 'يزرع الأرز في الحقل [Z9]' ELSE repeat('這塊田種了很多種水稻', 9) || ' [B1]' END
        || format('. Field %s grows 7 kinds of rice [Source: %s, p. 4]. Rice [', n % 30 + 1, long('missing')) || format('C1]. The next field grows rice [D1, E1].'),
    CASE n % 3 WHEN 0 THEN long('model') ELSE 'm' || n % 3 END, long('message' || n))) FROM generate_series(1, 40) AS n;
-- Citations of every type of document.
UPDATE reground.message_citations AS c SET doc_id = long('file' || c.citation_id % 30) || '.' || chr(97 + (c.citation_id % 26)::integer) || 'bcdefgh' WHERE c.corpus = 'Donaudampfschifffahrtselektrizitatenhauptbetrieb' AND c.citation_id % 2 = 0;
UPDATE reground.messages AS m SET created_at = now() - interval '1 minute' * (m.message_id * 977 % 8000) FROM reground.turns AS t WHERE t.turn_id = m.turn_id AND t.corpus = 'Donaudampfschifffahrtselektrizitatenhauptbetrieb';
