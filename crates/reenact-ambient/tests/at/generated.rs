//! Generated programs.

use std::{collections::HashSet, fmt::Write};

use proptest::{prelude::*, test_runner::Config};
use reenact_multiverse::{
    Bounds, Breakpoint, Breakpoints, Graph, Order, Reduction, Search, Semantics, StepSize,
    check_non_interference,
};
use reenact_testing::generated;

use crate::{outcomes, program};

/// What a method does.
#[derive(Clone, Debug)]
enum Action {
    Count(u8),
    Print,
    Send { to: Whom, method: usize },
    Ask(Whom),
    Pipeline(Whom),
    Isolate(Whom),
    Raise,
    If(u8, Box<Action>),
}

#[derive(Clone, Copy, Debug)]
enum Whom {
    Itself,
    /// What came with the message.
    Other,
    /// The actor that was created before.
    Elder,
}

const METHODS: usize = 2;

fn action() -> impl Strategy<Value = Action> {
    let whom = || prop_oneof![Just(Whom::Itself), Just(Whom::Other), Just(Whom::Elder)];
    let simple = prop_oneof![
        3 => (1..4u8).prop_map(Action::Count),
        1 => Just(Action::Print),
        4 => (whom(), 0..METHODS).prop_map(|(to, method)| Action::Send { to, method }),
        2 => whom().prop_map(Action::Ask),
        1 => whom().prop_map(Action::Pipeline),
        1 => whom().prop_map(Action::Isolate),
        1 => Just(Action::Raise),
    ];
    simple.prop_recursive(1, 2, 1, |inner| {
        (0..4u8, inner).prop_map(|(n, then)| Action::If(n, Box::new(then)))
    })
}

/// The methods of each actor, and the messages that main sends: to whom, which, with whom.
#[derive(Clone, Debug)]
struct Script {
    actors: Vec<Vec<Vec<Action>>>,
    starts: Vec<(usize, usize, usize)>,
}

fn script() -> impl Strategy<Value = Script> {
    let method = proptest::collection::vec(action(), 1..3);
    let actor = proptest::collection::vec(method, METHODS);
    let start = (0..3usize, 0..METHODS, 0..3usize);
    (
        proptest::collection::vec(actor, 1..4),
        proptest::collection::vec(start, 1..3),
    )
        .prop_map(|(actors, starts)| Script { actors, starts })
}

impl Script {
    /// The program. Each message has a number that goes down, so that it ends.
    fn text(&self) -> String {
        let mut text = String::new();
        for (at, methods) in self.actors.iter().enumerate() {
            let elder = if at > 0 { "elder" } else { "" };
            let params = if at > 0 { "|elder|" } else { "" };
            let _ = write!(
                text,
                "def make{at}({elder}) {{ actor: {{ {params} def x := 1; def get() {{ x }};"
            );
            let _ = write!(
                text,
                " def me() {{ this }}; def take(i) {{ x := x + i.v; i.v := 0 }};"
            );
            for (number, actions) in methods.iter().enumerate() {
                let _ = write!(text, " def m{number}(n, other) {{ if: n > 0 then: {{ ");
                for action in actions {
                    write_action(action, at > 0, &mut text);
                    text.push_str("; ");
                }
                text.push_str("} };");
            }
            text.push_str(" } };\n");
        }
        let count = self.actors.len();
        for at in 0..count {
            let elder = if at > 0 {
                format!("a{}", at - 1)
            } else {
                String::new()
            };
            let _ = writeln!(text, "def a{at} := make{at}({elder});");
        }
        for (to, method, with) in &self.starts {
            let _ = writeln!(text, "a{}<-m{method}(2, a{});", to % count, with % count);
        }
        text
    }
}

fn write_action(action: &Action, has_elder: bool, text: &mut String) {
    let name = |whom: Whom| match whom {
        Whom::Other => "other",
        Whom::Elder if has_elder => "elder",
        Whom::Itself | Whom::Elder => "this",
    };
    let _ = match action {
        Action::Count(n) => write!(text, "x := x * 2 + {n}"),
        Action::Print => write!(text, "system.println(x)"),
        Action::Send { to, method } => write!(text, "{}<-m{method}(n - 1, this)", name(*to)),
        Action::Ask(whom) => {
            write!(
                text,
                "when: {}<-get()@FutureMessage becomes: {{ |v| x := x + v }}",
                name(*whom)
            )
        }
        Action::Pipeline(whom) => write!(
            text,
            "{}<-me()@FutureMessage<-take(isolate: {{ def v := 3 }})",
            name(*whom)
        ),
        Action::Isolate(whom) => {
            write!(
                text,
                "{}<-take({{ |v| isolate: {{ |v| }} }}.apply(x))",
                name(*whom)
            )
        }
        Action::Raise => write!(text, "raise: \"no\""),
        Action::If(n, then) => {
            let _ = write!(text, "if: x > {n} then: {{ ");
            write_action(then, has_elder, text);
            write!(text, " }}")
        }
    };
}

fn cases(default: u32) -> Config {
    Config {
        max_global_rejects: 1_000_000,
        ..generated::config(default)
    }
}

/// A program that can be explored whole in a moment.
fn small(
    text: &str,
    step_size: StepSize,
    states: usize,
) -> Option<(crate::Program, Graph<crate::Program>)> {
    let program = program(text).with_step_size(step_size);
    let bounds = Bounds {
        states: Some(states),
        ..Bounds::default()
    };
    let graph = Search::of(&program).bounds(bounds).run();
    graph.coverage().is_complete().then_some((program, graph))
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn reduced_searches_reach_the_same_ends(script in script()) {
        let text = script.text();
        let Some((program, full)) = small(&text, StepSize::Macro, 1_500) else {
            return Err(TestCaseError::reject("too many universes"));
        };
        let ends = |graph: &Graph<crate::Program>| graph.ends().map(|id| graph.state(id).clone()).collect::<HashSet<_>>();
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            for reduction in [Reduction::None, Reduction::SleepSets, Reduction::Persistent] {
                let graph = Search::of(&program).order(order).reduction(reduction).run();
                prop_assert_eq!(ends(&graph), ends(&full), "{:?} {:?}\n{}", order, reduction, &text);
                if reduction != Reduction::Persistent {
                    prop_assert_eq!(graph.len(), full.len(), "{:?} {:?}\n{}", order, reduction, &text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn independent_steps_commute(script in script()) {
        let text = script.text();
        let Some((program, graph)) = small(&text, StepSize::Macro, 1_000) else {
            return Err(TestCaseError::reject("too many universes"));
        };
        for id in graph.nodes() {
            let state = graph.state(id);
            let steps = program.steps(state);
            for (at, a) in steps.iter().enumerate() {
                for b in &steps[at + 1..] {
                    let (after_a, after_b) = (program.take(state, a), program.take(state, b));
                    if program.dependent(a, b) {
                        continue;
                    }
                    prop_assert!(program.steps(&after_a).contains(b), "{:?} {:?}\n{}", a, b, &text);
                    prop_assert!(program.steps(&after_b).contains(a), "{:?} {:?}\n{}", a, b, &text);
                    prop_assert_eq!(program.take(&after_a, b), program.take(&after_b, a), "{}", &text);
                }
            }
        }
    }

    #[test]
    fn single_steps_and_macro_steps_end_alike(script in script()) {
        let text = script.text();
        let Some((coarse, coarse_graph)) = small(&text, StepSize::Macro, 500) else {
            return Err(TestCaseError::reject("too many universes"));
        };
        let Some((fine, fine_graph)) = small(&text, StepSize::Rule, 20_000) else {
            return Err(TestCaseError::reject("too many universes"));
        };
        prop_assert_eq!(outcomes(&coarse, &coarse_graph), outcomes(&fine, &fine_graph), "{}", &text);
    }
}

/// Breakpoints that generated programs can run into.
const BREAKPOINTS: [&str; 8] = [
    "message-sender m0",
    "message-receiver by a0",
    "before-turn m1",
    "after-turn",
    "resolver",
    "resolution",
    "begin if a0.x > 1",
    "temporal (before-turn m1) after (message-sender m1) without (before-turn m0)",
];

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_debugger_neither_adds_nor_loses_anything(
        script in script(),
        chosen in proptest::sample::subsequence(BREAKPOINTS.to_vec(), 0..3),
    ) {
        let text = script.text();
        let Some((program, _)) = small(&text, StepSize::Macro, 80) else {
            return Err(TestCaseError::reject("too many universes"));
        };
        let mut breakpoints = Breakpoints::default();
        for one in &chosen {
            breakpoints.add(Breakpoint::parse(one).expect("it is a breakpoint"));
        }
        let checked = check_non_interference(&program, &breakpoints, 1_000);
        prop_assert!(checked.is_ok(), "{:?} with {:?}\n{}", checked, chosen, &text);
    }
}
