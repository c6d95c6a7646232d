-- The corpora of the distributed table on a worker, and one of a table that only this worker has.
SET client_min_messages = warning;
SELECT reground.add_corpus('spread', 'spread', chunk_id => 'id', content => 'body', doc_id => 'doc_id', title => 'title', embedding => 'embedding', title_weight => 0);
SELECT reground.add_corpus('spread_of_tenants', 'spread', chunk_id => 'id', content => 'body', doc_id => 'doc_id', embedding => 'embedding', title_weight => 0, tenant_column => 'tenant');
SELECT reground.create_corpus('own');
SELECT reground.put_document('own', 'here', content => 'This passage is on one worker.');
