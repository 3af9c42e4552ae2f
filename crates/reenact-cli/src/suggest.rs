//! Suggests known names for a misspelled one.

/// Returns the names in `known` that are similar to `word`, most similar first.
fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|one| {
            let score = match !word.is_empty() && one.starts_with(word) {
                true => 1.0,
                false => strsim::jaro_winkler(word, one),
            };
            (score, one)
        })
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().map(|(_, one)| one).take(3).collect()
}

/// Returns a question that suggests similar names, or `None` if there are none.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let similar = similar(word, known);
    match similar.is_empty() {
        true => None,
        false => Some(format!("did you mean {}?", similar.join(" or "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood() {
        assert_eq!(
            did_you_mean("unvierses", ["universes", "story"]).as_deref(),
            Some("did you mean universes?")
        );
        assert_eq!(did_you_mean("xyzzy", ["universes", "story"]), None);
    }
}
