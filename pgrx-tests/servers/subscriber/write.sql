BEGIN;
INSERT INTO articles (title, body, embedding) SELECT 'New', random_body(), '[0.5,0.5]' FROM generate_series(1, 5);
UPDATE articles SET body = random_body(), revision = revision + 1 WHERE id IN (SELECT 4 + (random() * 1500)::bigint FROM generate_series(1, 5));
DELETE FROM articles WHERE id = 1600 + (random() * 400)::bigint;
COMMIT;
