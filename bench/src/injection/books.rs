//! The books of the King James Version in order, with common abbreviations.

/// Name and abbreviations of each book.
#[rustfmt::skip]
pub const BOOKS: [(&str, &[&str]); 66] = [
    ("Genesis", &["Gen."]), ("Exodus", &["Ex.", "Exod."]), ("Leviticus", &["Lev."]), ("Numbers", &["Num."]),
    ("Deuteronomy", &["Deut."]), ("Joshua", &["Josh."]), ("Judges", &["Judg."]), ("Ruth", &[]),
    ("1 Samuel", &["1 Sam."]), ("2 Samuel", &["2 Sam."]), ("1 Kings", &["1 Kgs."]), ("2 Kings", &["2 Kgs."]),
    ("1 Chronicles", &["1 Chr.", "1 Chron."]), ("2 Chronicles", &["2 Chr.", "2 Chron."]), ("Ezra", &[]), ("Nehemiah", &["Neh."]),
    ("Esther", &["Esth."]), ("Job", &[]), ("Psalms", &["Ps.", "Psalm"]), ("Proverbs", &["Prov."]),
    ("Ecclesiastes", &["Eccl."]), ("Song of Solomon", &["Song"]), ("Isaiah", &["Isa."]), ("Jeremiah", &["Jer."]),
    ("Lamentations", &["Lam."]), ("Ezekiel", &["Ezek."]), ("Daniel", &["Dan."]), ("Hosea", &["Hos."]),
    ("Joel", &[]), ("Amos", &[]), ("Obadiah", &["Obad."]), ("Jonah", &[]),
    ("Micah", &["Mic."]), ("Nahum", &["Nah."]), ("Habakkuk", &["Hab."]), ("Zephaniah", &["Zeph."]),
    ("Haggai", &["Hag."]), ("Zechariah", &["Zech."]), ("Malachi", &["Mal."]), ("Matthew", &["Matt."]),
    ("Mark", &[]), ("Luke", &[]), ("John", &[]), ("Acts", &[]),
    ("Romans", &["Rom."]), ("1 Corinthians", &["1 Cor."]), ("2 Corinthians", &["2 Cor."]), ("Galatians", &["Gal."]),
    ("Ephesians", &["Eph."]), ("Philippians", &["Phil."]), ("Colossians", &["Col."]), ("1 Thessalonians", &["1 Thess."]),
    ("2 Thessalonians", &["2 Thess."]), ("1 Timothy", &["1 Tim."]), ("2 Timothy", &["2 Tim."]), ("Titus", &[]),
    ("Philemon", &["Philem."]), ("Hebrews", &["Heb."]), ("James", &["Jas."]), ("1 Peter", &["1 Pet."]),
    ("2 Peter", &["2 Pet."]), ("1 John", &[]), ("2 John", &[]), ("3 John", &[]),
    ("Jude", &[]), ("Revelation", &["Rev."]),
];
