//! The trait as a whole.

use expect_test::expect;

use super::{check_beside, check_short, check_trait};

#[test]
fn a_trait_and_its_implementation_for_every_target() {
    check_beside(
        "",
        "impl Math {
            pub fn new() -> Math { Math { result: 0 } }
            /// Doubles a number.
            pub fn double(&mut self, n: u64) { self.result = 2 * n; }
            pub fn get_result(&mut self) -> u64 { self.result }
            pub fn forward(&mut self, ctx: &mut Context<Self>, to: FarRef<Math>) -> Promise<u64> { to.get_result() }
            fn helper(&self) {}
        }",
        &expect![[r#"
            /// The messages for [`Math`]: what can be sent to its far references, and to promises of them.
            #[allow(
                private_bounds,
                private_interfaces,
                rustdoc::broken_intra_doc_links,
                rustdoc::private_intra_doc_links
            )]
            pub trait MathSends: ::reenact::actor::Target<Math> {
                /// Doubles a number.
                #[track_caller]
                fn double(&self, n: u64) {
                    <Self as ::reenact::actor::Target<
                        Math,
                    >>::send_call(
                        self,
                        (n,),
                        |this, _ctx, (carried0,)| <Math>::double(this, carried0),
                        |(carried0,)| {
                            #[allow(unused_imports)]
                            use ::reenact::actor::inspect::Hidden as _;
                            ::reenact::actor::inspect::call(
                                "double",
                                &[::reenact::actor::inspect::Shown(carried0).reenact_text()],
                            )
                        },
                        |this| {
                            #[allow(unused_imports)]
                            use ::reenact::actor::inspect::Hidden as _;
                            ::reenact::actor::inspect::Shown(this).reenact_text()
                        },
                    );
                }
                /// Sends the message `get_result`.
                #[track_caller]
                fn get_result(&self) -> ::reenact::actor::Promise<u64> {
                    <Self as ::reenact::actor::Target<
                        Math,
                    >>::ask_call(
                        self,
                        (),
                        |this, _ctx, ()| <Math>::get_result(this),
                        |_| ::reenact::actor::inspect::call("get_result", &[]),
                        |this| {
                            #[allow(unused_imports)]
                            use ::reenact::actor::inspect::Hidden as _;
                            ::reenact::actor::inspect::Shown(this).reenact_text()
                        },
                    )
                }
                /// Sends the message `forward`.
                #[track_caller]
                fn forward(&self, to: FarRef<Math>) -> Promise<u64> {
                    ::reenact::actor::Promise::flatten(
                        <Self as ::reenact::actor::Target<
                            Math,
                        >>::ask_call(
                            self,
                            (to,),
                            |this, ctx, (carried0,)| <Math>::forward(this, ctx, carried0),
                            |(carried0,)| {
                                #[allow(unused_imports)]
                                use ::reenact::actor::inspect::Hidden as _;
                                ::reenact::actor::inspect::call(
                                    "forward",
                                    &[::reenact::actor::inspect::Shown(carried0).reenact_text()],
                                )
                            },
                            |this| {
                                #[allow(unused_imports)]
                                use ::reenact::actor::inspect::Hidden as _;
                                ::reenact::actor::inspect::Shown(this).reenact_text()
                            },
                        ),
                    )
                }
            }
            impl<__Target: ::reenact::actor::Target<Math> + ?Sized> MathSends for __Target {}
        "#]],
    );
}

#[test]
fn the_options() {
    check_short(
        "trait = Calculate, crate = crate::fake,",
        "impl Math { pub fn get(&self) -> Promise<u64> { 1 } }",
        &expect![[r#"
            /// The messages for [`Math`]: what can be sent to its far references, and to promises of them.
            pub trait Calculate: crate::fake::actor::Target<Math> {
                /// Sends the message `get`.
                fn get(&self) -> Promise<u64> {
                    crate::fake::actor::Promise::flatten(
                        ask_call((), |this, _ctx, ()| <Math>::get(this)),
                    )
                }
            }
            impl<__Target: crate::fake::actor::Target<Math> + ?Sized> Calculate for __Target {}
        "#]],
    );
}

#[test]
fn generics_and_where_clauses_are_the_traits_too() {
    check_short(
        "",
        "impl<T: Send + 'static, const N: usize> Stack<T, N> where T: Ord, Self: Send {
            pub fn push(&mut self, item: T) {}
            pub fn whole(&self) -> Self {}
        }",
        &expect![[r#"
            /// The messages for [`Stack`]: what can be sent to its far references, and to promises of them.
            pub trait StackSends<
                T: Send + 'static,
                const N: usize,
            >: ::reenact::actor::Target<Stack<T, N>>
            where
                T: Ord,
                Stack<T, N>: Send,
            {
                /// Sends the message `push`.
                fn push(&self, item: T) {
                    send_call(
                        (item,),
                        |this, _ctx, (carried0,)| <Stack<T, N>>::push(this, carried0),
                    );
                }
                /// Sends the message `whole`.
                fn whole(&self) -> ::reenact::actor::Promise<Stack<T, N>> {
                    ask_call((), |this, _ctx, ()| <Stack<T, N>>::whole(this))
                }
            }
            impl<
                T: Send + 'static,
                const N: usize,
                __Target: ::reenact::actor::Target<Stack<T, N>> + ?Sized,
            > StackSends<T, N> for __Target
            where
                T: Ord,
                Stack<T, N>: Send,
            {}
        "#]],
    );
}

#[test]
fn an_instance_of_a_generic_actor() {
    check_trait(
        "impl queues::Stack<u8> { pub fn sum(&self) -> u8 {} }",
        &expect![[r#"
            pub trait StackSends: ::reenact::actor::Target<queues::Stack<u8>> {
                /// Sends the message `sum`.
                fn sum(&self) -> ::reenact::actor::Promise<u8> {
                    ask_call((), |this, _ctx, ()| <queues::Stack<u8>>::sum(this))
                }
            }
        "#]],
    );
}

#[test]
fn an_actor_without_a_name_has_a_trait_with_one() {
    check_short(
        "trait = Draws, crate = r",
        "impl the_actor!() { pub fn draw(&self) {} }",
        &expect![[r#"
            /// The messages for an actor: what can be sent to its far references, and to promises of them.
            pub trait Draws: r::actor::Target<the_actor!()> {
                /// Sends the message `draw`.
                fn draw(&self) {
                    send_call((), |this, _ctx, ()| <the_actor!()>::draw(this));
                }
            }
            impl<__Target: r::actor::Target<the_actor!()> + ?Sized> Draws for __Target {}
        "#]],
    );
}

#[test]
fn cfg_and_lints_of_the_block_hold_for_the_trait() {
    check_short(
        "",
        "#[cfg(unix)] #[cfg_attr(a, cfg(b))] #[expect(clippy::ptr_arg, reason = \"why\")] #[rustfmt::skip] /// Docs.
        impl Math { pub fn f(&self) {} }",
        &expect![[r##"
            #[cfg(unix)]
            #[cfg_attr(a, cfg(b))]
            /// The messages for [`Math`]: what can be sent to its far references, and to promises of them.
            #[allow(clippy::ptr_arg, reason = "why")]
            pub trait MathSends: ::reenact::actor::Target<Math> {
                /// Sends the message `f`.
                fn f(&self) {
                    send_call((), |this, _ctx, ()| <Math>::f(this));
                }
            }
            #[cfg(unix)]
            #[cfg_attr(a, cfg(b))]
            impl<__Target: ::reenact::actor::Target<Math> + ?Sized> MathSends for __Target {}
        "##]],
    );
}

#[test]
fn the_most_visible_message_makes_the_trait_visible() {
    check_trait(
        "impl Math {
            pub(super) fn a(&self) {}
            pub(crate) fn b(&self) {}
            pub(in crate::x) fn c(&self) {}
            pub fn not_a_message() {}
            pub(self) fn private(&self) {}
        }",
        &expect![[r#"
            pub(crate) trait MathSends: ::reenact::actor::Target<Math> {
                /// Sends the message `a`.
                fn a(&self) {
                    send_call((), |this, _ctx, ()| <Math>::a(this));
                }
                /// Sends the message `b`.
                fn b(&self) {
                    send_call((), |this, _ctx, ()| <Math>::b(this));
                }
                /// Sends the message `c`.
                fn c(&self) {
                    send_call((), |this, _ctx, ()| <Math>::c(this));
                }
            }
        "#]],
    );
    check_trait(
        "impl Math { pub(super) fn a(&self) {} pub(in crate::x) fn b(&self) {} }",
        &expect![[r#"
            pub(in crate::x) trait MathSends: ::reenact::actor::Target<Math> {
                /// Sends the message `a`.
                fn a(&self) {
                    send_call((), |this, _ctx, ()| <Math>::a(this));
                }
                /// Sends the message `b`.
                fn b(&self) {
                    send_call((), |this, _ctx, ()| <Math>::b(this));
                }
            }
        "#]],
    );
    check_trait(
        "impl Math { pub(super) fn a(&self) {} fn b(&self) {} }",
        &expect![[r#"
            pub(super) trait MathSends: ::reenact::actor::Target<Math> {
                /// Sends the message `a`.
                fn a(&self) {
                    send_call((), |this, _ctx, ()| <Math>::a(this));
                }
            }
        "#]],
    );
}
