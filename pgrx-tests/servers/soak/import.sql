\set number random(0, 39)
\set seed random(0, 100000)
SELECT import(:number, :seed);
