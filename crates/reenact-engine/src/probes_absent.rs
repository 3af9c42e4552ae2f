//! Takes the place of `probes` in a build without the feature `refine`, and where there are none: no probe is ever placed.

pub(crate) fn moment() -> Option<u64> {
    None
}

pub(crate) fn place_from_environment() -> Result<(), String> {
    match std::env::var_os("REENACT_PROBES") {
        None => Ok(()),
        Some(_) => Err(
            "it was built without the feature `refine` of the crate reenact, or not for x86-64"
                .to_owned(),
        ),
    }
}
