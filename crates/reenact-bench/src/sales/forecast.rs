//! The actor that forecasts, on a thread for each project.

use reenact::{
    actor::Resolver,
    sync::{Arc, Mutex},
    thread,
};

/// A straight line through what a project has brought in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trend {
    slope: f64,
    intercept: f64,
}

impl Trend {
    /// The line of least squares.
    pub(super) fn of(weeks: &[u64]) -> Self {
        let points = || weeks.iter().enumerate().map(|(x, &y)| (x as f64, y as f64));
        let mean = |sum: f64| sum / weeks.len() as f64;
        let mean_x = mean(points().map(|(x, _)| x).sum());
        let mean_y = mean(points().map(|(_, y)| y).sum());
        let variance: f64 = points().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let covariance: f64 = points().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = covariance / variance;
        Self {
            slope,
            intercept: mean_y - slope * mean_x,
        }
    }
}

/// Forecasts once, and reports the trends.
pub(super) struct Forecast {
    report: Resolver<Vec<Trend>>,
}

impl Forecast {
    pub(super) fn new(report: Resolver<Vec<Trend>>) -> Self {
        Self { report }
    }
}

#[reenact::actor]
impl Forecast {
    /// For each project, what it has brought in week by week.
    pub(super) fn forecast(&mut self, projects: Vec<Vec<u64>>) {
        let trends = Arc::new(Mutex::new(vec![Trend::default(); projects.len()]));
        let threads = projects.into_iter().enumerate().map(|(project, weeks)| {
            let trends = Arc::clone(&trends);
            thread::spawn(move || {
                let trend = Trend::of(&weeks);
                trends.lock().unwrap()[project] = trend;
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.join().expect("a forecast does not panic");
        }
        let trends = std::mem::take(&mut *trends.lock().unwrap());
        self.report.resolve(trends);
    }
}

#[cfg(test)]
mod tests {
    use super::Trend;

    #[test]
    fn the_trend_of_a_line_is_that_line() {
        let weeks: Vec<_> = (0..10).map(|x| 7 + 3 * x).collect();
        let expected = Trend {
            slope: 3.0,
            intercept: 7.0,
        };
        assert_eq!(Trend::of(&weeks), expected);
    }
}
