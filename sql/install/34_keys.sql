-- Keys of tenants. Coordinates and texts of sources are sealed with them: titles, addresses, locators, pages, passages, facts and quotes.

CREATE TABLE reground.tenant_keys (
    key_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL,
    wrapped      bytea,
    created_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    sealed_at    timestamptz,
    sealed_until text,
    destroyed_at timestamptz,
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE INDEX tenant_keys_tenant ON reground.tenant_keys (tenant, key_id);
COMMENT ON TABLE reground.tenant_keys IS 'Keys of tenants, encrypted with the master key, which is not in the database. The newest key of a tenant seals what is stored.';
COMMENT ON COLUMN reground.tenant_keys.key_id IS 'Number of the key, a part of each sealed value.';
COMMENT ON COLUMN reground.tenant_keys.tenant IS 'Tenant of the key.';
COMMENT ON COLUMN reground.tenant_keys.wrapped IS 'The key, encrypted with the master key; NULL if it was destroyed.';
COMMENT ON COLUMN reground.tenant_keys.created_at IS 'When the key was made.';
COMMENT ON COLUMN reground.tenant_keys.sealed_at IS 'When the maintenance task seal_rows had sealed all older rows of the tenant with the key; NULL before.';
COMMENT ON COLUMN reground.tenant_keys.sealed_until IS 'The rows that the task has sealed so far: a table and its last key.';
COMMENT ON COLUMN reground.tenant_keys.destroyed_at IS 'When the key was destroyed (forget_tenant_keys); NULL otherwise.';

CREATE FUNCTION reground._unsealed(tenant text, kind text, value text) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'unsealed_wrapper';
COMMENT ON FUNCTION reground._unsealed(text, text, text) IS
'Internal: returns a stored value of a tenant as text: itself, the value that it seals, sealed without the key, or erased if the key was destroyed.';

CREATE FUNCTION reground.rotate_tenant_key(tenant text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'rotate_tenant_key_wrapper';
COMMENT ON FUNCTION reground.rotate_tenant_key(text) IS
'Makes a new key for a tenant, by default that of the caller, and returns its number. The maintenance task seal_rows then seals the stored rows with it; until then, and in backups, the older keys open them. The first key binds the database to its master key. For reground_admin. Errors: 42501 without the master key that the other keys have.';

CREATE FUNCTION reground.change_master_key(new_master_key text)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'change_master_key_wrapper';
COMMENT ON FUNCTION reground.change_master_key(text) IS
'Encrypts the keys of all tenants with another master key, 64 hexadecimal digits, and returns their number. From the commit on, sessions need the new master key. Pass it as a parameter, so that no log contains it. For reground_admin. Errors: 25001 under REPEATABLE READ, 22023 for another text, 42501 if the present master key does not open all keys.';
