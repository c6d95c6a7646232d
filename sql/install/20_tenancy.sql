-- Whose rows a statement sees and writes.

CREATE FUNCTION reground.current_tenant() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'current_tenant_wrapper';
COMMENT ON FUNCTION reground.current_tenant() IS
'The tenant of this statement: the value of the setting that reground.tenant_from names (for example app.tenant_id), or the current role where reground.tenant_from is not set. NULL where the named setting is empty: then no row of any tenant is visible and nothing can be written.';
