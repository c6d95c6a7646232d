\set number random(0, 60)
\set seed random(0, 100000)
\set what random(0, 19)
SELECT ask(:number, :seed) AS turn \gset
\if :what = 0
SELECT abandon(:turn);
\else
SELECT answer(:turn, :seed);
\endif
-- Another answer to the same question.
\if :what = 1
SELECT answer(:turn, :seed + 1);
\endif
