//! Runs that follow a schedule as far as they can.
//!
//! A schedule that was changed somewhere seldom fits the program from there on. It is then taken as a preference: the
//! next step is the first one left in it whose activity is enabled.

use super::{
    Divergence, Links, Run, Runs, Seen, Step, Verdict, can_be_taken, event_log::EventLog,
    links::Link, schedule::is_possible,
};
use crate::Activity;

/// A run that has ended.
pub(super) struct EndedRun<R: Runs> {
    pub(super) run: R::Run,
    pub(super) verdict: Verdict,
    pub(super) event_log: EventLog,
    /// The number of choices of each step.
    pub(super) ways: Vec<u32>,
}

/// Takes the steps of `prefix`, then follows `guide`, to the end or up to `most` steps. Calls `took` after each step.
pub(super) fn follow<R: Runs>(
    runs: &R,
    prefix: &[Step],
    guide: &[Step],
    most: usize,
    mut took: impl FnMut(Step, &R::Event, &Links),
) -> Result<EndedRun<R>, Divergence> {
    let mut run = runs.start();
    let mut event_log = EventLog::default();
    let mut ways = Vec::new();
    let mut links = Links::default();
    let mut guide = Guide::new(guide);
    let mut last = None;
    let verdict = loop {
        let number = event_log.schedule().len();
        let step = match prefix.get(number) {
            Some(&step) => match can_be_taken(&run, step) {
                Ok(()) => step,
                Err(_) if run.verdict() == Verdict::Interrupted => break Verdict::Interrupted,
                Err(found) => return Err(Divergence::at_step(number, step, found)),
            },
            None => match guide.next(&run, last) {
                None => break run.verdict(),
                Some(_) if number >= most => break Verdict::Cut,
                Some(step) => step,
            },
        };
        ways.push(run.choices(step.activity));
        links.clear();
        let event = run.step_at(step, event_log.next(), &mut links);
        took(step, &event, &links);
        event_log.push(step, links.as_slice().iter().copied());
        last = Some(step.activity);
    };
    Ok(EndedRun {
        run,
        verdict,
        event_log,
        ways,
    })
}

impl<R: Runs> EndedRun<R> {
    /// The execution in the form that is passed to visitors.
    pub(super) fn seen(&self, number: u64) -> Seen<'_, R> {
        Seen {
            number,
            verdict: self.verdict,
            run: &self.run,
            schedule: self.event_log.schedule(),
        }
    }

    /// The pending operations at the end, with their links.
    pub(super) fn pending(&self) -> impl Iterator<Item = (Activity, Vec<Link>)> {
        let activities = (0..self.run.activities()).map(Activity);
        let waiting = activities.filter(|&activity| self.run.pending(activity).is_some());
        waiting.map(|activity| {
            let mut links = Links::default();
            self.run.links(activity, &mut links);
            (activity, links.as_slice().to_vec())
        })
    }
}

/// The steps of a schedule that are left to follow.
struct Guide<'a> {
    steps: &'a [Step],
    is_taken: Vec<bool>,
    /// All steps before this index are taken.
    start: usize,
}

impl<'a> Guide<'a> {
    fn new(steps: &'a [Step]) -> Self {
        Guide {
            steps,
            is_taken: vec![false; steps.len()],
            start: 0,
        }
    }

    /// Returns the first step left whose activity is enabled. If there is none, the last activity continues, or else
    /// the enabled one with the lowest number.
    fn next(&mut self, run: &impl Run, last: Option<Activity>) -> Option<Step> {
        while self.is_taken.get(self.start) == Some(&true) {
            self.start += 1;
        }
        let is_next = |&at: &usize| !self.is_taken[at] && run.is_enabled(self.steps[at].activity);
        if let Some(at) = (self.start..self.steps.len()).find(is_next) {
            self.is_taken[at] = true;
            let step = self.steps[at];
            return Some(match is_possible(run, step) {
                true => step,
                false => step.activity.into(),
            });
        }
        let any = last.into_iter().chain((0..run.activities()).map(Activity));
        let mut enabled = any.filter(|&activity| run.is_enabled(activity));
        enabled.next().map(Step::from)
    }
}
