//! How visible a method is, as far as its text tells.

use syn::{VisRestricted, Visibility};

/// Whether nobody outside of the module sees it: no visibility, or `pub(self)`.
pub(crate) fn is_private(visibility: &Visibility) -> bool {
    rank(visibility) == 0
}

/// The most visible of them, the first one among equals.
pub(crate) fn most_visible<'a>(all: impl IntoIterator<Item = &'a Visibility>) -> Visibility {
    let wider = |best, next| if rank(next) > rank(best) { next } else { best };
    all.into_iter()
        .reduce(wider)
        .unwrap_or(&Visibility::Inherited)
        .clone()
}

/// More is more visible. A path after `pub(in …)` is somewhere between the module and the crate; what is above the
/// parent is the usual reason to write one.
fn rank(visibility: &Visibility) -> u8 {
    match visibility {
        Visibility::Public(_) => 4,
        Visibility::Restricted(VisRestricted { path, .. }) if path.is_ident("crate") => 3,
        Visibility::Restricted(VisRestricted { path, .. }) if path.is_ident("super") => 1,
        Visibility::Restricted(VisRestricted { path, .. }) if path.is_ident("self") => 0,
        Visibility::Restricted(_) => 2,
        Visibility::Inherited => 0,
    }
}
