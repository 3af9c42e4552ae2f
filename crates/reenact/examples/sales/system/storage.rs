//! The store, in variables that transactions read and write, and the actor that fills it.

use reenact::{
    actor::FarRef,
    stm::{StmResult, TVar, Transaction, atomically, guard},
    sync::Arc,
};

use super::{
    Sale, Sizes,
    forecast::{Counted, Forecasting, ForecastingSends},
};

/// What was sold.
///
/// # Invariants
///
/// 1. At the end of every transaction, `revenue` is the sum of all months of all projects.
pub(super) struct Store {
    projects: Vec<Vec<TVar<u64>>>,
    revenue: TVar<u64>,
    /// How many sales it has.
    count: TVar<u64>,
}

/// How often the auditor looks.
const AUDITS: u64 = 10;

impl Store {
    pub(super) fn new(sizes: Sizes) -> Store {
        let project = |_| (0..sizes.months).map(|_| TVar::new(0)).collect();
        Store {
            projects: (0..sizes.projects).map(project).collect(),
            revenue: TVar::new(0),
            count: TVar::new(0),
        }
    }

    /// Adds all sales of an event, or none.
    fn add(&self, tx: &mut Transaction, sales: &[Sale]) -> StmResult<()> {
        for sale in sales {
            self.projects[sale.project][sale.month].modify(tx, |sum| sum + sale.amount)?;
            self.revenue.modify(tx, |sum| sum + sale.amount)?;
        }
        self.count.modify(tx, |count| count + sales.len() as u64)
    }

    /// The months of all projects, at one instant.
    pub(super) fn series(&self, tx: &mut Transaction) -> StmResult<Vec<Vec<u64>>> {
        let mut all = Vec::new();
        for project in &self.projects {
            let months = project.iter().map(|month| month.read(tx));
            all.push(months.collect::<StmResult<_>>()?);
        }
        Ok(all)
    }

    /// Looks at the store now and then while it is being filled with so many sales. Returns how many there were each time.
    pub(super) fn audit(&self, all: u64) -> Vec<u64> {
        let look = |part| {
            atomically(|tx| {
                let count = self.count.read(tx)?;
                guard(count >= all * part / AUDITS)?;
                Ok((count, self.revenue.read(tx)?, self.series(tx)?))
            })
        };
        let looks = (1..=AUDITS).map(look);
        looks
            .map(|(count, revenue, series)| {
                assert_eq!(revenue, series.iter().flatten().sum::<u64>(), "invariant 1");
                count
            })
            .collect()
    }
}

/// Fills the store.
pub(crate) struct Storage {
    store: Arc<Store>,
    forecasting: FarRef<Forecasting>,
    transactions: u64,
}

#[reenact::actor]
impl Storage {
    /// Stores the sales of an event.
    pub(super) fn store(&mut self, sales: Vec<Sale>) {
        self.transactions += 1;
        atomically(|tx| self.store.add(tx, &sales));
    }

    /// All is there.
    pub(super) fn stored_all(&mut self, malformed: usize, operations: u64) {
        // A message and a transaction for each event.
        let operations = operations + 2 * self.transactions + AUDITS;
        self.forecasting.begin(
            Arc::clone(&self.store),
            Counted {
                malformed,
                operations,
            },
        );
    }
}

impl Storage {
    pub(super) fn new(store: Arc<Store>, forecasting: FarRef<Forecasting>) -> Storage {
        Storage {
            store,
            forecasting,
            transactions: 0,
        }
    }
}
