\set key random(1, 500)
\set other random(1, 500)
\set number random(1000, 1000000000)
INSERT INTO notes VALUES (:key, 'Note ' || :key, 'Text ' || :number || '.') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
BEGIN;
UPDATE notes SET id = :number WHERE id = :key;
SAVEPOINT s;
DELETE FROM notes WHERE id BETWEEN :other AND :other + 20;
ROLLBACK TO s;
DELETE FROM notes WHERE id = :other + 1;
COMMIT;
MERGE INTO notes AS t USING (VALUES (:key + 2), (:other + 3)) AS n(id) ON t.id = n.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET title = 'Merged ' || :number;
SELECT embed('notes_now', 2), embed('notes_later', 2);
