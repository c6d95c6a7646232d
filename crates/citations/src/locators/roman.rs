//! Roman numerals.

/// Digits and their values, in descending order.
const DIGITS: [(&str, u32); 13] = [
    ("M", 1000),
    ("CM", 900),
    ("D", 500),
    ("CD", 400),
    ("C", 100),
    ("XC", 90),
    ("L", 50),
    ("XL", 40),
    ("X", 10),
    ("IX", 9),
    ("V", 5),
    ("IV", 4),
    ("I", 1),
];

/// Returns the value of a numeral in its standard form, in either case.
pub(super) fn value(text: &str) -> Option<u32> {
    let upper = text.to_ascii_uppercase();
    let mut rest = upper.as_str();
    let mut sum = 0;
    for (digit, value) in DIGITS {
        // Digits that are powers of ten occur at most three times, others once.
        let most = if matches!(digit, "M" | "C" | "X" | "I") {
            3
        } else {
            1
        };
        for _ in 0..most {
            if let Some(after) = rest.strip_prefix(digit) {
                rest = after;
                sum += value;
            }
        }
    }
    (rest.is_empty() && sum > 0 && sum < 4000 && written(sum) == upper).then_some(sum)
}

fn written(mut number: u32) -> String {
    let mut out = String::new();
    for (digit, value) in DIGITS {
        while number >= value {
            out.push_str(digit);
            number -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{value, written};

    #[test]
    fn all_numerals_round_trip() {
        for number in 1..4000 {
            assert_eq!(value(&written(number)), Some(number));
        }
        assert_eq!(value("xiv"), Some(14));
        for text in ["", "IIII", "VX", "IC", "IXI", "ivory", "MMMM"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
