-- Prints the statements that set all sequences. Logical replication does not copy their state.
SELECT format('SELECT setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value) FROM pg_sequences WHERE last_value IS NOT NULL;
