\set id random(1, 400)
\set seed random(0, 100000)
INSERT INTO articles VALUES (:id, 'Article ' || :seed, body_of(:seed)) ON CONFLICT (id) DO UPDATE SET title = excluded.title, body = excluded.body;
DELETE FROM articles WHERE id = (:seed * 13) % 400;
INSERT INTO notes VALUES (:id, body_of(:seed)) ON CONFLICT (id) DO UPDATE SET body = excluded.body;
UPDATE notes SET body = body_of(:seed + 1) WHERE id BETWEEN :id AND :id + 3;
