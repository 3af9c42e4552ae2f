//! Expressions, objects, blocks and control structures of one actor.

use crate::check;

/// What `it` is at the end of a program that only main runs.
#[track_caller]
fn it(text: &str, expected: &str) {
    check(&format!("def it := {text}"), &[&format!("it = {expected}")]);
}

#[test]
fn numbers_are_whole_for_as_long_as_they_can_be() {
    it("1 + 2 * 3", "7");
    it("(1 + 2) * 3", "9");
    it("7 / 2", "3.5");
    it("8 / 2", "4");
    it("7 % 3", "1");
    it("-7 % 3", "2");
    it("1.5 + 1", "2.5");
    it("3.max(5) + 2.min(1)", "6");
}

#[test]
fn comparison_goes_by_amount_text_and_elements() {
    it("1 == 1.0", "true");
    it("[1, [2]] == [1, [2]]", "true");
    it("[1, 2] != [1, 3]", "true");
    it("\"a\" == \"a\"", "true");
    it("\"a\" < \"b\"", "true");
    it("(object: { }) == (object: { })", "false");
    it("{ def o := object: { }; o == o }.apply()", "true");
    it("null == false", "false");
}

#[test]
fn texts_are_joined_with_anything() {
    it("\"a\" + 1 + [true, null]", "\"a1[true, null]\"");
    it("1 + \"a\"", "\"1a\"");
    it("\"für\".length()", "3");
}

#[test]
fn lists_count_from_one() {
    it("[5, 6, 7][2]", "6");
    it("{ def l := [1, 2]; l[2] := 9; l }.apply()", "[1, 9]");
    it("([1] + [2, 3]).length()", "3");
    it("[1, 2, 3].rest()", "[2, 3]");
    it("[].isEmpty()", "true");
    it("[1, 2].contains(2)", "true");
    it("[1, 2, 3].map: { |x| x * x }", "[1, 4, 9]");
    it("[1, 2, 3].filter: { |x| x > 1 }", "[2, 3]");
    it("[1, 2, 3].inject: 10 into: { |sum, x| sum + x }", "16");
}

#[test]
fn conditions_and_loops_run_in_place() {
    it("if: 1 < 2 then: { \"yes\" } else: { \"no\" }", "\"yes\"");
    it("if: 1 > 2 then: { \"yes\" }", "null");
    it("true && !false || false", "true");
    it("(1 == 1).and: { 2 == 3 }", "false");
    check(
        "def n := 0; def i := 1; while: { i <= 10 } do: { n := n + i; i := i + 1 }",
        &["n = 55; i = 11"],
    );
    check("def n := 0; 4.times: { |i| n := n + i }", &["n = 10"]);
    check("def n := 0; 3.times: { n := n + 1 }", &["n = 3"]);
    check(
        "def n := 0; 2.to: 4 do: { |i| n := n * 10 + i }",
        &["n = 234"],
    );
    check(
        "def n := 0; foreach: { |x| n := n + x } in: [1, 2, 3]",
        &["n = 6"],
    );
}

#[test]
fn the_right_side_is_not_looked_at_when_the_left_one_decides() {
    it("false && (1 / 0 == 1)", "false");
    it("true || (1 / 0 == 1)", "true");
}

#[test]
fn a_block_keeps_the_variables_around_it() {
    check(
        "def makeCounter() {
             def count := 0;
             { count := count + 1; count }
         };
         def a := makeCounter();
         def b := makeCounter();
         def seen := [a(), a(), b(), a()];",
        &["seen = [1, 2, 1, 3]"],
    );
}

#[test]
fn each_round_of_a_loop_has_variables_of_its_own() {
    check(
        "def blocks := [];
         def make() {
             def i := 1;
             while: { i <= 3 } do: {
                 def mine := i * 10;
                 blocks := blocks + [{ mine := mine + 1; mine }];
                 i := i + 1
             }
         };
         make();
         def seen := blocks.map: { |block| block() };
         blocks := null",
        &["blocks = null; seen = [11, 21, 31]"],
    );
}

#[test]
fn local_functions_can_call_each_other_before_they_are_defined() {
    check(
        "def even(n) {
             def isEven(n) { if: n == 0 then: { true } else: { isOdd(n - 1) } };
             def isOdd(n) { if: n == 0 then: { false } else: { isEven(n - 1) } };
             isEven(n)
         };
         def it := [even(10), even(7)]",
        &["it = [true, false]"],
    );
}

#[test]
fn objects_see_what_is_around_them() {
    check(
        "def total := 0;
         def makeAdder(step) {
             def calls := 0;
             object: {
                 def name := \"adder\";
                 def add() {
                     calls := calls + 1;
                     total := total + step;
                     // An object within an object, two levels from the program.
                     (object: { def describe() { name + calls + bump(total) } }).describe()
                 }
             }
         };
         def bump(n) { n + 1000 };
         def adder := makeAdder(5);
         def it := [adder.add(), adder.add(), adder.name]",
        &["total = 10; it = [\"adder11005\", \"adder21010\", \"adder\"]"],
    );
}

#[test]
fn fields_can_be_set_from_outside_by_the_same_actor() {
    check(
        "def point := object: { def x := 1; def y := x + 1; def sum() { x + y } };
         point.x := 40;
         def it := point.sum()",
        &["it = 42"],
    );
}

#[test]
fn a_block_in_a_field_can_be_called_like_a_method() {
    it("(object: { def twice := { |x| x + x } }).twice(4)", "8");
}

#[test]
fn methods_with_keywords() {
    check(
        "def between: low and: high { low + high };
         def o := object: { def at: i put: x { [i, x] } };
         def it := [between: 1 and: 2] + (o.at: 3 put: 4)",
        &["it = [3, 3, 4]"],
    );
}

#[test]
fn a_list_is_taken_apart() {
    check(
        "def [a, b] := [1, 2]; def swap() { def [x, y] := [b, a]; [x, y] }; def it := swap()",
        &["a = 1; b = 2; it = [2, 1]"],
    );
}

#[test]
fn errors_are_caught_by_the_nearest_handler() {
    it("try: { raise: 5 } catch: { |e| e + 1 }", "6");
    it(
        "try: { try: { raise: 1 } catch: { |e| raise: e + 1 } } catch: { |e| e * 10 }",
        "20",
    );
    it(
        "[0] + (try: { [1, 1 / 0] } catch: { |e| [e] })",
        "[0, \"line 1: division by zero\"]",
    );
    check(
        "def risky(n) { if: n == 0 then: { raise: \"deep\" } else: { risky(n - 1) } };
         def it := try: { risky(5); \"fine\" } catch: { |e| e };
         def after := 1",
        &["it = \"deep\"; after = 1"],
    );
}

#[test]
fn an_error_that_nobody_catches_ends_the_turn_and_nothing_else() {
    check(
        "def x := 1;
         def fail() { x := 2; raise: \"no\" };
         def more() { x := x + 10 };
         this<-fail();
         this<-more()",
        &["x = 12; error: main: no"],
    );
}

#[test]
fn mistakes_are_errors_with_a_line() {
    for (text, error) in [
        ("1.foo()", "line 1: 1 has no method `foo`"),
        (
            "[1][2]",
            "line 1: 2 is not within a list of 1, which begins at 1",
        ),
        ("5[1]", "line 1: only lists have elements, and this is 5"),
        ("(object: { }).x", "line 1: the object has no field `x`"),
        (
            "{ |a| a }.apply()",
            "line 1: `block` takes one argument and was given 0",
        ),
        (
            "if: 1 then: { 2 }",
            "line 1: a condition is true or false, and this is 1",
        ),
        ("9223372036854775807 + 1", "line 1: the number is too large"),
        (
            "{ def f() { f() }; f() }.apply()",
            "line 1: calls are nested deeper than 2000",
        ),
        (
            "{ def [a, b] := [1]; a }.apply()",
            "line 1: a list of 2 is needed here, not [1]",
        ),
    ] {
        it(
            &format!("try: {{ {text} }} catch: {{ |e| e }}"),
            &format!("{error:?}"),
        );
    }
}

#[test]
fn what_grows_without_end_is_an_error() {
    check(
        "def text := \"0123456789\";
         def it := try: { while: { true } do: { text := text + text } } catch: { |e| text := null; e }",
        &["text = null; it = \"line 2: the text is too long\""],
    );
}

#[test]
fn lists_of_lists_of_lists_do_not_take_for_ever() {
    let grow = "def grow(list, times) {
             def result := list;
             times.times: { result := [result, result, result, result, result, result, result, result] };
             result
         };";
    check(
        &format!(
            "{grow}
             def it := try: {{ grow([1, 2, 3, 4, 5, 6, 7, 8], 7) == grow([1, 2, 3, 4, 5, 6, 7, 8], 7) }}
                       catch: {{ |e| e }}"
        ),
        &["it = \"line 6: these lists are too large to be compared\""],
    );
    // Looking at it takes no longer.
    let program = crate::program(&format!(
        "{grow} def it := grow([1, 2, 3, 4, 5, 6, 7, 8], 7)"
    ));
    let graph = crate::explore(&program);
    let end = graph.ends().next().expect("it ends");
    let seen = reenact_multiverse::Semantics::observe(&program, graph.state(end));
    assert!(seen.get("main.it[0][0][0]").is_some());
}

#[test]
fn a_loop_on_a_long_list_is_cut_into_steps() {
    let program = crate::program(
        "def list := [0];
         while: { list.length() < 20000 } do: { list := list + list };
         def n := 0;
         while: { n < 200 } do: { list := list.rest() + [n]; n := n + 1 };
         list := null",
    );
    let graph = crate::explore(&program);
    assert!(graph.len() > 10, "{} universes", graph.len());
}

#[test]
fn printing_is_in_the_order_of_the_actor() {
    check(
        "system.println(\"a\"); system.println([1, \"b\"])",
        &["main prints a; main prints [1, b]"],
    );
}
