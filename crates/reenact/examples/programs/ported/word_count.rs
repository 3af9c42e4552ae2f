// Counts words on several threads: lines are dealt out through a shared iterator,
// counts come back through a channel.

use super::sync::mpsc::{self, Receiver, Sender};
use super::sync::{Arc, Mutex};
use super::thread;
use std::collections::BTreeMap;

const TEXT: &str = "\
the quick brown fox jumps over the lazy dog
a fox is a fox and a dog is a dog
the end of the tale is the end of the fox
quick quick slow the brown dog jumps";

enum Message {
    Word(usize, String),
    Done(usize),
}

fn worker<I>(id: usize, lines: Arc<Mutex<I>>, out: Sender<Message>)
where
    I: Iterator<Item = &'static str>,
{
    loop {
        let line = lines.lock().unwrap().next();
        match line {
            Some(line) => {
                for word in line.split_whitespace() {
                    out.send(Message::Word(id, word.to_string())).unwrap();
                }
            }
            None => {
                out.send(Message::Done(id)).unwrap();
                return;
            }
        }
    }
}

fn collect(rx: Receiver<Message>) -> (BTreeMap<String, usize>, Vec<usize>, Vec<usize>) {
    let mut counts = BTreeMap::new();
    let mut order = vec![];
    let mut finished = vec![];
    for message in rx {
        match message {
            Message::Word(id, word) => {
                *counts.entry(word).or_insert(0) += 1;
                order.push(id);
            }
            Message::Done(id) => finished.push(id),
        }
    }
    (counts, order, finished)
}

pub fn run() -> (String, String) {
    let lines = Arc::new(Mutex::new(
        std::iter::repeat_n(TEXT, 25).flat_map(str::lines),
    ));
    let (tx, rx) = mpsc::channel();
    let mut handles = Vec::new();
    for id in 0..4 {
        let lines = lines.clone();
        let tx = tx.clone();
        handles.push(thread::spawn(move || worker(id, lines, tx)));
    }
    drop(tx);
    let (counts, order, finished) = collect(rx);
    for handle in handles {
        handle.join().unwrap();
    }
    let mut top: Vec<_> = counts.into_iter().collect();
    top.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    top.truncate(4);
    (format!("{:?}", top), format!("{:?} {:?}", finished, order))
}
