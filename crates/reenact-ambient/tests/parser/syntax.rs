//! The parts of the language, one by one.

use expect_test::expect;
use reenact_ambient::{
    Source, Span,
    at::{
        ast::{ExprKind, Statement},
        parse,
    },
};

use crate::check;

#[test]
fn statements_are_separated_by_semicolons() {
    check(
        "1; 2;; ;3;",
        expect![[r#"
        1
        2
        3
    "#]],
    );
    check("", expect![[""]]);
    check("// nothing\n/* at\nall */ ;", expect![[""]]);
}

#[test]
fn a_method_needs_no_semicolon_after_it() {
    check(
        "def a() { 1 } def b(x) { x } a(); object: { def c() {} def d := 2 }",
        expect![[r#"
            (def a() {1})
            (def b(x) {x})
            a()
            (object || {(def c() {}); (def d 2)})
        "#]],
    );
}

#[test]
fn definitions() {
    check(
        "def x; def y := 1; def [a, b] := [1, 2]; def [] := []; def m(a, b) { a };
         def at: i put: x { i }; def empty? := true; def größe := 3",
        expect![[r#"
            (def x)
            (def y 1)
            (def [a; b] [1; 2])
            (def [] [])
            (def m(a; b) {a})
            (def at:put:(i; x) {i})
            (def empty? true)
            (def größe 3)
        "#]],
    );
}

#[test]
fn literals() {
    check(
        r#"12; 1.5; 2e3; 1.5e-3; "a\n\t\r\"\\ü"; true; false; null; nil; [1, [2], []]; this; self"#,
        expect![[r#"
            12
            1.5f
            2000.0f
            0.0015f
            "a\n\t\r\"\\ü"
            true
            false
            null
            null
            [1; [2]; []]
            this
            this
        "#]],
    );
    check(
        "9223372036854775807; -9223372036854775808; -1.5; -0.0; 0012",
        expect![[r#"
            9223372036854775807
            -9223372036854775808
            -1.5f
            -0.0f
            12
        "#]],
    );
}

#[test]
fn a_minus_is_part_of_a_number_or_a_message() {
    check(
        "-1; -x; - -1; -(1); 3 - -1; 3-1; -1.abs(); -l[1]",
        expect![[r#"
            -1
            (.negate x [])
            (.negate -1 [])
            (.negate 1 [])
            (.- 3 [-1])
            (.- 3 [1])
            (.negate (.abs 1 []) [])
            (.negate (at l 1) [])
        "#]],
    );
}

#[test]
fn assignments() {
    check(
        "x := 1; o.x := 2; l[1] := 3; o.l[1].x := y := 4; x:=y",
        expect![[r#"
            (:= x 1)
            (.:= o x 2)
            (at:= l 1 3)
            (.:= (at (. o l) 1) x (:= y 4))
            (:= x y)
        "#]],
    );
}

#[test]
fn messages() {
    check(
        "o.m(); o.m(1, 2).n(3); o.x.y; o.at: 1 put: 2; f(1)[2]; o\n.m(\n)",
        expect![[r#"
            (.m o [])
            (.n (.m o [1; 2]) [3])
            (. (. o x) y)
            (.at:put: o [1; 2])
            (at f(1) 2)
            (.m o [])
        "#]],
    );
    check(
        "o.x.m(1)[2].n()",
        expect![[r#"
        (.n (at (.m (. o x) [1]) 2) [])
    "#]],
    );
    check(
        "o<-m(); o<-m(1)@FutureMessage; o<-m(1)@TwoWayMessage; o<-m()@OneWayMessage; a<-b()<-c()",
        expect![[r#"
            (<-m o [])
            (<->m o [1])
            (<->m o [1])
            (<-m o [])
            (<-c (<-b a []) [])
        "#]],
    );
    check(
        "o<-at: 1 put: 2@FutureMessage; o<-at: 1 put: a<-b()@FutureMessage;
         o<-at: 1 put: (a<-b())@FutureMessage",
        expect![[r#"
            (<->at:put: o [1; 2])
            (<-at:put: o [1; (<->b a [])])
            (<->at:put: o [1; (<-b a [])])
        "#]],
    );
}

#[test]
fn operators_bind_as_usual() {
    check(
        "1 + 2 * 3 - 4 % 5 / 6",
        expect![[r#"
        (.- (.+ 1 [(.* 2 [3])]) [(./ (.% 4 [5]) [6])])
    "#]],
    );
    check(
        "(1 + 2) * 3",
        expect![[r#"
        (.* (.+ 1 [2]) [3])
    "#]],
    );
    check(
        "a + 1 < b * 2 == c; a != b; a <= b; a >= b; a > b",
        expect![[r#"
            (.== (.< (.+ a [1]) [(.* b [2])]) [c])
            (.!= a [b])
            (.<= a [b])
            (.>= a [b])
            (.> a [b])
        "#]],
    );
    check(
        "!a.b(); !!a; !a == b",
        expect![[r#"
        (.not (.b a []) [])
        (.not (.not a []) [])
        (.== (.not a []) [b])
    "#]],
    );
    check(
        "a < -1; a<b",
        expect![[r#"
        (.< a [-1])
        (.< a [b])
    "#]],
    );
}

#[test]
fn conditions_are_shortcuts() {
    check(
        "a && b || c && !d",
        expect![[r#"
        (if (if a (block || {b}) (block || {false})) (block || {true}) (block || {(if c (block || {(.not d [])}) (block || {false}))}))
    "#]],
    );
}

#[test]
fn control_structures() {
    check(
        "if: a then: { 1 }; if: a then: { 1 } else: { 2 }; while: { a } do: { b };
         when: f becomes: { |x| x }; when: f becomes: { |x| x } catch: { |e| e };
         try: { a } catch: { |e| e }; raise: \"oh\"; raise: o.m() + 1",
        expect![[r#"
            (if a (block || {1}))
            (if a (block || {1}) (block || {2}))
            (while (block || {a}) (block || {b}))
            (when f (block |x| {x}))
            (when f (block |x| {x}) (block |e| {e}))
            (try (block || {a}) (block |e| {e}))
            (raise "oh")
            (raise (.+ (.m o []) [1]))
        "#]],
    );
    check(
        "actor: {}; actor: { |a, b| def x := a }; isolate: { |x| def y := x }; object: { def z }",
        expect![[r#"
            (actor || {})
            (actor |a; b| {(def x a)})
            (isolate |x| {(def y x)})
            (object || {(def z)})
        "#]],
    );
}

#[test]
fn other_keywords_are_calls() {
    check(
        "foreach: { |x| x } in: [1]; def do: x { x }; do: 1 + 2",
        expect![[r#"
            foreach:in:((block |x| {x}); [1])
            (def do:(x) {x})
            do:((.+ 1 [2]))
        "#]],
    );
}

#[test]
fn keywords_belong_to_the_message_that_began_last() {
    check(
        "def x := if: c then: { 1 }",
        expect![[r#"
        (def x (if c (block || {1})))
    "#]],
    );
    check(
        "f(if: c then: { 1 }, 2); [raise: 1]; x := raise: 2",
        expect![[r#"
            f((if c (block || {1})); 2)
            [(raise 1)]
            (:= x (raise 2))
        "#]],
    );
    check(
        "do: raise: 1; l.at: 1 + m.at: 2 put: 3",
        expect![[r#"
        do:((raise 1))
        (.at: l [(.+ 1 [(.at:put: m [2; 3])])])
    "#]],
    );
    check(
        "if: (l.at: 1) then: { 2 }",
        expect![[r#"
        (if (.at: l [1]) (block || {2}))
    "#]],
    );
    check(
        "if: l.at: 1 then: { 2 }",
        expect![[r#"
        1:1: there is no `if:` [if:]
          help: there is `if:then:`, `if:then:else:`; an argument that has keywords itself takes all that follow, unless it is in parentheses
    "#]],
    );
}

#[test]
fn what_a_definition_makes_can_be_used_in_parentheses() {
    check(
        "(actor: { def m() {} })<-m()",
        expect![[r#"
        (<-m (actor || {(def m() {})}) [])
    "#]],
    );
    check(
        "actor: { def m() {} }<-m()",
        expect![[r#"
        1:8: expected a block after `actor:` [{ def m() {} }<-m()]
          help: to go on with what it makes, put it into parentheses: `(actor: { … }).m()`
    "#]],
    );
}

#[test]
fn blocks() {
    check(
        "{}; { 1 }; { |x| x }; { |x, y| x; y }; {|x|x}.apply(1)",
        expect![[r#"
            (block || {})
            (block || {1})
            (block |x| {x})
            (block |x; y| {x; y})
            (.apply (block |x| {x}) [1])
        "#]],
    );
    check(
        "{ || 1 }",
        expect![[r#"
            (block || {1})
        "#]],
    );
    check(
        "{ | | 1 }",
        expect![[r#"
        (block || {1})
    "#]],
    );
}

#[test]
fn a_send_goes_from_its_receiver_to_its_annotation() {
    let text = "x; (o.p)<-größe(1, \"ü\")@FutureMessage ; y";
    let there = |span: Span| &text[span.start as usize..span.end as usize];
    let statements = parse(&Source::new("send", text)).unwrap();
    let Statement::Expr(send) = &statements[1] else {
        panic!("not an expression");
    };
    assert_eq!(there(send.span), "(o.p)<-größe(1, \"ü\")@FutureMessage");
    let ExprKind::Send { receiver, name, .. } = &send.kind else {
        panic!("not a send");
    };
    assert_eq!(there(receiver.span), "o.p");
    assert_eq!(there(name.span), "größe");
}

#[test]
fn what_is_not_written_is_where_the_operator_is() {
    let text = "a && b.c()";
    let there = |span: Span| &text[span.start as usize..span.end as usize];
    let statements = parse(&Source::new("and", text)).unwrap();
    let Statement::Expr(expr) = &statements[0] else {
        panic!("not an expression");
    };
    let ExprKind::If(condition, then, Some(otherwise)) = &expr.kind else {
        panic!("not a condition");
    };
    assert_eq!(there(expr.span), text);
    assert_eq!(there(condition.span), "a");
    assert_eq!(there(then.span), "b.c()");
    assert_eq!(there(otherwise.span), "&&");
}
