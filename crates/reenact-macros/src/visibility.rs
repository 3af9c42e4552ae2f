//! The visibility of a method, as far as its tokens show.

use syn::{VisRestricted, Visibility};

/// Whether it is private to its module: no visibility, or `pub(self)`.
pub(crate) fn is_private(visibility: &Visibility) -> bool {
    rank(visibility) == 0
}

/// Returns the most visible of them, the first one among equals.
pub(crate) fn most_visible<'a>(all: impl IntoIterator<Item = &'a Visibility>) -> Visibility {
    let wider = |best, next| if rank(next) > rank(best) { next } else { best };
    all.into_iter()
        .reduce(wider)
        .unwrap_or(&Visibility::Inherited)
        .clone()
}

/// Higher is more visible. `pub(in path)` is between the module and the crate; its usual purpose is a module above the
/// parent.
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
