-- One call of each kind that an application makes often. A conversation ends after some turns.
\set number random(0, 60)
\set seed random(0, 100000)
\set what random(0, 9)
SELECT ask(:number, :seed) AS turn \gset
SELECT answer(:turn, :seed);
SELECT count(*) FROM reground.search('read', format('animal%s plant%s', :seed % 50, :seed % 60));
SELECT count(*) FROM reground.history('conv-:number');
SELECT count(*) FROM reground.prompt_context(:turn);
\if :what = 0
SELECT import(:number % 40, :seed);
\elif :what = 1
UPDATE articles SET body = body_of(:seed) WHERE id = :seed % 300;
\elif :what = 2
SELECT forget(:number, 0);
\elif :what = 3
SELECT count(*) FROM reground.verify_chain('conv-:number');
\elif :what = 4
SELECT count(*) FROM reground.run_maintenance();
\endif
