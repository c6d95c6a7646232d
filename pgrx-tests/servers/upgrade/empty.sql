-- Empties the tables that CREATE EXTENSION fills, because a subscription copies their rows too.
BEGIN;
DELETE FROM reground.citation_statuses;
DELETE FROM reground.support_cues;
DELETE FROM reground.alert_rules;
DELETE FROM reground.maintenance_tasks;
COMMIT;
