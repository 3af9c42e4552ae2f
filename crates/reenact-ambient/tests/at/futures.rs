//! Futures and their corner cases.

use crate::check;

#[test]
fn the_answer_of_a_two_way_message_is_a_future() {
    check(
        "def makeMath() { actor: { def double(x) { x + x } } };
         def math := makeMath();
         def it := null;
         when: math<-double(21)@FutureMessage becomes: { |x| it := x }",
        &["it = 42"],
    );
}

#[test]
fn a_message_to_oneself_can_be_two_way() {
    check(
        "def it := null;
         def answer() { 42 };
         when: this<-answer()@TwoWayMessage becomes: { |x| it := x }",
        &["it = 42"],
    );
}

#[test]
fn when_on_what_is_no_future_runs_all_the_same() {
    check(
        "def it := 0; when: 41 becomes: { |x| it := x + 1 }",
        &["it = 42"],
    );
    check(
        "def o := object: { def n := 5 }; def it := 0; when: o becomes: { |x| it := x.n }",
        &["it = 5"],
    );
}

#[test]
fn the_value_of_when_is_a_future_of_what_the_block_gives() {
    check(
        "def it := null;
         def answer() { 20 };
         def next := when: this<-answer()@FutureMessage becomes: { |x| x + 1 };
         when: next becomes: { |x| it := x * 2 }",
        &["it = 42"],
    );
}

#[test]
fn a_second_resolution_is_ignored() {
    check(
        "def [f, r] := makeFuture();
         def seen := [];
         when: f becomes: { |x| seen := seen + [x] };
         r.resolve(1);
         r.resolve(2);
         r.ruin(3)",
        &["seen = [1]"],
    );
}

#[test]
fn resolving_with_a_future_chains() {
    check(
        "def [f, r] := makeFuture();
         def [g, s] := makeFuture();
         def it := null;
         when: f becomes: { |x| it := x };
         r.resolve(g);
         s.resolve(7)",
        &["it = 7"],
    );
}

#[test]
fn a_chain_through_another_actor_ends_at_the_value() {
    check(
        "def makeMiddle(last) { actor: { |last| def ask() { last<-ask()@FutureMessage } } };
         def makeLast() { actor: { def ask() { 9 } } };
         def last := makeLast();
         def middle := makeMiddle(last);
         def it := null;
         when: middle<-ask()@FutureMessage becomes: { |x| it := x }",
        &["it = 9"],
    );
}

#[test]
fn a_future_resolved_with_itself_stays_unresolved() {
    check(
        "def [f, r] := makeFuture();
         def it := null;
         when: f becomes: { |x| it := x };
         r.resolve(f)",
        &["it = null; main waits for the future of line 1 (line 3)"],
    );
    // …and can still be resolved.
    check(
        "def [f, r] := makeFuture();
         def it := null;
         when: f becomes: { |x| it := x };
         r.resolve(f);
         r.resolve(1)",
        &["it = 1"],
    );
}

#[test]
fn two_futures_resolved_with_each_other_are_a_deadlock() {
    check(
        "def [f, r] := makeFuture();
         def [g, s] := makeFuture();
         def it := null;
         r.resolve(g);
         s.resolve(f);
         when: f becomes: { |x| it := x }",
        &["it = null; main waits for the future of line 1 (line 6)"],
    );
}

#[test]
fn messages_to_a_future_are_kept_in_order_and_go_before_those_who_wait() {
    check(
        "def seen := [];
         def o := object: { def note(x) { seen := seen + [x] } };
         def [f, r] := makeFuture();
         when: f becomes: { |o| o.note(\"resolved\") };
         f<-note(1);
         f<-note(2);
         def go() { r.resolve(o) };
         this<-go()",
        &["seen = [1, 2, \"resolved\"]"],
    );
}

#[test]
fn a_message_to_a_resolved_future_goes_on_to_its_value() {
    check(
        "def it := null;
         def o := object: { def get() { 8 } };
         def [f, r] := makeFuture();
         r.resolve(o);
         when: f<-get()@FutureMessage becomes: { |x| it := x }",
        &["it = 8"],
    );
}

#[test]
fn messages_to_futures_of_others_are_pipelined() {
    check(
        "def makeBank() { actor: {
             def makeAccount(n) { object: { def balance := n; def get() { balance } } };
             def open(n) { makeAccount(n) } } };
         def bank := makeBank();
         def it := null;
         when: bank<-open(12)@FutureMessage<-get()@FutureMessage becomes: { |x| it := x }",
        &["it = 12"],
    );
}

#[test]
fn a_resolver_can_be_given_away() {
    check(
        "def makeOther() { actor: { def do(r) { r<-resolve(3) } } };
         def [f, r] := makeFuture();
         def it := null;
         def other := makeOther();
         other<-do(r);
         when: f becomes: { |x| it := x }",
        &["it = 3"],
    );
}

#[test]
fn who_waits_for_a_resolver_that_is_gone_waits_for_ever() {
    check(
        "def it := null;
         when: makeFuture()[1] becomes: { |x| it := x }",
        &["it = null; main waits for the future of line 2 (line 2)"],
    );
}

#[test]
fn an_error_ruins_the_future() {
    check(
        "def makeMath() { actor: { def divide(a, b) { a / b } } };
         def math := makeMath();
         def it := null;
         when: math<-divide(1, 0)@FutureMessage becomes: { |x| it := x } catch: { |e| it := e }",
        &["it = \"line 1: division by zero\""],
    );
}

#[test]
fn an_error_passes_through_those_who_do_not_catch_it() {
    check(
        "def fail() { raise: \"no\" };
         def it := null;
         def f := when: this<-fail()@FutureMessage becomes: { |x| it := 1 };
         when: f becomes: { |x| it := 2 } catch: { |e| it := e };
         when: f<-anything()@FutureMessage becomes: { |x| it := 3 } catch: { |e| e }",
        &["it = \"no\""],
    );
}

#[test]
fn an_error_that_nobody_looks_at_is_reported() {
    check(
        "def fail() { raise: \"no\" };
         this<-fail()@FutureMessage",
        &["error: main: the answer to fail is an error: no"],
    );
    check(
        "def fail() { raise: \"no\" };
         when: this<-fail()@FutureMessage becomes: { |x| x }",
        &["error: main: the block of line 2 is an error: no"],
    );
}
