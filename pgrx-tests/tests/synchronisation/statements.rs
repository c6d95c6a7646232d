//! Random statements on the table and its parent.

use reground_tests::chance::Chance;

/// Keys that the writers share, so that they often change the same rows.
const KEYS: usize = 60;

/// The kinds of random statements, in the order of [`statement`].
pub const KINDS: [&str; 21] = [
    "INSERT",
    "INSERT … ON CONFLICT",
    "UPDATE of a text",
    "UPDATE of titles",
    "content to NULL",
    "change of a key",
    "DELETE",
    "MERGE",
    "DELETE and INSERT in one statement",
    "cascade of DELETE",
    "cascade of UPDATE",
    "new parent row",
    "INSERT into a partition",
    "UPDATE of a partition",
    "DELETE from a partition",
    "COPY",
    "COPY into a partition",
    "UPDATE of many rows",
    "TRUNCATE",
    "TRUNCATE of a partition",
    "TRUNCATE … CASCADE",
];

/// A random statement, and its place in [`KINDS`].
pub fn statement(chance: &mut Chance, number: usize) -> (usize, String) {
    let (key, other, owner) = (chance.below(KEYS), chance.below(KEYS), chance.below(10));
    let part = if key < 30 { "texts_low" } else { "texts_high" };
    let row = format!(
        "{owner}, 'Text {number}.', (SELECT name FROM owners WHERE id = {})",
        other % 10
    );
    // TRUNCATE and the cascade remove most rows, so they are rare.
    let kind = match chance.below(400) {
        rare @ 0..=2 => 18 + rare,
        number if number % 18 == 9 && number > 100 => 0,
        number => number % 18,
    };
    let statement = match kind {
        0 => format!(
            "INSERT INTO texts SELECT n, {row} FROM generate_series({key}, {}) AS n ON CONFLICT DO NOTHING",
            key + 9
        ),
        1 => format!(
            "INSERT INTO texts VALUES ({key}, {row}), ({}, {owner}, 'More {number}.', NULL) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            key + 1
        ),
        2 => format!("UPDATE texts SET body = 'Changed {number}.' WHERE id = {key}"),
        3 => format!(
            "UPDATE texts SET headline = (SELECT name FROM owners WHERE id = {owner}) WHERE id BETWEEN {key} AND {}",
            key + 3
        ),
        4 => format!("UPDATE texts SET body = NULL WHERE id = {key}"),
        5 => format!("UPDATE texts SET id = {other} WHERE id = {key}"),
        6 => format!("DELETE FROM texts WHERE id = {key}"),
        7 => format!(
            "MERGE INTO texts AS t USING (VALUES ({key}), ({})) AS n(id) ON t.id = n.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE \
            WHEN MATCHED THEN UPDATE SET body = 'Merged {number}.' WHEN NOT MATCHED THEN INSERT VALUES (n.id, {owner}, 'New {number}.', NULL)",
            key + 1
        ),
        8 => format!(
            "WITH gone AS (DELETE FROM texts WHERE id IN ({key}, {}) RETURNING *) \
             INSERT INTO texts SELECT id + 1, owner_id, body, headline FROM gone ON CONFLICT DO NOTHING",
            key + 1
        ),
        9 => format!("DELETE FROM owners WHERE id = {owner}"),
        10 => format!("UPDATE owners SET name = 'Title {number}' WHERE id = {owner}"),
        11 => format!(
            "INSERT INTO owners SELECT n, 'Title ' || {number} || '.' || n FROM generate_series(0, 9) AS n ON CONFLICT DO NOTHING"
        ),
        12 => format!("INSERT INTO {part} VALUES ({key}, {row}) ON CONFLICT DO NOTHING"),
        13 => format!("UPDATE {part} SET body = 'Partition {number}.' WHERE id = {key}"),
        14 => format!("DELETE FROM {part} WHERE id IN ({key}, {other})"),
        15 => format!(
            "COPY texts FROM PROGRAM 'printf \"{key},{owner},Copy {number}.,\\n{},{owner},Copied {number}.,\\n\"' (FORMAT csv)",
            key + 1
        ),
        16 => format!(
            "COPY {part} FROM PROGRAM 'printf \"{key},{owner},Copy {number}.,\\n\"' (FORMAT csv)"
        ),
        17 => format!("UPDATE texts SET body = body || ' {number}.' WHERE owner_id = {owner}"),
        18 => "TRUNCATE texts".to_owned(),
        19 => format!("TRUNCATE {part}"),
        _ => "TRUNCATE owners CASCADE".to_owned(),
    };
    (kind, statement)
}
