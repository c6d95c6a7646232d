BEGIN;
INSERT INTO docs (body) VALUES (random_body());
ROLLBACK;
