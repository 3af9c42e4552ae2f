//! Runs that go along with a schedule as far as they can.
//!
//! A schedule that was changed somewhere seldom fits the program from there on. What is meant by it is still clear: of
//! those who can go on, whoever comes first in it.

use super::{
    Links, Misfit, Run, Runs, Seen, Step, Verdict, chronicle::Chronicle, links::Link,
    schedule::is_possible,
};
use crate::Activity;

/// A run that came to its end.
pub(super) struct Followed<R: Runs> {
    pub(super) run: R::Run,
    pub(super) verdict: Verdict,
    pub(super) chronicle: Chronicle,
    /// In how many ways each step could have gone.
    pub(super) ways: Vec<u32>,
}

/// Takes the steps of `prefix`, then goes along with `guide`, to the end or to so many steps. `took` is told of each
/// step.
pub(super) fn follow<R: Runs>(
    runs: &R,
    prefix: &[Step],
    guide: &[Step],
    most: usize,
    mut took: impl FnMut(Step, &R::Event, &Links),
) -> Result<Followed<R>, Misfit> {
    let mut run = runs.start();
    let mut chronicle = Chronicle::default();
    let mut ways = Vec::new();
    let mut links = Links::default();
    let mut guide = Guide::new(guide);
    let mut last = None;
    let verdict = loop {
        let number = chronicle.schedule().len();
        let step = match prefix.get(number) {
            Some(&step) if is_possible(&run, step) => step,
            Some(&step) => return Err(Misfit { number, step }),
            None => match guide.next(&run, last) {
                None => break run.verdict(),
                Some(_) if number >= most => break Verdict::Cut,
                Some(step) => step,
            },
        };
        ways.push(run.choices(step.activity));
        links.clear();
        let event = run.step_at(step, chronicle.next(), &mut links);
        took(step, &event, &links);
        chronicle.push(step, links.as_slice().iter().copied());
        last = Some(step.activity);
    };
    Ok(Followed {
        run,
        verdict,
        chronicle,
        ways,
    })
}

impl<R: Runs> Followed<R> {
    /// As it is shown.
    pub(super) fn seen(&self, number: u64) -> Seen<'_, R> {
        Seen {
            number,
            verdict: self.verdict,
            run: &self.run,
            schedule: self.chronicle.schedule(),
        }
    }

    /// The links of those that wait for ever.
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

/// What is left of a schedule to go along with.
struct Guide<'a> {
    steps: &'a [Step],
    is_taken: Vec<bool>,
    /// All before this are taken.
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

    /// The first step that is left of someone who can go on. If there is none, the last one goes on, or else the lowest.
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
