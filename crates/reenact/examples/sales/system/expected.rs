//! What the system should find, computed in one go and without any text.

use super::{
    Sizes,
    forecast::Forecast,
    input::{Event, event},
};

fn well_formed(sizes: Sizes) -> impl Iterator<Item = Event> {
    let events = (0..sizes.events).map(move |number| event(number, sizes));
    events.filter(|event| !event.is_malformed)
}

/// How many sales there are in the end.
pub(super) fn stored(sizes: Sizes) -> u64 {
    well_formed(sizes)
        .map(|event| event.sales.len() as u64)
        .sum()
}

pub(super) fn malformed(sizes: Sizes) -> usize {
    sizes.events - well_formed(sizes).count()
}

/// By project.
pub(super) fn forecasts(sizes: Sizes) -> Vec<Forecast> {
    let mut series = vec![vec![0; sizes.months]; sizes.projects];
    for sale in well_formed(sizes).flat_map(|event| event.sales) {
        series[sale.project][sale.month] += sale.amount;
    }
    let series = series.iter().enumerate();
    series
        .map(|(project, months)| Forecast::of(project, months))
        .collect()
}
