-- Erasure by a user. Written as described in corpora.sql.

SELECT * FROM reground.forget_document('{r}_articles', 'b1');
SELECT * FROM reground.forget_document('{r}_texts', 'otters');
SELECT * FROM reground.forget_document('{r}_farm', 'cows');
SELECT * FROM reground.forget_conversation('{r}-talk');
SELECT * FROM reground.forget_user('reader');
SELECT * FROM reground.forget_conversation('{r}-pinned');
