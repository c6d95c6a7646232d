-- Empties the tables that CREATE EXTENSION fills, because a subscription copies their rows too.
TRUNCATE reground.citation_statuses, reground.support_cues, reground.alert_rules, reground.maintenance_tasks CASCADE;
