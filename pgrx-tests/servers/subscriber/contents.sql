SELECT count(*), md5(string_agg(md5(a::text), ',' ORDER BY id)) FROM articles AS a;
