//! One producer, one consumer, an unbounded `mpsc` channel between them.
//!
//! Whose message comes next is always as predicted, so this shows what a channel pays for the
//! prediction alone.

use super::{Measured, Setting, sync::mpsc, thread};

/// One thread sends the numbers from 0, the other adds them up.
pub(super) fn stream(setting: &Setting) -> Measured {
    let count = setting.times(1_000_000);
    let mut sum = 0u64;
    let measured = Measured::around(|| {
        let (sender, receiver) = mpsc::channel();
        let producer = thread::spawn(move || {
            for number in 0..count {
                sender.send(number).unwrap();
            }
        });
        for _ in 0..count {
            sum += receiver.recv().unwrap();
        }
        producer.join().unwrap();
        2 * count
    });
    assert_eq!(sum, count * (count - 1) / 2);
    measured
}

#[cfg(test)]
mod tests {
    use super::{Setting, stream};

    #[test]
    fn every_message_arrives() {
        assert_eq!(stream(&Setting::tiny()).ops, 4_000);
    }
}
