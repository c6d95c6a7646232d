SELECT count(*), md5(string_agg(md5(ROW(id, title, body, revision, embedding)::text), ',' ORDER BY id)) FROM articles AS a;
