//! What somebody may have meant by a name that does not exist.

/// Those of `known` that somebody may have meant by `word`, the likeliest first.
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

/// A question about what somebody may have meant; nothing if there is no telling.
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
