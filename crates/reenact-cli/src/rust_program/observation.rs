//! The observation and the ending of a universe.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use reenact_engine::explore::protocol::{ActivityReport, ActivityStatus, OperationReport};
use reenact_multiverse::{Activity, Ending, Observation, Wait};

use super::{message, operations, report_cache::NamedReport, site, value};

/// Returns what can be observed: every activity with its next operation and the locks it holds, all locks that are
/// held, the output, and the values that the program watches, by name.
pub(super) fn observe(seen: &NamedReport, file: &str) -> Observation {
    let report = &seen.report;
    let activities = report.activities.iter();
    let mut all: Vec<_> = activities
        .map(|acting| (acting.place.clone(), activity(acting, seen, file)))
        .collect();
    let locks = locks(seen, file);
    if !locks.is_empty() {
        all.push(("locks".to_owned(), Observation::Record(locks)));
    }
    if !report.printed.is_empty() {
        let lines = report.printed.iter().cloned().map(Observation::Text);
        all.push(("printed".to_owned(), Observation::List(lines.collect())));
    }
    for (name, text) in &report.watched {
        all.push((name.clone(), value::parse(text)));
    }
    if let Some(error) = &seen.error {
        all.push(("error".to_owned(), Observation::Text(error.clone())));
    }
    Observation::Record(all)
}

fn activity(acting: &ActivityReport, seen: &NamedReport, file: &str) -> Observation {
    let mut fields = Vec::new();
    let mut field = |name: &str, text: String| {
        fields.push((name.to_owned(), Observation::Text(text)));
    };
    if !acting.name.is_empty() {
        field("thread", acting.name.clone());
    }
    match &acting.status {
        ActivityStatus::Pending(doing) => {
            let does = match doing.is_enabled {
                true => operations::does(doing, seen, None, file),
                false => waits_for(doing, seen, file),
            };
            field("does", does);
            fields.extend(message::location(doing.location.as_ref(), file));
        }
        ActivityStatus::Waits(what) => field("does", format!("waits for {what}")),
        ActivityStatus::Ended if is_light(acting) => field("does", "has nothing to do".to_owned()),
        ActivityStatus::Ended => field("does", "has ended".to_owned()),
    }
    fields.extend(actor(acting, seen, file));
    if let Some(panic) = &acting.panic {
        let text = Observation::Text(panic.clone());
        fields.push(("panicked".to_owned(), text));
    }
    let held = seen.report.holders.iter();
    let held = held.filter(|(_, who, _)| *who == acting.number);
    let shared = seen.report.sharers.iter();
    let shared = shared.filter(|(_, who)| *who == acting.number);
    let has: Vec<_> = held
        .map(|(object, ..)| object)
        .chain(shared.map(|(object, _)| object))
        .map(|&object| Observation::Text(seen.name(object)))
        .collect();
    if !has.is_empty() {
        fields.push(("has".to_owned(), Observation::List(has)));
    }
    Observation::Record(fields)
}

/// Returns whether it is an actor, a process or a task, which can be idle without having ended, such as `main.a0`.
fn is_light(activity: &ActivityReport) -> bool {
    let last = activity.place.rsplit('.').next().unwrap_or_default();
    activity.place != "main" && last.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Returns what can be observed of an actor: the message that it handles, the messages that wait, and its state if it
/// can be shown. In the middle of a turn it cannot.
fn actor(acting: &ActivityReport, seen: &NamedReport, file: &str) -> Vec<(String, Observation)> {
    let mut fields = Vec::new();
    let ActivityReport {
        inbox, turn, state, ..
    } = acting;
    if let Some(turn) = turn {
        let text = format!("{} from {}", turn.label, message::peer(turn, &seen.report));
        fields.push(("turn".to_owned(), Observation::Text(text)));
    }
    if !inbox.is_empty() || turn.is_some() || state.is_some() {
        let inbox = inbox
            .iter()
            .map(|one| message::observe(one, &seen.report, file));
        fields.push(("inbox".to_owned(), Observation::List(inbox.collect())));
    }
    if let Some(state) = state {
        let state = match turn {
            Some(_) => Observation::Text("<in a turn>".to_owned()),
            None => value::parse(state),
        };
        fields.push(("state".to_owned(), state));
    }
    fields
}

fn locks(seen: &NamedReport, file: &str) -> Vec<(String, Observation)> {
    let place = |who: u32| match seen.report.activity(Activity(who)) {
        Some(acting) => acting.place.clone(),
        None => format!("activity {who}"),
    };
    let mut locks = Vec::new();
    for (object, who, since) in &seen.report.holders {
        let fields = [("by", place(*who)), ("since", place_in(since, file))];
        let fields = fields.map(|(name, text)| (name.to_owned(), Observation::Text(text)));
        locks.push((seen.name(*object), Observation::Record(fields.to_vec())));
    }
    for (object, _) in &seen.report.sharers {
        let name = seen.name(*object);
        if locks.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let sharers = seen
            .report
            .sharers
            .iter()
            .filter(|(other, _)| other == object);
        let sharers = sharers.map(|(_, who)| Observation::Text(place(*who)));
        let fields = vec![("by".to_owned(), Observation::List(sharers.collect()))];
        locks.push((name, Observation::Record(fields)));
    }
    locks.sort_by(|(a, _), (b, _)| a.cmp(b));
    locks
}

fn waits_for(doing: &OperationReport, seen: &NamedReport, file: &str) -> String {
    format!(
        "waits to {}{}",
        operations::waits_to(doing, seen),
        who_has(doing, seen, file)
    )
}

/// Shortens a position such as `bank.rs:12:9` to its line if it is in this file.
fn place_in(place: &str, file: &str) -> String {
    let within = place
        .strip_prefix(file)
        .and_then(|rest| rest.strip_prefix(':'));
    match within.and_then(|rest| rest.split(':').next()) {
        Some(line) => format!("line {line}"),
        None => place.to_owned(),
    }
}

/// Describes which activity holds an object that the operation needs.
fn who_has(doing: &OperationReport, seen: &NamedReport, file: &str) -> String {
    let mut objects = doing.touches.iter().filter_map(|(_, object)| *object);
    let holder = objects.find_map(|object| {
        let held = seen
            .report
            .holders
            .iter()
            .find(|(held, ..)| *held == object)?;
        let who = seen.report.activity(Activity(held.1))?;
        Some((&who.place, &held.2))
    });
    match holder {
        Some((who, since)) => format!(", which {who} has since {}", place_in(since, file)),
        None => String::new(),
    }
}

/// Returns the ending: states, output and watched values; errors; and, in a deadlock, what each activity waits for.
pub(super) fn ending(seen: &NamedReport, file: &str) -> Ending {
    let report = &seen.report;
    let mut ending = Ending::default();
    if let Some(error) = &seen.error {
        ending.errors.push(error.clone());
        return ending;
    }
    let printed = report.printed.iter().map(|line| format!("prints {line}"));
    let watched = report.watched.iter();
    let watched = watched.map(|(name, text)| format!("{name} = {}", value::parse(text)));
    let states = report.activities.iter().flat_map(left_in);
    ending.outcome = states.chain(printed).chain(watched).collect();
    ending.errors = report.failures.clone();
    let exit = report.exit.map(ExitStatus::from_raw);
    if exit.is_some_and(|exit| !exit.success()) {
        let all = report.activities.iter();
        let panics = all.filter_map(|one| Some((&one.place, one.panic.as_ref()?)));
        let panics = panics.map(|(who, panic)| format!("{who} panicked {panic}"));
        ending.errors.extend(panics);
    }
    match exit {
        Some(exit) if exit.success() && ending.outcome.is_empty() => {
            ending.outcome.push("ends as it should".to_owned());
        }
        Some(exit) if !exit.success() => ending.errors.push(match (exit.code(), exit.signal()) {
            (Some(status), _) => format!("exits with status {status}"),
            (None, signal) => format!("is killed by signal {}", signal.unwrap_or_default()),
        }),
        _ => {}
    }
    if report.is_deadlock {
        ending.waits = report
            .activities
            .iter()
            .filter_map(|one| wait(one, seen, file))
            .collect();
    }
    ending
}

/// Returns the final state of an actor, one line per value.
fn left_in(acting: &ActivityReport) -> Vec<String> {
    let place = &acting.place;
    let state = acting.state.as_deref().filter(|_| acting.turn.is_none());
    match state.map(value::parse) {
        Some(Observation::Record(fields)) => fields
            .iter()
            .map(|(name, value)| format!("{place}.{name} = {value}"))
            .collect(),
        Some(value) => vec![format!("{place} = {value}")],
        None => Vec::new(),
    }
}

fn wait(acting: &ActivityReport, seen: &NamedReport, file: &str) -> Option<Wait> {
    let (what, site) = match &acting.status {
        ActivityStatus::Pending(doing) => {
            let what = match (doing.object(), &doing.with) {
                (Some(object), _) => seen.name(object),
                (None, Some((_, joined))) => format!("the end of {joined}"),
                (None, None) => doing.name.clone(),
            };
            (
                format!("{what}{}", who_has(doing, seen, file)),
                doing.location.as_ref().map(site),
            )
        }
        ActivityStatus::Waits(what) => (what.clone(), None),
        ActivityStatus::Ended => return None,
    };
    Some(Wait {
        who: acting.place.clone(),
        what,
        site,
    })
}
