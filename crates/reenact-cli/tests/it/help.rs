//! The help of the commands. What each prints is in `help/`; `UPDATE_EXPECT=1` writes it anew.

use expect_test::expect_file;

use crate::run::Directory;

#[test]
fn help_teaches_by_example_and_says_what_the_exit_status_is() {
    let helps: [(&str, &[&str]); 5] = [
        ("reenact", &["--help"]),
        ("record", &["record", "-h"]),
        ("replay", &["replay", "-h"]),
        ("explore", &["explore", "-h"]),
        ("debug", &["debug", "-h"]),
    ];
    for (name, arguments) in helps {
        let run = Directory::new().reenact(arguments);
        run.assert_status(0);
        expect_file![format!("help/{name}.txt")].assert_eq(&run.stdout);
    }
}

#[test]
fn no_command_is_a_question_for_help() {
    let run = Directory::new().reenact(&[]);
    run.assert_status(2);
    run.assert_stderr_has("Usage: reenact <COMMAND>");
}
