-- Number of values that should be sealed and are not.
SELECT (SELECT count(*) FROM reground.message_citations AS c CROSS JOIN LATERAL (VALUES (c.title), (c.uri), (c.locator), (c.quote), (c.fact_summary)) AS v(value) WHERE v.value NOT LIKE 'sealed:%' AND v.value <> '')
    + (SELECT count(*) FROM reground.conversation_markers AS k CROSS JOIN LATERAL (VALUES (k.title), (k.uri), (k.locator), (k.page_start::text)) AS v(value) WHERE v.value NOT LIKE 'sealed:%' AND v.value <> '')
    + (SELECT count(*) FROM reground.messages AS m WHERE m.citations::text NOT LIKE '"sealed:%')
    + (SELECT count(*) FROM reground.turns AS t CROSS JOIN LATERAL jsonb_path_query(jsonb_build_array(t.context, t.pending_candidates), 'strict $.**.passage') AS p
           CROSS JOIN LATERAL (VALUES (p -> 'content'), (p -> 'title'), (p -> 'uri'), (p -> 'structured_locator'), (p -> 'pages'), (p -> 'metadata')) AS v(value)
       WHERE v.value #>> '{}' NOT LIKE 'sealed:%' AND v.value #>> '{}' <> '');
