//! The help of the debugger.

use expect_test::expect;

use super::check;

#[test]
fn help_teaches() {
    check(
        "\
help
help break
help next-turn
help n
help to-receiver
help where
",
        expect![[r#"
            > help
            Commands
              break BREAKPOINT              Set a breakpoint in every universe (b)
              breakpoints                   List the breakpoints (bl)
              delete NUMBER|all             Remove a breakpoint (d)
              run                           Run the program from its start, in all universes (r)
              step STEP [ACTIVITY] [TIMES] [in UNIVERSE|here]
                                            Take a step in all paused universes, or in one (s)
              steps                         List the steps that each activity can take in the selected universe
              universes                     List the universes: where they are paused, how they ended (us)
              universe [N]                  Select a universe (u)
              show [EXPR] [in UNIVERSE]     Print the state of the selected universe (p)
              diff [N] M                    Compare two universes
              story [N]                     Print the steps that lead to a universe (t)
              where EXPR                    Count the universes ahead in which this is true, and print the path to the nearest (w)
              ends [in UNIVERSE|here|start] List the outcomes that can be reached (e)
              ways [in UNIVERSE|here|start] The same, with a shortest path to each end
              list [LINE [LAST]]            Print the source, with breakpoints (*) and the lines where activities are (>) (l)
              dot FILE [ahead]              Write a graph of the session, for Graphviz
              schedule FILE [UNIVERSE]      Write the steps that lead to a universe to a file
              back                          Undo the last step
              help [COMMAND]                List the commands, or explain a command or a step (h)
              quit                          Leave (q)

            Steps
              resume                        run to the next breakpoint (c, continue)
              pause                         pause all activities
              stop                          stop running this universe
              into                          to the next operation of this activity (i)
              over                          …that is not deeper in calls (o)
              return                        …that is less deep in calls
              into-activity                 to the first action of what is created
              to-receiver                   to where the message is processed
              to-resolver                   to where its promise is resolved
              to-resolution                 to the callback that waits for its promise
              next-turn                     to the next turn of this activity (n)
              end-of-turn                   to the end of this turn (f)
              return-to-resolution          to the callback that waits for what this turn answers

            For details, type: help COMMAND. For the kinds of breakpoints: help break. A line that begins with # is a comment.

            > help break
            break BREAKPOINT
            Set a breakpoint in every universe
            For short: b

            Usage: break KIND [METHOD] [by ACTIVITY] [to ACTIVITY] [at LINE] [if EXPR]
            or:    break line LINE [if EXPR]
            or:    break temporal PATTERN [if EXPR], for what has happened so far

              break message-sender                     Before an actor sends a message
              break message-receiver by math           Before math processes a message
              break message-receiver at 11             Before an actor processes a message sent at line 11
              break before-turn double if math.result == 24
              break temporal (message-sender a) after (before-turn b)

            A breakpoint takes effect from the current state on; run starts over. Without an argument, break lists the breakpoints.

            Kinds
              message-sender                before a message is sent
              message-receiver              before a message is processed, by where it was sent
              before-turn                   before the turn of a method
              after-turn                    after the turn of a method
              resolver                      before a promise is resolved
              resolution                    before a callback runs because its promise is resolved
              creation                      before an activity is created
              after-creation                after an activity was created
              begin                         before the first action of an activity
              after-begin                   after the first action of an activity

            > help next-turn
            next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to the next turn of this activity

            > help n
            next-turn [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to the next turn of this activity

            > help to-receiver
            to-receiver [ACTIVITY] [TIMES] [in UNIVERSE|here]
            to where the message is processed
            The activity must be at a message send or a message send to a promise.

            > help where
            where EXPR
            Count the universes ahead in which this is true, and print the path to the nearest
            For short: w

            This searches everything that can happen from the current universes on, ignoring breakpoints.

              where math.result == 66
              where math.inbox.length > 1 && client1 != null
              where contains(client1.printed, "66")

            Operators: || && == != < <= > >= + - * / % !. Functions: contains(LIST, VALUE), length(VALUE).
            A field that does not exist is null.

        "#]],
    );
}
