//! Programs to which something comes.

use reenact::{
    actor::{self, System, Target},
    csp,
    source::Source,
    sync::{
        Arc, Mutex,
        mpsc::{self},
    },
    thread,
};

use crate::{say, wait_to_be_killed};

pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    let number = |n: usize| arguments.get(n).and_then(|text| text.parse().ok());
    match name {
        "to-actors" => to_actors(number(0).unwrap_or(50)),
        "to-threads" => to_threads(number(0).unwrap_or(50)),
        "several" => several(number(0).unwrap_or(50)),
        "subscription" => subscription(),
        "until-the-end" => until_the_end(number(0).unwrap_or(20)),
        "until-killed" => until_killed(number(0).unwrap_or(20)),
        "withheld" => subscription(),
        "from-within" => from_within(number(0).unwrap_or(20)),
        _ => return false,
    }
    true
}

/// What differs from process to process.
fn noise(n: u64) -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::from(now.subsec_nanos()) ^ n << 40
}

#[derive(Default)]
struct Listener {
    heard: Vec<u64>,
}

impl Listener {
    fn hear(&mut self, item: u64) {
        self.heard.push(item);
    }
}

/// Two sources deliver to one actor.
fn to_actors(count: u64) {
    let listener = actor::spawn(Listener::default());
    let (ends, end) = mpsc::channel();
    for name in ["left", "right"] {
        let (listener, ends) = (listener.clone(), ends.clone());
        Source::thread(
            name,
            move |item: u64| {
                listener.send(move |this, _| this.hear(item));
                if item == 0 {
                    ends.send(name).unwrap();
                }
            },
            move |source| {
                (1..=count).for_each(|n| source.emit(noise(n) | 1));
                source.emit(0);
            },
        )
        .unwrap();
    }
    drop(ends);
    for name in end {
        println!("{name} is through");
    }
    let heard = listener.ask(|this, _| this.heard.clone()).wait().unwrap();
    println!("{heard:?}");
    System::current().wait_until_idle();
}

/// Sources send into channels of both kinds, which end when the sources do.
fn to_threads(count: u64) {
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    Source::thread(
        "queue",
        move |item: u64| sender.send(item).unwrap(),
        move |source| (0..count).for_each(|n| source.emit(noise(n))),
    )
    .unwrap();
    let (meeting, met) = csp::channel();
    Source::thread(
        "meetings",
        move |item: (u64, String)| {
            let _ = meeting.send(item);
        },
        move |source| (0..count).for_each(|n| source.emit((noise(n), format!("number {n}")))),
    )
    .unwrap();
    let taken = thread::spawn(move || met.iter().collect::<Vec<_>>());
    other.send(7).unwrap();
    drop(other);
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    println!("{:?}", taken.join().unwrap());
}

/// Several sources, and threads that do something else meanwhile, all noted in the order in which they came.
fn several(count: u64) {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = csp::unbounded();
    for name in ["a", "b", "c"] {
        let (sender, order) = (sender.clone(), Arc::clone(&order));
        Source::thread(
            name,
            move |item: u64| {
                order.lock().unwrap().push((name, item));
                sender.send(item).unwrap();
            },
            move |source| (0..count).for_each(|n| source.emit(noise(n))),
        )
        .unwrap();
    }
    drop(sender);
    let busy = {
        let order = Arc::clone(&order);
        thread::spawn(move || (0..count).for_each(|n| order.lock().unwrap().push(("busy", n))))
    };
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
    busy.join().unwrap();
    println!("{:?}", order.lock().unwrap());
}

/// Foreign threads emit into one source.
fn subscription() {
    let (sender, receiver) = csp::unbounded();
    let source = Source::new("news", move |item: String| sender.send(item).unwrap());
    std::thread::scope(|scope| {
        for n in 0..3 {
            let source = &source;
            scope.spawn(move || source.emit(format!("{:x}", noise(n))));
        }
    });
    source.close();
    println!("{:?}", receiver.iter().collect::<Vec<_>>());
}

/// Processes, actors and threads of the program itself emit, and what they emit is met by a process.
fn from_within(count: u64) {
    let (meeting, met) = csp::channel();
    let source = Arc::new(Source::new("within", move |item: (u64, u64)| {
        let _ = meeting.send(item);
    }));
    let emit = |who: u64| {
        let source = Arc::clone(&source);
        move || (0..count).for_each(|n| source.emit((who, noise(n))))
    };
    for who in 0..2 {
        csp::spawn(emit(who));
        thread::spawn(emit(2 + who));
        let emit = emit(4 + who);
        actor::spawn(Listener::default()).send(move |_, _| emit());
    }
    drop(source);
    let taken = csp::spawn(move || met.iter().collect::<Vec<_>>());
    println!("{:?}", taken.join().unwrap());
}

/// Items come without end, in each of the ways in which they can, and the program ends in the middle.
fn until_the_end(count: u64) {
    let endless = |source: &Source<u64>| (0..=u64::MAX).for_each(|n| source.emit(noise(n)));
    let (bounded, some) = csp::bounded(2);
    let deliver = move |item| bounded.send(item).unwrap_or(());
    Source::thread("bounded", deliver, endless).unwrap();
    let (queue, all) = mpsc::sync_channel(3);
    let deliver = move |item| queue.send(item).unwrap_or(());
    Source::thread("queue", deliver, endless).unwrap();
    let listener = actor::spawn(Listener::default());
    let heard = listener.clone();
    let deliver = move |item: u64| {
        // Or else there is no end to what is in its mailbox.
        let taken = heard.ask(move |this, _| this.hear(item));
        drop(taken.wait());
    };
    Source::thread("listener", deliver, endless).unwrap();
    for (one, other) in some.iter().zip(all.iter()).take(count as usize) {
        println!("{one} {other}");
    }
    println!(
        "{:?}",
        listener.ask(|this, _| this.heard.clone()).wait().unwrap()
    );
}

/// Something comes without end. After some of it the program says so, and is killed.
fn until_killed(count: u64) {
    let (sender, receiver) = csp::bounded(1);
    Source::thread(
        "endless",
        move |item: u64| {
            let _ = sender.send(item);
        },
        |source| (0..=u64::MAX).for_each(|n| source.emit(noise(n))),
    )
    .unwrap();
    for item in receiver.iter().take(count as usize) {
        println!("{item}");
    }
    say("ready");
    wait_to_be_killed();
}
