//! The errors: the text that each points to, and its message.

use expect_test::expect;

use super::{check_errors, check_refused};

#[test]
fn other_items() {
    check_errors(
        "",
        "#[derive(Debug)] pub struct Math;",
        &expect![[r#"
        `pub` `#[actor]` goes on an `impl` block, whose methods become messages
    "#]],
    );
    check_errors(
        "",
        "fn math() {}",
        &expect![[r#"
        `fn` `#[actor]` goes on an `impl` block, whose methods become messages
    "#]],
    );
}

#[test]
fn a_trait_implemented() {
    check_errors(
        "",
        "impl fmt::Display for Math { fn fmt(&self) {} }",
        &expect![[r#"
            `fmt::Display` messages are the methods of the actor itself
            help: put `#[actor]` on an `impl` block without a trait
        "#]],
    );
}

#[test]
fn syntax_that_is_not_rust() {
    check_errors(
        "",
        "impl Math { pub fn f(&self) -> {} }",
        &expect![[r#"
            `{` expected one of: `for`, parentheses, `unsafe`, `fn`, `extern`, identifier, `::`, `<`, `dyn`, square brackets, `*`, `&`, `!`, `impl`, `_`, lifetime
        "#]],
    );
}

#[test]
fn a_block_without_messages() {
    check_errors(
        "",
        "impl Math { pub fn new() {} fn private(&self) {} }",
        &expect![[r#"
            `Math` nothing here is a message
            help: a message is a method with `&mut self` or `&self` that is not private
        "#]],
    );
}

#[test]
fn actors_that_borrow() {
    check_errors(
        "",
        "impl<'a> Math<'a> { pub fn f(&self, text: &'a str) {} }",
        &expect![[r#"
            `'a` an actor lives as long as references to it exist, so it owns its data: no lifetimes but `'static`
        "#]],
    );
    check_errors(
        "",
        "impl Math<'_, &u8> { pub fn f(&self) {} }",
        &expect![[r#"
            `'_` an actor lives as long as references to it exist, so it owns its data: no lifetimes but `'static`
            `&u8` an actor lives as long as references to it exist, so it owns its data: no lifetimes but `'static`
        "#]],
    );
}

#[test]
fn actors_without_a_name() {
    check_errors(
        "",
        "impl [u8; 3] { pub fn f(&self) {} }",
        &expect![[r#"
        `[u8; 3]` this type has no name that the trait could be named for
        help: `#[actor(trait = Name)]` names it
    "#]],
    );
}

#[test]
fn options() {
    check_errors(
        "name = X",
        "impl Math { pub fn f(&self) {} }",
        &expect![[r#"
            `name` no such option
            help: the options are `trait = Name` and `crate = path`
        "#]],
    );
    check_errors(
        "trait = X, trait = Y",
        "impl Math { pub fn f(&self) {} }",
        &expect![[r#"
            `trait` this option is given twice
        "#]],
    );
    check_errors(
        "trait = 3",
        "impl Math { pub fn f(&self) {} }",
        &expect![[r#"
            `3` expected identifier
        "#]],
    );
    check_errors(
        "crate = \"reenact\"",
        "impl Math { pub fn f(&self) {} }",
        &expect![[r#"
            `"reenact"` expected identifier
        "#]],
    );
}

#[test]
fn async_messages() {
    check_refused(
        "pub async fn f(&mut self) {}",
        &expect![[r#"
        `async` a turn runs to its end; return a promise instead
    "#]],
    );
}

#[test]
fn unsafe_messages() {
    check_refused(
        "pub unsafe fn f(&mut self) {}",
        &expect![[r#"
        `unsafe` a message is sent by safe code
        help: make the method safe, or private
    "#]],
    );
}

#[test]
fn receivers_that_are_more_than_a_borrow() {
    check_refused(
        "pub fn f(self) {}",
        &expect![[r#"
        `self` a message cannot take the actor away from those who refer to it
        help: take `&mut self`, or make the method private
    "#]],
    );
    check_refused(
        "pub fn f(mut self) {}",
        &expect![[r#"
        `mut self` a message cannot take the actor away from those who refer to it
        help: take `&mut self`, or make the method private
    "#]],
    );
    check_refused(
        "pub fn f(self: Box<Self>) {}",
        &expect![[r#"
        `self: Box<Self>` a message cannot take the actor away from those who refer to it
        help: take `&mut self`, or make the method private
    "#]],
    );
    check_refused(
        "pub fn f(self: &Arc<Self>) {}",
        &expect![[r#"
        `self: &Arc<Self>` the receiver of a message is `&mut self` or `&self`
    "#]],
    );
    check_refused(
        "pub fn f(&'static mut self) {}",
        &expect![[r#"
        `'static` a message borrows the actor for one turn
        help: take `&mut self` without a lifetime
    "#]],
    );
}

#[test]
fn lifetime_parameters() {
    check_refused(
        "pub fn f<'a, T: 'a>(&'a mut self, text: &'a str, t: T) -> Cow<'a, str> {}",
        &expect![[r#"
            `'a` a message can outlive its sender, so it has no lifetime parameters
        "#]],
    );
}

#[test]
fn borrowed_parameters() {
    check_refused(
        "pub fn f(
            &mut self,
            a: &str,
            b: &mut [u8],
            c: Option<&std::path::Path>,
            d: &OsStr,
            e: &dyn Fn(&u8),
            f: &FarRef<Self>,
            g: Cow<'_, str>,
            h: fn(&u8, &'x u8),
            i: &'static &u8,
        ) {}",
        &expect![[r#"
            `&str` a message owns what it carries: take a `String`
            `&mut [u8]` a message owns what it carries: take a `Vec`
            `&std::path::Path` a message owns what it carries: take a `PathBuf`
            `&OsStr` a message owns what it carries: take an `OsString`
            `&dyn Fn(&u8)` a message owns what it carries: take a `Box`
            `&FarRef<Self>` a message owns what it carries: take the value itself, or an `Arc` of it
            `'_` a message owns what it carries: take something that is `'static`
            `&'x u8` a message owns what it carries: take the value itself, or an `Arc` of it
            `&u8` a message owns what it carries: take the value itself, or an `Arc` of it
        "#]],
    );
}

#[test]
fn borrowed_answers() {
    check_refused(
        "pub fn f(&self) -> &str {}",
        &expect![[r#"
        `&str` an answer leaves the actor, so it cannot borrow from it: return a `String`
    "#]],
    );
    check_refused(
        "pub fn f(&self) -> Promise<Vec<&u8>> {}",
        &expect![[r#"
        `&u8` an answer leaves the actor, so it cannot borrow from it: return the value itself, or an `Arc` of it
    "#]],
    );
}

#[test]
fn answers_without_a_type() {
    check_refused(
        "pub fn f(&self) -> Option<impl Iterator<Item = u8>> {}",
        &expect![[r#"
            `impl Iterator<Item = u8>` an answer has a type with a name
            help: return a `Box<dyn … + Send>`
        "#]],
    );
    check_refused(
        "pub fn f(&self) -> ! {}",
        &expect![[r#"
        `!` a turn runs to its end, so a message returns
    "#]],
    );
}

#[test]
fn a_context_in_another_place() {
    check_refused(
        "pub fn f(&mut self, n: u8, ctx: &mut Context<Self>) {}",
        &expect![[r#"
            `ctx: &mut Context<Self>` the context comes first, right after `self`
        "#]],
    );
}

#[test]
fn somebody_elses_context() {
    check_refused(
        "pub fn poll(&mut self, cx: &mut task::Context<'_>) {}",
        &expect![[r#"
            `&mut task::Context<'_>` a message owns what it carries: take the value itself, or an `Arc` of it
        "#]],
    );
}

#[test]
fn parameters_of_some_configurations() {
    check_refused(
        "pub fn f(&mut self, #[cfg(unix)] n: u8) {}",
        &expect![[r#"
        `#[cfg(unix)]` a message carries the same in every configuration
        help: put the attribute on the method
    "#]],
    );
}

#[test]
fn everything_that_is_wrong_at_once() {
    check_refused(
        "pub async unsafe fn f(self, text: &str) -> &str {}
        pub fn g(&mut self, text: &str) {}",
        &expect![[r#"
            `async` a turn runs to its end; return a promise instead
            `unsafe` a message is sent by safe code
            help: make the method safe, or private
            `self` a message cannot take the actor away from those who refer to it
            help: take `&mut self`, or make the method private
            `&str` a message owns what it carries: take a `String`
            `&str` an answer leaves the actor, so it cannot borrow from it: return a `String`
            `&str` a message owns what it carries: take a `String`
        "#]],
    );
}
