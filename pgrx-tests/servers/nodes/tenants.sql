-- How many rows of each table belong to the tenants :tenants, in all tables of reground with a column of tenants and in the shared corpus.
SELECT format('SELECT %L, count(*) FROM %s WHERE %I = ANY (%L)', c.oid::regclass, c.oid::regclass, a.attname, :'tenants')
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT a.attisdropped
    AND (c.relnamespace = 'reground'::regnamespace AND a.attname IN ('tenant', 'row_tenant') OR c.relname LIKE 'handbook%' AND a.attname = 'customer')
ORDER BY 1 \gexec
