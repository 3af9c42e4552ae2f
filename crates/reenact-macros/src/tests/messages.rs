//! What a method becomes, by rule.

use expect_test::expect;

use super::{check_messages, messages};

#[test]
fn no_return_type_is_one_way() {
    check_messages(
        "pub fn double(&mut self, n: u64) {}",
        &expect![[r#"
            /// Sends the message `double`.
            fn double(&self, n: u64) {
                send_call((n,), |this, _ctx, (carried0,)| <Math>::double(this, carried0));
            }
        "#]],
    );
}

#[test]
fn a_return_type_is_promised() {
    check_messages(
        "pub fn get(&self) -> u64 {}",
        &expect![[r#"
            /// Sends the message `get`.
            fn get(&self) -> ::reenact::actor::Promise<u64> {
                ask_call((), |this, _ctx, ()| <Math>::get(this))
            }
        "#]],
    );
}

#[test]
fn unit_is_a_return_type() {
    check_messages(
        "pub fn done(&mut self) -> () {}",
        &expect![[r#"
            /// Sends the message `done`.
            fn done(&self) -> ::reenact::actor::Promise<()> {
                ask_call((), |this, _ctx, ()| <Math>::done(this))
            }
        "#]],
    );
}

#[test]
fn a_promise_is_flattened_by_whatever_path() {
    check_messages(
        "pub fn get(&self) -> reenact::actor::Promise<Option<Self>> {}",
        &expect![[r#"
            /// Sends the message `get`.
            fn get(&self) -> reenact::actor::Promise<Option<Math>> {
                ::reenact::actor::Promise::flatten(
                    ask_call((), |this, _ctx, ()| <Math>::get(this)),
                )
            }
        "#]],
    );
}

#[test]
fn a_promise_inside_of_something_is_not() {
    check_messages(
        "pub fn get(&self) -> Option<Promise<u8>> {}",
        &expect![[r#"
            /// Sends the message `get`.
            fn get(&self) -> ::reenact::actor::Promise<Option<Promise<u8>>> {
                ask_call((), |this, _ctx, ()| <Math>::get(this))
            }
        "#]],
    );
}

#[test]
fn the_context_is_not_carried() {
    check_messages(
        "pub fn a(&mut self, ctx: &mut Context<Self>, n: u8) {}
        pub fn b(&mut self, _: &mut actor::Context<Math>) {}
        pub fn c(&mut self, ctx: &Context<Self>) {}",
        &expect![[r#"
            /// Sends the message `a`.
            fn a(&self, n: u8) {
                send_call((n,), |this, ctx, (carried0,)| <Math>::a(this, ctx, carried0));
            }
            /// Sends the message `b`.
            fn b(&self) {
                send_call((), |this, ctx, ()| <Math>::b(this, ctx));
            }
            /// Sends the message `c`.
            fn c(&self) {
                send_call((), |this, ctx, ()| <Math>::c(this, ctx));
            }
        "#]],
    );
}

#[test]
fn self_is_the_actor() {
    check_messages(
        "pub fn merge(&mut self, other: Option<FarRef<Self>>, of: [u8; Self::N], x: Self::X) -> <Self as Iterator>::Item {}",
        &expect![[r#"
            /// Sends the message `merge`.
            fn merge(
                &self,
                other: Option<FarRef<Math>>,
                of: [u8; <Math>::N],
                x: <Math>::X,
            ) -> ::reenact::actor::Promise<<Math as Iterator>::Item> {
                ask_call(
                    (other, of, x),
                    |this, _ctx, (carried0, carried1, carried2)| <Math>::merge(
                        this,
                        carried0,
                        carried1,
                        carried2,
                    ),
                )
            }
        "#]],
    );
}

#[test]
fn receivers_in_full() {
    for receiver in ["self: &mut Self", "self: &Math", "&'_ self"] {
        assert_eq!(
            messages(&format!("pub fn f({receiver}) {{}}")),
            messages("pub fn f(&self) {}")
        );
    }
}

#[test]
fn generic_messages() {
    check_messages(
        "pub fn put<K: Into<Self>, const N: usize>(&mut self, keys: [K; N], f: impl Fn(&Self) + Send) -> K
        where K: Send + 'static, Self: From<K> {}",
        &expect![[r#"
            /// Sends the message `put`.
            fn put<K: Into<Math>, const N: usize>(
                &self,
                keys: [K; N],
                f: impl Fn(&Math) + Send,
            ) -> ::reenact::actor::Promise<K>
            where
                K: Send + 'static,
                Math: From<K>,
            {
                ask_call(
                    (keys, f),
                    |this, _ctx, (carried0, carried1)| <Math>::put::<
                        K,
                        N,
                    >(this, carried0, carried1),
                )
            }
        "#]],
    );
}

#[test]
fn patterns_get_names() {
    check_messages(
        "pub fn put(&mut self, mut n: u64, (a, b): (u8, u8), _: u8, ref r: u8, x @ _: u8) {}",
        &expect![[r#"
            /// Sends the message `put`.
            fn put(&self, n: u64, arg2: (u8, u8), arg3: u8, r: u8, arg5: u8) {
                send_call(
                    (n, arg2, arg3, r, arg5),
                    |this, _ctx, (carried0, carried1, carried2, carried3, carried4)| <Math>::put(
                        this,
                        carried0,
                        carried1,
                        carried2,
                        carried3,
                        carried4,
                    ),
                );
            }
        "#]],
    );
}

#[test]
fn documentation_and_cfg_are_copied_and_nothing_else() {
    check_messages(
        "/// Says
        /// something.
        #[cfg(unix)]
        #[inline]
        #[must_use]
        #[doc(alias = \"x\")]
        #[cfg_attr(a, cfg(b), inline, doc = \"More.\")]
        #[cfg_attr(a, inline)]
        pub fn f(&mut self, #[allow(unused)] n: u8) {}",
        &expect![[r#"
            /// Says
            /// something.
            #[cfg(unix)]
            #[doc(alias = "x")]
            #[cfg_attr(a, cfg(b), doc = "More.")]
            fn f(&self, n: u8) {
                send_call((n,), |this, _ctx, (carried0,)| <Math>::f(this, carried0));
            }
        "#]],
    );
}

#[test]
fn lints_that_are_off_stay_off() {
    check_messages(
        "#[allow(non_snake_case)] #[expect(clippy::type_complexity)] #[deny(warnings)] pub fn f(&mut self) {}
        #[deprecated(note = \"old\")] pub fn g(&mut self) {}",
        &expect![[r#"
            /// Sends the message `f`.
            #[allow(non_snake_case)]
            #[allow(clippy::type_complexity)]
            fn f(&self) {
                send_call((), |this, _ctx, ()| <Math>::f(this));
            }
            /// Sends the message `g`.
            #[allow(deprecated)]
            fn g(&self) {
                send_call((), |this, _ctx, ()| <Math>::g(this));
            }
        "#]],
    );
}

#[test]
fn what_only_callers_care_about_is_left_out() {
    check_messages(
        "pub const fn a(&self) -> u8 {} pub extern \"C\" fn b(&mut self) {}",
        &expect![[r#"
            /// Sends the message `a`.
            fn a(&self) -> ::reenact::actor::Promise<u8> {
                ask_call((), |this, _ctx, ()| <Math>::a(this))
            }
            /// Sends the message `b`.
            fn b(&self) {
                send_call((), |this, _ctx, ()| <Math>::b(this));
            }
        "#]],
    );
}

#[test]
fn borrows_that_are_the_callees_or_static_are_fine() {
    check_messages(
        "pub fn f(
            &mut self,
            a: &'static str,
            b: Cow<'static, str>,
            c: Box<dyn Fn(&str) -> &str + Send>,
            d: fn(&u8, Cow<'_, str>),
            e: Box<dyn for<'a> Visit<'a> + Send>,
            f: for<'a> fn(&'a u8) -> &'a u8,
        ) -> &'static [&'static str] {}",
        &expect![[r#"
            /// Sends the message `f`.
            fn f(
                &self,
                a: &'static str,
                b: Cow<'static, str>,
                c: Box<dyn Fn(&str) -> &str + Send>,
                d: fn(&u8, Cow<'_, str>),
                e: Box<dyn for<'a> Visit<'a> + Send>,
                f: for<'a> fn(&'a u8) -> &'a u8,
            ) -> ::reenact::actor::Promise<&'static [&'static str]> {
                ask_call(
                    (a, b, c, d, e, f),
                    |this, _ctx, (carried0, carried1, carried2, carried3, carried4, carried5)| <Math>::f(
                        this,
                        carried0,
                        carried1,
                        carried2,
                        carried3,
                        carried4,
                        carried5,
                    ),
                )
            }
        "#]],
    );
}

#[test]
fn what_is_not_a_message_may_be_anything() {
    check_messages(
        "pub fn a(&self) {}
        pub const X: u8 = 0;
        pub fn new<'a>(text: &'a str) -> impl Sized + 'a {}
        async unsafe fn b(self: Box<Self>) {}
        pub(self) async fn c(self) {}
        make_more!();",
        &expect![[r#"
            /// Sends the message `a`.
            fn a(&self) {
                send_call((), |this, _ctx, ()| <Math>::a(this));
            }
        "#]],
    );
}

#[test]
fn raw_names() {
    check_messages(
        "pub fn r#type(&self, r#fn: u8) -> u8 {}",
        &expect![[r#"
            /// Sends the message `type`.
            fn r#type(&self, r#fn: u8) -> ::reenact::actor::Promise<u8> {
                ask_call((r#fn,), |this, _ctx, (carried0,)| <Math>::r#type(this, carried0))
            }
        "#]],
    );
}
