-- Whose rows a statement sees and writes.

CREATE FUNCTION reground.current_tenant() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'current_tenant_wrapper';
COMMENT ON FUNCTION reground.current_tenant() IS
'Returns the tenant of this statement: the value of the setting named by reground.tenant_from, or the current role if reground.tenant_from is not set. NULL if the named setting is empty; then no row is visible and nothing can be written.';
