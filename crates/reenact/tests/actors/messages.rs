//! Messages: their order, their size, mailboxes with a bound.

use std::sync::mpsc;

use reenact::actor::{Context, FarRef, Promise, SendError, System, Target};

/// An actor that keeps what it receives.
#[derive(Default)]
struct Log(Vec<u64>);

#[test]
fn messages_of_one_sender_come_in_the_order_in_which_they_were_sent() {
    const SENDERS: u64 = 4;
    const MESSAGES: u64 = 20_000;
    let system = System::new(3);
    let log = system.spawn(Log::default());
    // Half of the senders are threads, half are actors.
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let log = log.clone();
            let send = move || {
                for message in 0..MESSAGES {
                    log.send(move |this, _| this.0.push(sender * MESSAGES + message));
                }
            };
            if sender % 2 == 0 {
                scope.spawn(send);
            } else {
                system.spawn(()).send(move |(), _| send());
            }
        }
    });
    system.wait_until_idle();
    let log = log
        .ask(|this, _| std::mem::take(&mut this.0))
        .wait()
        .unwrap();
    assert_eq!(log.len() as u64, SENDERS * MESSAGES);
    for sender in 0..SENDERS {
        let of_one: Vec<_> = log
            .iter()
            .filter(|&&message| message / MESSAGES == sender)
            .collect();
        assert!(of_one.is_sorted(), "of sender {sender}");
    }
}

#[test]
fn a_message_that_an_actor_sends_to_itself_comes_after_those_that_are_there() {
    let system = System::new(1);
    let log = system.spawn(Log::default());
    let done = log.ask(|this, ctx| {
        ctx.me().send(|this, _| this.0.push(2));
        this.0.push(1);
        ctx.me().ask(|this, _| this.0.clone())
    });
    assert_eq!(done.flatten().wait().unwrap(), [1, 2]);
}

/// Aligned as nothing in a mailbox is.
#[repr(align(256))]
#[derive(Clone, Copy)]
struct Aligned([u8; 256]);

/// Sends a message of so many words, directly and through a promise.
fn send_words<const WORDS: usize>(log: &FarRef<Log>, promise: &Promise<FarRef<Log>>) {
    let words = [WORDS as u64; WORDS];
    let note = move |this: &mut Log, _: &mut Context<Log>| {
        assert!(words.iter().all(|&word| word == WORDS as u64));
        this.0.push(words.len() as u64);
    };
    log.send(note);
    promise.send(note);
}

#[test]
fn messages_of_all_sizes_and_alignments_arrive_as_they_were_sent() {
    let system = System::new(2);
    let log = system.spawn(Log::default());
    let (promise, resolver) = Promise::pair();
    macro_rules! send {
        ($($words:literal)*) => {$( send_words::<$words>(&log, &promise); )*};
    }
    send!(0 1 2 3 5 29 30 31 62 63 64 65 100 509 510 511 512 8189 8190 8191 8192 10000);
    let expected = [
        0, 1, 2, 3, 5, 29, 30, 31, 62, 63, 64, 65, 100, 509, 510, 511, 512, 8189, 8190, 8191, 8192,
        10_000,
    ];
    for round in 0..20 {
        let aligned = Aligned([round; 256]);
        log.send(move |this, _| {
            let aligned = aligned;
            assert_eq!((&raw const aligned).addr() % 256, 0);
            this.0
                .push(aligned.0.iter().map(|&byte| u64::from(byte)).sum());
        });
    }
    let direct = log
        .ask(|this, _| std::mem::take(&mut this.0))
        .wait()
        .unwrap();
    assert_eq!(direct[..expected.len()], expected);
    let sums: Vec<u64> = (0..20).map(|round| 256 * round).collect();
    assert_eq!(direct[expected.len()..], sums);
    resolver.resolve(log.clone());
    assert_eq!(log.ask(|this, _| this.0.clone()).wait().unwrap(), expected);
}

#[test]
fn a_message_that_is_not_handled_is_dropped() {
    struct Sends(mpsc::Sender<()>);
    impl Drop for Sends {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (sender, dropped) = mpsc::channel();
    let system = System::new(1);
    let stops = system.spawn(());
    stops.send(|(), ctx| ctx.stop());
    system.wait_until_idle();
    let captured = Sends(sender.clone());
    assert_eq!(
        stops.try_send(move |(), _| drop(captured)),
        Err(SendError::Stopped)
    );
    dropped.recv().unwrap();
    // Behind the one that stops it.
    let stops = system.spawn(());
    stops.send(move |(), ctx| {
        for words in 0..100 {
            let captured = Sends(sender.clone());
            let me = ctx.me();
            me.send(move |(), _| drop((captured, [words; 20])));
        }
        ctx.stop();
    });
    assert_eq!(dropped.iter().count(), 100);
}

#[test]
fn a_full_mailbox_refuses() {
    let system = System::new(1);
    let bounded = system.build().mailbox(3).spawn(Log::default());
    let (promise, resolver) = Promise::pair();
    // It does not come to read any while it sends to itself.
    let outcome = bounded.ask(move |_, ctx| {
        let me = ctx.me();
        // A continuation is never refused.
        promise.when(ctx, |this, _, number| this.0.push(number));
        resolver.resolve(10);
        let sent: Vec<_> = (0..5)
            .map(|number| me.try_send(move |this, _| this.0.push(number)))
            .collect();
        // What nobody wants to know of is lost.
        me.send(|this, _| this.0.push(100));
        let asked = me.ask(|_, _| ());
        (sent, asked)
    });
    let (sent, asked) = outcome.wait().unwrap();
    let full = Err(SendError::Full);
    assert_eq!(sent, [Ok(()), Ok(()), Ok(()), full, full]);
    let broken = asked.wait().unwrap_err();
    assert!(broken.is_full(), "{broken}");
    assert_eq!(broken.to_string(), "the actor's mailbox is full");
    system.wait_until_idle();
    // There is room again.
    assert_eq!(
        bounded.ask(|this, _| this.0.clone()).wait().unwrap(),
        [10, 0, 1, 2]
    );
}

#[test]
fn a_bounded_mailbox_whose_actor_has_stopped_is_not_full() {
    let system = System::new(1);
    let bounded = system.build().mailbox(2).spawn(());
    let (promise, resolver) = Promise::<()>::pair();
    bounded.send(move |(), ctx| {
        let _ = ctx.me().try_send(|(), _| {});
        let _ = ctx.me().try_send(|(), _| {});
        ctx.stop();
        drop(resolver);
    });
    promise.wait().unwrap_err();
    system.wait_until_idle();
    for _ in 0..10 {
        assert_eq!(bounded.try_send(|(), _| {}), Err(SendError::Stopped));
        assert!(bounded.ask(|(), _| ()).wait().unwrap_err().is_stopped());
    }
}
