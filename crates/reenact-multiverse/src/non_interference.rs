//! Checks the correctness theorem of the debugger, for any language.
//!
//! *Non-interference* (theorem 1 of the paper): a program does in the debugger exactly what it does without. It is
//! checked on every configuration that can be reached, whatever steps the user requests on the way.

use std::collections::{HashSet, VecDeque};

use crate::{
    Breakpoints, Configuration, Debugger, DebuggerMode, Goal, Rule, Semantics, StepSize, catalogue,
};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The number of configurations, in both granularities.
    pub configurations: usize,
    /// Whether these are all configurations that can be reached.
    pub is_complete: bool,
}

/// Checks that debugging a program with these breakpoints, and with any user commands, neither adds nor removes a step
/// of the program. At most `states` configurations are visited for each [`StepSize`].
///
/// In every configuration ⟨…, K⟩:
///
/// 1. the debugger's own rules, and every command, leave K unchanged, up to marks;
/// 2. every program step that the debugger allows is a step of K;
/// 3. by its own rules and `resume` alone, the debugger eventually allows exactly the steps of K;
/// 4. a mark in K changes none of that.
///
/// And both granularities reach the same settled configurations.
pub fn check_non_interference<S: Semantics>(
    base: &S,
    breakpoints: &Breakpoints,
    states: usize,
) -> Result<Checked, String> {
    let fine = walk(&Debugger::new(base, breakpoints, StepSize::Rule), states)?;
    let coarse = walk(&Debugger::new(base, breakpoints, StepSize::Macro), states)?;
    if fine.is_complete && coarse.is_complete && fine.settled != coarse.settled {
        let strange = fine
            .settled
            .symmetric_difference(&coarse.settled)
            .next()
            .map(|one| format!("{one:?}"));
        return Err(format!(
            "only one of the granularities leads to {}",
            strange.unwrap_or_default()
        ));
    }
    Ok(Checked {
        configurations: fine.visited + coarse.visited,
        is_complete: fine.is_complete && coarse.is_complete,
    })
}

struct ReachedConfigurations<K> {
    /// The configurations in which none of the debugger's own rules applies.
    settled: HashSet<Configuration<K>>,
    visited: usize,
    is_complete: bool,
}

fn walk<S: Semantics>(
    debugger: &Debugger<'_, S>,
    states: usize,
) -> Result<ReachedConfigurations<S::State>, String> {
    let mut queue: VecDeque<_> = debugger.initial().into();
    let mut seen: HashSet<_> = queue.iter().cloned().collect();
    let mut walk = ReachedConfigurations {
        settled: HashSet::new(),
        visited: 0,
        is_complete: true,
    };
    while let Some(state) = queue.pop_front() {
        if walk.visited == states {
            walk.is_complete = false;
            break;
        }
        walk.visited += 1;
        let rules = debugger.steps(&state);
        let mut next = Vec::new();
        for rule in &rules {
            let taken = debugger.take(&state, rule);
            project(debugger, &state, rule, &taken)?;
            next.push(taken);
        }
        if rules.iter().all(|rule| rule.base().is_some()) {
            next.extend(commanded(debugger, &state)?);
            walk.settled.insert(state.clone());
        }
        resumed(debugger, &state)?;
        for one in next {
            if seen.insert(one.clone()) {
                queue.push_back(one);
            }
        }
    }
    Ok(walk)
}

/// 1 and 2: a rule takes a step of the program, or leaves it unchanged.
fn project<S: Semantics>(
    debugger: &Debugger<'_, S>,
    state: &Configuration<S::State>,
    rule: &Rule<S::Step>,
    taken: &Configuration<S::State>,
) -> Result<(), String> {
    let base = debugger.base();
    let expected = match rule.base() {
        None => state.base.clone(),
        Some(step) if base.steps(&state.base).contains(step) => base.take(&state.base, step),
        Some(step) => return Err(format!("{step:?} is no step of {:?}", state.base)),
    };
    match base.unmark(&expected) == base.unmark(&taken.base) {
        true => Ok(()),
        false => Err(format!(
            "{} leads to {:?}, not to {expected:?}",
            rule.name(),
            taken.base
        )),
    }
}

/// The results of all commands that the user can give in a paused configuration, except `stop`.
fn commanded<S: Semantics>(
    debugger: &Debugger<'_, S>,
    state: &Configuration<S::State>,
) -> Result<Vec<Configuration<S::State>>, String> {
    let base = debugger.base();
    let mut all = Vec::new();
    if !matches!(state.mode, DebuggerMode::Pause(_)) {
        return Ok(all);
    }
    for step in catalogue::steps(base).filter(|step| step.goal != Goal::Stop) {
        for (activity, _) in &state.activities {
            for count in 1..=2 {
                if let Ok(next) = debugger.command(state, step, *activity, count) {
                    if base.unmark(&next.base) != base.unmark(&state.base) {
                        return Err(format!("{} changes {:?}", step.name, state.base));
                    }
                    all.push(next);
                }
            }
        }
    }
    Ok(all)
}

/// 3 and 4: resumed whenever it pauses, the debugger allows all steps of the program.
fn resumed<S: Semantics>(
    debugger: &Debugger<'_, S>,
    state: &Configuration<S::State>,
) -> Result<(), String> {
    let base = debugger.base();
    let resume = catalogue::step("resume").ok_or("there is no resume")?;
    let Some((someone, _)) = state.activities.first() else {
        return Ok(());
    };
    let mut now = state.clone();
    // Every breakpoint can pause it once, and so can the current step; every activity may be new.
    let mut patience = 16 * (state.points().count() + state.activities.len() + 4);
    loop {
        let rules = debugger.steps(&now);
        if let [rule] = &rules[..]
            && rule.base().is_none()
        {
            now = debugger.take(&now, rule);
        } else if now.mode != DebuggerMode::Run
            || now.activities.iter().any(|(_, one)| !one.state.is_free())
        {
            now = debugger
                .command(&now, resume, *someone, 1)
                .map_err(|error| error.to_string())?;
        } else {
            return compare(base, state, &now, &rules);
        }
        patience -= 1;
        if patience == 0 {
            return Err(format!("resuming comes to no end from {state:?}"));
        }
    }
}

fn compare<S: Semantics>(
    base: &S,
    state: &Configuration<S::State>,
    now: &Configuration<S::State>,
    rules: &[Rule<S::Step>],
) -> Result<(), String> {
    let plain = base.unmark(&state.base);
    if plain != base.unmark(&now.base) {
        return Err(format!("resuming changes {:?}", state.base));
    }
    let offered: Vec<_> = rules.iter().filter_map(Rule::base).cloned().collect();
    if offered != base.steps(&now.base) {
        return Err(format!(
            "{:?} has the steps {:?}; in the debugger it has {offered:?}",
            now.base,
            base.steps(&now.base)
        ));
    }
    let after = |state: &S::State| -> HashSet<S::State> {
        let steps = base.steps(state);
        steps
            .iter()
            .map(|step| base.unmark(&base.take(state, step)))
            .collect()
    };
    match after(&now.base) == after(&plain) {
        true => Ok(()),
        false => Err(format!("a mark changes what {:?} can do", now.base)),
    }
}
