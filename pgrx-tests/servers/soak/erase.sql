-- Mostly single conversations, sometimes all of a user.
\set number random(0, 60)
\set kind random(0, 20)
SELECT forget(:number, :kind / 10);
