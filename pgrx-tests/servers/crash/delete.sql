DELETE FROM docs WHERE id = (SELECT (random() * max(id))::bigint FROM docs);
