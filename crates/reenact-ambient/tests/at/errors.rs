//! Programs that are none: what the compiler says.

use expect_test::{Expect, expect};
use reenact_ambient::{Source, at::Program};

fn check(text: &str, expected: Expect) {
    let source = Source::new("test.at", text);
    let error = Program::new(source.clone())
        .err()
        .expect("it is not a program");
    let site = source.site(error.span().start);
    let help = error
        .help()
        .map(|help| format!("\n  {help}"))
        .unwrap_or_default();
    expected.assert_eq(&format!("{site}: {}{help}", error.message()));
}

#[test]
fn names_that_mean_nothing() {
    check("x + 1", expect!["1:1: there is no variable `x` here"]);
    check(
        "def total := 1; totl + 1",
        expect![[r#"
        1:17: there is no variable `totl` here
          there is `total`"#]],
    );
    check(
        "foo(1)",
        expect!["1:1: there is no method or function `foo` here"],
    );
    check(
        "def f() { x := 1 }",
        expect!["1:11: there is no variable `x` here"],
    );
}

#[test]
fn actors_and_isolates_see_their_parameters_only() {
    check(
        "def x := 1;\nactor: { def m() { x } }",
        expect![[r#"
        2:20: there is no variable `x` here
          an actor or an isolate sees its parameters only: write `{ |x| … }` to pass it"#]],
    );
    check(
        "def f() { 1 };\nisolate: { def m() { f() } }",
        expect![[r#"
        2:22: there is no method or function `f` here
          an actor or an isolate sees nothing of what is around it: define `f` within it"#]],
    );
    check(
        "actor: { |y| def m() { y } }",
        expect!["1:11: there is no variable `y` here"],
    );
}

#[test]
fn names_that_are_defined_twice() {
    check(
        "def x := 1; def x := 2",
        expect!["1:17: the field `x` is defined twice here"],
    );
    check(
        "def f() { 1 }; def f() { 2 }",
        expect!["1:20: the method `f` is defined twice here"],
    );
    check(
        "def f(a, a) { 1 }",
        expect!["1:10: `a` is defined twice here"],
    );
    check(
        "def f() { def a := 1; def a := 2 }",
        expect!["1:27: `a` is defined twice here"],
    );
}
