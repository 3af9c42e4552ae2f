//! The statistics that the tables use: median, quartiles, geometric mean.
//!
//! A ratio is taken within a round, where both sides met the same machine; these functions then
//! summarise over rounds. The median ignores the rounds in which the machine was busy elsewhere,
//! and the quartiles say how many those were.

/// Median with the quartiles around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// A quarter of the values lie below.
    pub q1: f64,
    /// Half of the values lie below.
    pub median: f64,
    /// Three quarters of the values lie below.
    pub q3: f64,
}

impl Summary {
    /// Summarises `values`; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            q1: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            q3: quantile(&sorted, 0.75),
        })
    }

    /// A single value, which is its own quartiles.
    pub fn exactly(value: f64) -> Self {
        Self {
            q1: value,
            median: value,
            q3: value,
        }
    }

    /// Summarises several summaries: `mean` is applied to the medians and to each quartile, so
    /// that a reader can recompute the row from the rows above it.
    pub fn across(summaries: &[Self], mean: fn(&[f64]) -> Option<f64>) -> Option<Self> {
        let each = |part: fn(&Self) -> f64| mean(&summaries.iter().map(part).collect::<Vec<_>>());
        Some(Self {
            q1: each(|s| s.q1)?,
            median: each(|s| s.median)?,
            q3: each(|s| s.q3)?,
        })
    }
}

/// Linear interpolation between the two nearest ranks, as most tools do it.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    let below = rank.floor() as usize;
    let above = rank.ceil() as usize;
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

/// Geometric mean of positive values; `None` if there are none or one is not positive.
pub fn geomean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|&v| v <= 0.0) {
        return None;
    }
    let logs: f64 = values.iter().map(|v| v.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

/// Arithmetic mean; `None` if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::{Summary, geomean, mean};

    #[test]
    fn median_and_quartiles_of_an_odd_count_are_values() {
        let summary = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            summary,
            Summary {
                q1: 2.0,
                median: 3.0,
                q3: 4.0
            }
        );
    }

    #[test]
    fn median_and_quartiles_of_an_even_count_lie_between_values() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(
            summary,
            Summary {
                q1: 1.75,
                median: 2.5,
                q3: 3.25
            }
        );
    }

    #[test]
    fn one_value_is_its_own_summary() {
        assert_eq!(Summary::of(&[1.5]), Some(Summary::exactly(1.5)));
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(geomean(&[]), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn one_wild_round_does_not_move_the_median() {
        let calm = Summary::of(&[1.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
        let wild = Summary::of(&[1.0, 1.0, 50.0, 1.0, 1.0]).unwrap();
        assert_eq!(calm, wild);
    }

    #[test]
    fn geomean_of_a_ratio_and_its_inverse_is_one() {
        let value = geomean(&[0.25, 4.0, 1.0]).unwrap();
        assert!((value - 1.0).abs() < 1e-12, "{value}");
        let value = geomean(&[2.0, 8.0]).unwrap();
        assert!((value - 4.0).abs() < 1e-12, "{value}");
    }

    #[test]
    fn geomean_refuses_what_has_no_logarithm() {
        assert_eq!(geomean(&[1.0, 0.0]), None);
    }

    #[test]
    fn summaries_are_combined_part_by_part() {
        let a = Summary {
            q1: 1.0,
            median: 2.0,
            q3: 3.0,
        };
        let b = Summary {
            q1: 3.0,
            median: 4.0,
            q3: 5.0,
        };
        let both = Summary::across(&[a, b], mean).unwrap();
        assert_eq!(
            both,
            Summary {
                q1: 2.0,
                median: 3.0,
                q3: 4.0
            }
        );
    }
}
