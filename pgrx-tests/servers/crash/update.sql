UPDATE docs SET body = random_body() WHERE id = (SELECT (random() * max(id))::bigint FROM docs);
