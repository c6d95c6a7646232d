-- The turns :first to :last of the conversations of the tenants :tenants. Prints what the application was told.
SELECT format('SELECT %s(%L, %L, %s)', call, tenant, 'conv-' || c, n)
FROM unnest(:'tenants'::text[]) AS tenant, generate_series(1, 3) AS c, generate_series(:first, :last) AS n, unnest('{begin_turn,end_turn}'::text[]) AS call
ORDER BY c, n, tenant, call \gexec
