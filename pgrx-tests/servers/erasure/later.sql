-- Written after the base backup, so that it is replayed from the archive.
SET app.tenant_id = 'acme';
SELECT FROM reground.begin_turn('later', 'Do cows zqlaterx give milk?', 'farm', '[1,0]');
