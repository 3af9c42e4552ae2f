//! How parameters get from one actor to another.

use crate::check;

#[test]
fn objects_stay_where_they_are() {
    // The other actor sends to the object, and the object's own actor changes it.
    check(
        "def makeOther() { actor: { def use(o) { o<-set(5) } } };
         def value := 0;
         def o := object: { def set(x) { value := x } };
         def other := makeOther();
         other<-use(o)",
        &["value = 5"],
    );
}

#[test]
fn far_objects_can_only_be_sent_to() {
    check(
        "def makeOther() { actor: { def x := 1; def m() { 2 } } };
         def other := makeOther();
         def a := try: { other.m() } catch: { |e| e };
         def b := try: { other.x } catch: { |e| e };
         def same := other == other",
        &[
            "a = \"line 3: `m` is of another actor; only `<-` reaches it\"; \
           b = \"line 4: `x` belongs to another actor; only `<-` reaches it\"; same = true; other.x = 1",
        ],
    );
}

#[test]
fn isolates_are_copied_deep_and_keep_what_they_share() {
    check(
        "def makeOther() {
             actor: {
                 def seen := null;
                 def take(list) {
                     list[1].x := 7;
                     // The same isolate came twice, and its own part is shared too.
                     seen := [list[2].x, list[1].part == list[2].part, list[3] == list[1].part]
                 }
             }
         };
         def part := isolate: { def y := 2 };
         def iso := isolate: { |part| def x := 1 };
         def other := makeOther();
         other<-take([iso, iso, part]);
         def mine := iso.x",
        &["mine = 1; other.seen = [7, true, true]"],
    );
}

#[test]
fn isolates_that_refer_to_themselves_are_copied_once() {
    check(
        "def makeOther() { actor: { def ok := null; def take(iso) { ok := iso.me == iso } } };
         def iso := isolate: { def me := null };
         iso.me := iso;
         def other := makeOther();
         other<-take(iso)",
        &["other.ok = true"],
    );
}

#[test]
fn an_object_within_an_isolate_is_a_far_reference() {
    check(
        "def makeOther() { actor: { def take(iso) { iso.counter<-add(3) } } };
         def total := 0;
         def counter := object: { def add(n) { total := total + n } };
         def iso := isolate: { |counter| };
         def other := makeOther();
         other<-take(iso)",
        &["total = 3"],
    );
}

#[test]
fn what_comes_home_is_near_again() {
    check(
        "def makeOther() { actor: { def back(o, to) { to<-got(o) } } };
         def o := object: { def x := 1; def get() { x + 1 } };
         def is := null;
         def got(it) { is := [it == o, it.get()] };
         def other := makeOther();
         other<-back(o, this)",
        &["is = [true, 2]"],
    );
}

#[test]
fn within_an_actor_isolates_are_not_copied() {
    check(
        "def iso := isolate: { def x := 1 };
         def change(i) { i.x := 2 };
         this<-change(iso);
         def look() { system.println(iso.x) };
         this<-look()",
        &["main prints 2"],
    );
}

#[test]
fn blocks_run_at_home() {
    check(
        "def makeOther() { actor: { def call(block) { block<-apply(20) } } };
         def base := 1;
         def it := 0;
         def other := makeOther();
         other<-call({ |x| it := base + x })",
        &["base = 1; it = 21"],
    );
}

#[test]
fn actors_get_parameters_like_messages() {
    check(
        "def makeOther(iso, o) { actor: { |iso, o| def copy := iso.x; iso.x := 9; o<-hear(iso.x) } };
         def heard := 0;
         def iso := isolate: { def x := 4 };
         def o := object: { def hear(x) { heard := x } };
         def other := makeOther(iso, o);
         def mine := iso.x",
        &["heard = 9; mine = 4; other.copy = 4"],
    );
}

#[test]
fn an_actor_can_create_actors() {
    check(
        "def makeParent(home) {
             actor: { |home|
                 def makeChild(home, n) { actor: { |home, n| home<-born(n) } };
                 def start() { makeChild(home, 1); makeChild(home, 2) }
             }
         };
         def sum := 0;
         def born(n) { sum := sum + n };
         def parent := makeParent(this);
         parent<-start()",
        &["sum = 3; child#1.n = 1; child#2.n = 2"],
    );
}
