//! Locks that several can hold to look, and one to change something.

use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of those who hold something together, or one of them alone: a lock of readers and a writer.
///
/// # Nondeterminism
///
/// To look comes after the last one who had it alone, and races with that one's taking it. To take it alone comes after
/// all who look, and races with each one's beginning to look. Those who look commute. To leave, and to go on looking after
/// having had it alone, race with nothing.
///
/// Dependent are: taking with taking and with looking.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    take: Option<Moment>,
    /// The end of that.
    release: Option<Moment>,
    /// Who has looked since, the last time of each.
    looks: Vec<Look>,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    activity: Activity,
    begin: Moment,
    end: Option<Moment>,
    /// How often it is to be left.
    depth: u32,
}

impl Sharing {
    /// What looking would race with. It may have to wait.
    pub fn link_look(&self, links: &mut Links) {
        if let Some(take) = self.take {
            links.outside(take, self.release);
        }
    }

    /// What taking would race with. It may have to wait.
    pub fn link_take(&self, links: &mut Links) {
        if self.looks.is_empty() {
            self.link_look(links);
        }
        for look in &self.looks {
            links.outside(look.begin, look.end);
        }
    }

    /// What leaving comes after, be it by one who looks or one who has it alone.
    pub fn link_leave(&self, activity: Activity, links: &mut Links) {
        let look = self.looks.iter().find(|look| look.activity == activity);
        if let Some(begin) = look.map(|look| look.begin).or(self.take) {
            links.after(begin);
        }
    }

    /// One more looks.
    pub fn look(&mut self, activity: Activity, moment: Moment) {
        let look = Look {
            activity,
            begin: moment,
            end: None,
            depth: 1,
        };
        match self.looks.iter_mut().find(|look| look.activity == activity) {
            Some(old) if old.end.is_none() => old.depth += 1,
            Some(old) => *old = look,
            None => self.looks.push(look),
        }
    }

    /// Somebody has it alone.
    pub fn take(&mut self, moment: Moment) {
        self.take = Some(moment);
        self.release = None;
        self.looks.clear();
    }

    /// The one who has it alone goes on looking.
    pub fn downgrade(&mut self, activity: Activity, moment: Moment) {
        self.release = Some(moment);
        self.looks.push(Look {
            activity,
            begin: self.take.unwrap_or(moment),
            end: None,
            depth: 1,
        });
    }

    /// Somebody looks no longer, or has it alone no longer.
    pub fn leave(&mut self, activity: Activity, moment: Moment) {
        match self.looks.iter_mut().find(|look| look.activity == activity) {
            Some(look) => {
                look.depth -= 1;
                look.end = (look.depth == 0).then_some(moment);
            }
            None => self.release = Some(moment),
        }
    }
}
