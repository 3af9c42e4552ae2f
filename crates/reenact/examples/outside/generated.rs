//! Programs over files that nobody wrote: `generated DIRECTORY OPERATION…`, or `generated-with-std` for the same on the
//! standard library.

mod language;

mod of_reenact {
    use reenact::fs;

    include!("generated/perform.rs");
}

mod of_std {
    use std::fs;

    include!("generated/perform.rs");
}

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "generated" => of_reenact::run(arguments),
        "generated-with-std" => of_std::run(arguments),
        _ => return false,
    }
    true
}
