//! Executables that consist of many small programs, which tests start by name.

/// Runs the program of a name with its arguments, if it has one of that name.
pub type Programs = fn(&str, &[String]) -> bool;

/// Runs the program that the command line names, or ends the process with an error if none of these has it.
pub fn main(all: &[Programs]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !run(&arguments, all) {
        eprintln!("expected NAME [ARGUMENT…], found {arguments:?}");
        std::process::exit(2);
    }
}

/// Runs the program that the first argument names, with the others as its arguments.
pub fn run(arguments: &[String], all: &[Programs]) -> bool {
    let Some((name, arguments)) = arguments.split_first() else {
        return false;
    };
    all.iter().any(|run| run(name, arguments))
}
