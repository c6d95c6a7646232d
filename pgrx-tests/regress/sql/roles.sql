-- Privileges of user, auditor, admin, and a role without any grant.
CREATE ROLE regress_reader LOGIN;
CREATE ROLE regress_asker LOGIN IN ROLE reground_user;
CREATE ROLE regress_auditor LOGIN IN ROLE reground_auditor;
CREATE ROLE regress_admin LOGIN IN ROLE reground_admin;
CREATE SCHEMA roles;
GRANT USAGE ON SCHEMA roles, regress TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA regress TO PUBLIC;
GRANT CREATE ON SCHEMA roles TO regress_admin;

-- An admin creates a corpus and owns its tables.
SET ROLE regress_admin;
SELECT reground.create_corpus('harbour', schema => 'roles');
SELECT version, chunk_count FROM reground.put_document('harbour', 'cranes', content => 'Cranes lift containers from ships.');
SELECT relname, relowner::regrole FROM pg_class WHERE relnamespace = 'roles'::regnamespace AND relkind = 'r' ORDER BY relname COLLATE "C";
RESET ROLE;

-- A user can search after a grant on the tables, but cannot register a corpus.
SET ROLE regress_asker;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('harbour', 'cranes')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('mine')$$);
SELECT * FROM regress.refusal($$SELECT reground.drop_corpus('harbour')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('harbour', settings => '{"max_sources": 1}')$$);
SELECT item, status, detail, hint FROM reground.check_corpus('harbour');
RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA roles TO regress_asker;
SET ROLE regress_asker;
SELECT chunk_id, doc_id FROM reground.search('harbour', 'cranes');
SELECT marker, doc_id, origin FROM reground.begin_turn('roles-1', 'what lifts containers?', 'harbour');
SELECT marker, status FROM reground.end_turn(regress.turn('roles-1'), 'Cranes lift containers [A1].');
SELECT tenant, conversation_ref, marker, status FROM reground.citation_audit WHERE conversation_ref = 'roles-1';
SELECT conversation_ref, doc_id, carry_score FROM regress.sources WHERE conversation_ref = 'roles-1';
SELECT * FROM regress.refusal($$SELECT * FROM reground.explain_turn(1)$$);
SELECT * FROM regress.refusal($$TABLE reground.turn_traces$$);
SELECT * FROM regress.refusal($$TABLE reground.turn_traces_00$$);
SELECT * FROM regress.refusal($$INSERT INTO reground.conversations (tenant, conversation_ref) VALUES ('regress_asker', 'forged')$$);
SELECT * FROM regress.refusal($$UPDATE reground.message_citations SET status = 'resolved_current'$$);
SELECT * FROM regress.refusal($$DELETE FROM reground.turns$$);
SELECT * FROM regress.refusal($$CREATE TABLE reground.mine ()$$);
SELECT * FROM regress.refusal($$SET reground.tenant_from = 'app.tenant_id'$$);
-- A user with SELECT cannot write to the corpus.
SELECT * FROM regress.refusal($$SELECT reground.put_document('harbour', 'tugs', content => 'Tugs pull ships.')$$);
SELECT * FROM regress.refusal($$SELECT reground.delete_document('harbour', 'cranes')$$);
SELECT current_user;
RESET ROLE;

-- Another user is another tenant.
GRANT reground_user TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM reground.citation_audit;
SELECT count(*) FROM reground.conversations;
RESET ROLE;
REVOKE reground_user FROM regress_reader;

-- An auditor reads the rows of all tenants and writes none.
SET ROLE regress_auditor;
SELECT tenant, conversation_ref, marker, status FROM reground.citation_audit WHERE conversation_ref = 'roles-1';
SELECT c.doc_id, c.in_context, c.marker FROM reground.turn_candidates AS c JOIN reground.turn_audit AS t USING (turn_id) WHERE t.conversation_ref = 'roles-1';
SELECT doc_id, marker FROM reground.explain_turn((SELECT turn_id FROM reground.turn_audit WHERE conversation_ref = 'roles-1'));
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('x', 'y', 'harbour')$$);
SELECT * FROM regress.refusal($$DELETE FROM reground.messages$$);
RESET ROLE;

-- A role without a grant has no access.
SET ROLE regress_reader;
SELECT * FROM regress.refusal($$SELECT reground.current_tenant()$$);
SELECT * FROM regress.refusal($$TABLE reground.conversations$$);
RESET ROLE;

-- The tenant is the role, or the setting that an administrator names.
SELECT reground.current_tenant() = current_user AS tenant_is_role;
SET reground.tenant_from = 'app.tenant_id';
SELECT reground.current_tenant() IS NULL AS no_tenant;
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('roles-2', 'anything', 'harbour')$$);
SET app.tenant_id = 'acme';
SELECT reground.current_tenant();
SELECT reground.alter_conversation('roles-2', '{"max_sources": 4}');
SELECT tenant, conversation_ref FROM reground.conversations WHERE conversation_ref = 'roles-2';
RESET reground.tenant_from;
RESET app.tenant_id;

SET ROLE regress_admin;
SELECT reground.drop_corpus('harbour', drop_tables => true);
RESET ROLE;
SELECT conversation_ref, marker, status, doc_id, source_state FROM reground.citation_audit WHERE conversation_ref = 'roles-1';
DROP OWNED BY regress_reader, regress_asker, regress_auditor, regress_admin CASCADE;
DROP ROLE regress_reader, regress_asker, regress_auditor, regress_admin;
