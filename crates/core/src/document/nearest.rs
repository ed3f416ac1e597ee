//! Which word did the author most likely mean?

/// The candidate nearest to a mistyped word, if any is near enough to be worth a guess: at most a third of its letters differ,
/// letter case aside.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.chars().count().max(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, removals, replacements and swaps of neighbours turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // A word of a hundred letters is not a typing mistake; the bound keeps hostile input cheap.
    if a.len() > 100 || b.len() > 100 {
        return usize::MAX / 3;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least =
                (previous[j] + usize::from(x != y)).min(previous[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_what_was_meant_and_nothing_wild() {
        let check = |word: &str, expected: Option<&str>| {
            let fields = ["startTime", "endTime", "duration", "recurrence", "dayOfWeek"];
            assert_eq!(nearest(word, fields), expected, "{word}");
        };
        check("starttime", Some("startTime"));
        check("statrTime", Some("startTime"));
        check("durations", Some("duration"));
        check("daysOfWeek", Some("dayOfWeek"));
        check("reccurence", Some("recurrence"));
        check("colour", None);
        check("", None);
        check(&"x".repeat(5000), None);
    }
}
