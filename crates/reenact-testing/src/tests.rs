//! Tables of tests.

/// Tests that call a function with a text each, such as the name of a program.
#[macro_export]
macro_rules! tests {
    ($($check:path { $($(#[$doc:meta])* $text:literal => $name:ident,)* })*) => {$($(
        $(#[$doc])*
        #[test]
        fn $name() {
            $check($text);
        }
    )*)*};
}
