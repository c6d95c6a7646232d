-- Erases a conversation, a document and a tenant; keeps the names of the relations for the commands of the guide.
SET app.tenant_id = 'acme';
CREATE TABLE receipt AS
    SELECT relation FROM reground.forget_conversation('zqnamex')
    UNION SELECT relation FROM reground.forget_document('farm', 'goats')
    UNION SELECT relation FROM reground.forget_tenant('zqtenantx');
DROP TABLE own, own_documents, own_history;
