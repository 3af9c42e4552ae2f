//! The actor that keeps the books, in variables that others might change as well.

use reenact::{
    actor::FarRef,
    stm::{StmResult, TVar, Transaction, atomically},
};

use super::{
    forecast::{Forecast, ForecastSends},
    sale::{PROJECTS, Sale, WEEKS},
};

/// Books what it is sent, and has it forecast when it is complete.
pub(super) struct Storage {
    /// How many sales there will be.
    expected: u64,
    booked: TVar<u64>,
    projects: Vec<Project>,
    forecast: FarRef<Forecast>,
}

/// What a project has brought in.
struct Project {
    total: TVar<u64>,
    weeks: Vec<TVar<u64>>,
}

impl Storage {
    pub(super) fn new(expected: u64, forecast: FarRef<Forecast>) -> Self {
        let project = |_| Project {
            total: TVar::new(0),
            weeks: (0..WEEKS).map(|_| TVar::new(0)).collect(),
        };
        Self {
            expected,
            booked: TVar::new(0),
            projects: (0..PROJECTS).map(project).collect(),
            forecast,
        }
    }

    /// Books a sale; returns how many there have been.
    fn book(&self, tx: &mut Transaction, sale: &Sale) -> StmResult<u64> {
        let project = &self.projects[sale.project];
        let revenue = sale.revenue();
        project.weeks[sale.week].modify(tx, |sum| sum + revenue)?;
        project.total.modify(tx, |sum| sum + revenue)?;
        let booked = self.booked.read(tx)? + 1;
        self.booked.write(tx, booked)?;
        Ok(booked)
    }

    /// What each project has brought in, week by week. The books balance.
    fn weeks(&self) -> Vec<Vec<u64>> {
        let weeks = |project: &Project| {
            let (weeks, total) = atomically(|tx| {
                let weeks: StmResult<Vec<u64>> =
                    project.weeks.iter().map(|week| week.read(tx)).collect();
                Ok((weeks?, project.total.read(tx)?))
            });
            assert_eq!(weeks.iter().sum::<u64>(), total);
            weeks
        };
        self.projects.iter().map(weeks).collect()
    }
}

#[reenact::actor]
impl Storage {
    pub(super) fn store(&mut self, sale: Sale) {
        let booked = atomically(|tx| self.book(tx, &sale));
        if booked == self.expected {
            self.forecast.forecast(self.weeks());
        }
    }
}
