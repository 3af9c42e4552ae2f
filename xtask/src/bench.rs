//! `cargo xtask bench`: builds and runs a suite of benchmarks, and can compare it with another revision.
//!
//! The other revision is checked out into a worktree under the target directory, with its own target directory beside
//! it, so that it is built only once: `target/against/COMMIT/{tree,target}`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::cargo::{self, command, run_command as run, target};

/// The suites that compare Reenact with other libraries.
const WITH_PEERS: [&str; 5] = ["savina-peers", "csp", "stm", "explore-peers", "all"];

/// The suites that need a service.
const WITH_SERVICE: [&str; 2] = ["http", "all"];

/// The suites that can be compared with another revision.
const COMPARABLE: [&str; 7] = [
    "locks",
    "savina",
    "csp",
    "stm",
    "mixed",
    "explore",
    "instructions",
];

/// The directory of the programs whose instructions are counted; their names begin with [`COUNTED`].
const PROGRAMS: &str = "crates/reenact-bench/src/bin";

/// The prefix of their names.
const COUNTED: &str = "instructions";

/// Runs `cargo xtask bench ARGUMENTS`.
pub(crate) fn run_suite(arguments: &[&str]) -> Result<(), String> {
    let (arguments, against) = take_against(arguments)?;
    if arguments.first() == Some(&"forget") {
        return forget();
    }
    build("reenact-bench")?;
    let is_one_of = |suites: &[&str]| arguments.iter().any(|one| suites.contains(one));
    let mut others = Vec::new();
    if let Some(revision) = against {
        if !is_one_of(&COMPARABLE) {
            let suites = COMPARABLE.join(", ");
            return Err(format!("--against is for the suites {suites}"));
        }
        let other = Revision::check_out(&revision)?;
        let built = if is_one_of(&["instructions"]) {
            other.build_counted()?
        } else {
            other.build()?
        };
        let built = built.display().to_string();
        others = vec![
            "--against".to_owned(),
            built,
            "--revision".to_owned(),
            revision,
        ];
    } else {
        if is_one_of(&WITH_PEERS) {
            build_peers()?;
        }
        if is_one_of(&WITH_SERVICE) {
            build("acme-air")?;
        }
    }
    let mut bench = command(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "reenact-bench",
        "--bin",
        "reenact-bench",
        "--",
    ]);
    bench.args(arguments).args(others);
    run(bench)
}

fn build(package: &str) -> Result<(), String> {
    cargo::run(&[
        "build",
        "--release",
        "--quiet",
        "--package",
        package,
        "--bins",
    ])
}

/// Removes `--against REV` from the arguments and returns it.
fn take_against<'a>(arguments: &[&'a str]) -> Result<(Vec<&'a str>, Option<String>), String> {
    let (mut rest, mut against) = (Vec::new(), None);
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        if argument == "--against" {
            let revision = arguments.next().ok_or("--against needs a revision")?;
            against = Some((*revision).to_owned());
        } else if let Some(revision) = argument.strip_prefix("--against=") {
            against = Some(revision.to_owned());
        } else {
            rest.push(argument);
        }
    }
    Ok((rest, against))
}

/// A checked-out revision.
struct Revision {
    /// The name that the user gave.
    name: String,
    tree: PathBuf,
    target: PathBuf,
}

impl Revision {
    /// Checks out a revision, or resets an existing checkout.
    fn check_out(name: &str) -> Result<Self, String> {
        let commit = format!("{name}^{{commit}}");
        let commit = output(git(&root(), &["rev-parse", "--verify", "--quiet", &commit]))
            .map_err(|_| format!("`{name}` is no revision of this repository"))?;
        let directory = others()?.join(&commit);
        let (tree, target) = (directory.join("tree"), directory.join("target"));
        let name = name.to_owned();
        let this = Self { name, tree, target };
        if this.tree.join(".git").exists() {
            this.clean()?;
        } else {
            // Git still knows a worktree whose directory was deleted by hand.
            run(git(&root(), &["worktree", "prune"]))?;
            let mut add = git(&root(), &["worktree", "add", "--quiet", "--detach"]);
            add.arg(&this.tree).arg(&commit);
            run(add)?;
        }
        Ok(this)
    }

    /// Removes the files that were copied into it.
    fn clean(&self) -> Result<(), String> {
        run(git(&self.tree, &["reset", "--quiet", "--hard"]))?;
        run(git(&self.tree, &["clean", "--quiet", "-d", "--force"]))
    }

    /// Builds its benchmarks and returns their directory.
    fn build(&self) -> Result<PathBuf, String> {
        eprintln!("xtask: building the benchmarks of {}", self.name);
        run(self.cargo_build("--bins"))?;
        Ok(self.built())
    }

    /// Builds our version of the programs whose instructions are counted with its libraries, and returns their
    /// directory. A program that does not build with these libraries is left out, unless the revision has its own
    /// version.
    fn build_counted(&self) -> Result<PathBuf, String> {
        let (ours, theirs) = (root().join(PROGRAMS), self.tree.join(PROGRAMS));
        for program in counted(&ours)? {
            eprintln!(
                "xtask: building {program} with the libraries of {}",
                self.name
            );
            let binary = self.built().join(&program);
            if binary.exists() {
                fs::remove_file(&binary).map_err(|error| error.to_string())?;
            }
            copy_counted(&ours, &theirs)
                .map_err(|error| format!("cannot copy {PROGRAMS}: {error}"))?;
            let mut build = self.cargo_build("--bin");
            if succeeds(build.arg(&program)) {
                continue;
            }
            self.clean()?;
            let mut build = self.cargo_build("--bin");
            build.arg(&program);
            let has_its_own = theirs.join(format!("{program}.rs")).exists();
            if has_its_own && succeeds(&mut build) {
                eprintln!(
                    "xtask: {program} does not build there: {} has its own",
                    self.name
                );
            } else {
                eprintln!("xtask: {program} does not build there: its rows are left out");
            }
        }
        Ok(self.built())
    }

    fn cargo_build(&self, what: &str) -> Command {
        let mut build = command(&[
            "build",
            "--release",
            "--quiet",
            "--package",
            "reenact-bench",
        ]);
        build.arg("--target-dir").arg(&self.target).arg(what);
        build.current_dir(&self.tree);
        build
    }

    fn built(&self) -> PathBuf {
        self.target.join("release")
    }
}

/// Removes all checked-out revisions and their builds.
fn forget() -> Result<(), String> {
    let others = others()?;
    if others.exists() {
        fs::remove_dir_all(&others)
            .map_err(|error| format!("cannot remove {}: {error}", others.display()))?;
    }
    run(git(&root(), &["worktree", "prune"]))
}

/// Returns the names of the programs whose instructions are counted.
fn counted(directory: &Path) -> Result<Vec<String>, String> {
    let files = fs::read_dir(directory)
        .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let mut programs: Vec<_> = names
        .filter(|name| name.starts_with(COUNTED))
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .collect();
    programs.sort();
    Ok(programs)
}

/// Copies these programs and the modules that they share.
fn copy_counted(from: &Path, to: &Path) -> io::Result<()> {
    for file in fs::read_dir(from)? {
        let name = file?.file_name();
        if name.to_string_lossy().starts_with(COUNTED) {
            copy(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

/// Copies a file, or a directory with its content.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let name = file?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// Builds the programs that use other libraries, which are not part of the workspace, into our target directory.
fn build_peers() -> Result<(), String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../peers/Cargo.toml");
    let mut build = command(&[
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        manifest,
    ]);
    build.arg("--target-dir").arg(target()?);
    run(build)
}

/// Returns the directory of other revisions.
fn others() -> Result<PathBuf, String> {
    Ok(target()?.join("against"))
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(arguments);
    git
}

/// Returns the output of a command, without surrounding whitespace.
fn output(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(output.status.to_string()),
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::take_against;

    #[test]
    fn the_revision_is_taken_out_of_the_arguments_wherever_it_is() {
        for text in [
            "locks --against v1 --quick",
            "--against=v1 locks --quick",
            "locks --quick --against v1",
        ] {
            let (rest, against) = take_against(&text.split(' ').collect::<Vec<_>>()).unwrap();
            assert_eq!(rest, ["locks", "--quick"]);
            assert_eq!(against.as_deref(), Some("v1"));
        }
        assert!(take_against(&["locks", "--against"]).is_err());
    }
}
