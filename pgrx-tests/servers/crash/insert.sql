INSERT INTO docs (body) VALUES (random_body());
INSERT INTO brief VALUES (random_body());
