-- Foreign tables of the node :node at the port :port. Members of the role `auditors` of this database read them as the role `analyst` of the node.
CREATE SERVER :"node" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port :'port', dbname 'app', fetch_size '10000', async_capable 'true', updatable 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER :"node" OPTIONS (user 'analyst', password_required 'false');
CREATE SCHEMA :"node";
IMPORT FOREIGN SCHEMA reground LIMIT TO (answer_rollup, citation_rollup, turn_rollup, metric_totals, turn_archive, cfs_hourly, citations_hourly, citation_audit, turn_audit)
    FROM SERVER :"node" INTO :"node";
IMPORT FOREIGN SCHEMA analysis LIMIT TO (quality_of_tenants) FROM SERVER :"node" INTO :"node";
