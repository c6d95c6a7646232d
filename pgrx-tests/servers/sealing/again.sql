-- The restored conversation goes on.
SELECT marker, title FROM reground.begin_turn('secret talk', 'and what else?', 'secrets');
SELECT status FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'They give milk [A1].');
