//! Appending the entries of the activities on one OS thread.

use crate::{
    Kind, Slot, Writer,
    entry::{
        EntryEncoder, MAX_ENCODED, compact_difference, compact_switch, short_clock, short_form,
        short_time,
    },
    event::Event,
    kept_name,
    layout::FLAG_STRUCTURED,
    live::{ChunkHeader, ChunkPtr},
    position::TracePosition,
};

use super::{data::DataChunk, slots::FreeSlots};

/// Appends the events of one OS thread. When it is dropped, its chunks are left to the next thread.
pub struct Appender {
    chunk: ChunkPtr,
    /// The sequence number of the chunk.
    sequence: u64,
    used: usize,
    thread: u32,
    /// The current activity at the chunk's end; `None` in a chunk that another thread has left.
    current: Option<u32>,
    /// Whether the chunk is known to have the flag.
    is_structured: bool,
    /// The last run of quiet ends in the chunk.
    run: Option<OpenRun>,
    slots: FreeSlots,
    data: DataChunk,
    writer: Writer,
}

/// A run that can be extended, as long as nothing follows it.
struct OpenRun {
    /// The number of the activity that would extend it; `None` after the highest number.
    next: Option<u32>,
    count: u16,
    operations: u32,
    hash: u32,
    /// Offset of the count in the payload; the run ends with it.
    at: usize,
}

impl Appender {
    pub(super) fn new(writer: Writer, chunk: ChunkPtr, thread: u32) -> Appender {
        Appender {
            sequence: chunk.sequence(),
            used: chunk.used(),
            chunk,
            thread,
            current: None,
            is_structured: false,
            run: None,
            slots: FreeSlots::default(),
            data: DataChunk::default(),
            writer,
        }
    }

    /// Appends the origin of an activity, which must be its first entry. Origin 0 is the main thread, 1 a foreign
    /// thread, `2 + n` a child of activity `n`; `index` counts activities of the same origin.
    ///
    /// An activity whose number is in a block of its parent ([`Kind::CHILDREN`]) does not need it.
    #[must_use = "false means that recording has stopped"]
    pub fn start(
        &mut self,
        place: &mut TracePosition,
        activity: u32,
        origin: u64,
        index: u64,
        name: &str,
    ) -> bool {
        let name = kept_name(name);
        self.append(place, activity, 0, true, |encoder| {
            encoder.start(origin, index, name.as_bytes())
        })
    }

    /// Appends an event of an activity.
    #[inline]
    #[must_use = "false means that recording has stopped"]
    pub fn event(&mut self, place: &mut TracePosition, activity: u32, event: &Event) -> bool {
        // Nearly always the event is short, and the activity's last entry is in this chunk.
        if place.is_in(self.sequence)
            && let Some(current) = self.current
            && let Some((bytes, length)) = short_form(event)
            && self.used + MAX_ENCODED <= ChunkPtr::CAPACITY
        {
            if current == activity {
                self.chunk.put(self.used, bytes);
                self.used += length;
            } else if self.is_structured
                && let Some(difference) = compact_difference(current, activity)
            {
                let [one, two] = compact_switch(difference);
                self.chunk.put(self.used, [one, two, bytes[0], bytes[1]]);
                self.used += 2 + length;
                self.current = Some(activity);
            } else {
                return self.append_event(place, activity, event);
            }
            place.advance(u64::from(event.silent) + 1);
            self.chunk.set_used(self.used);
            return true;
        }
        self.append_event(place, activity, event)
    }

    /// Appends a reading of the clock, or of the time of day, if a store or two suffice: it is short, and the
    /// activity's last entry is at the end of this chunk. Otherwise returns false and does nothing.
    ///
    /// Reading a clock waits for all instructions before it. So not the number of instructions matters here but the
    /// length of their dependency chain: lengths are found by predictable branches, not computed.
    #[inline(always)]
    #[must_use = "false means that it is still to be appended"]
    pub fn reading(
        &mut self,
        place: &mut TracePosition,
        activity: u32,
        of_day: bool,
        silent: u32,
        number: u64,
    ) -> bool {
        if !place.moves_in(self.sequence)
            || self.current != Some(activity)
            || self.used > ChunkPtr::CAPACITY - MAX_ENCODED
            || silent > u32::from(!of_day)
        {
            return false;
        }
        let bytes = match of_day {
            false if number < 1 << 8 => 1,
            false if number < 1 << 16 => 2,
            false if number < 1 << 24 => 3,
            false if number < 1 << 32 => 4,
            true if number < 1 << 24 => 3,
            true if number < 1 << 40 => 5,
            _ => return false,
        };
        // Before the stores to the chunk, which the compiler must assume to alias this.
        place.move_on(u64::from(silent) + 1);
        let (mut chunk, used) = (self.chunk, self.used);
        let end = used + 1 + bytes as usize;
        self.used = end;
        chunk.put(
            used,
            match of_day {
                false => short_clock(silent, number, bytes),
                true => short_time(number, bytes),
            },
        );
        chunk.set_used(end);
        true
    }

    /// Appends a checkpoint of the activity's hash.
    #[must_use = "false means that recording has stopped"]
    pub fn tick(
        &mut self,
        place: &mut TracePosition,
        activity: u32,
        silent: u32,
        hash: u32,
    ) -> bool {
        if silent == 0 && place.still() == u16::MAX {
            // It would only repeat thousands before it, and could not be distinguished from the last one.
            return true;
        }
        self.append(place, activity, silent.into(), false, |encoder| {
            encoder.tick(silent, hash)
        })
    }

    /// Appends that the activity's code has ended.
    #[must_use = "false means that recording has stopped"]
    pub fn end(
        &mut self,
        place: &mut TracePosition,
        activity: u32,
        silent: u32,
        hash: u32,
    ) -> bool {
        self.append(place, activity, silent.into(), false, |encoder| {
            encoder.end(silent, hash)
        })
    }

    /// Appends a quiet end: the end, after this many operations, of an activity that has no entries except possibly its
    /// start. It is the last entry of the activity. If activities with consecutive numbers end alike one after the
    /// other, it costs one store.
    #[inline]
    #[must_use = "false means that recording has stopped"]
    pub fn quiet_end(&mut self, activity: u32, operations: u32, hash: u32) -> bool {
        if let Some(run) = &mut self.run
            && run.at + 2 == self.used
            && (run.next, run.operations, run.hash) == (Some(activity), operations, hash)
            && run.count < u16::MAX
        {
            run.count += 1;
            run.next = activity.checked_add(1);
            self.chunk.put_u16(run.at, run.count);
            return true;
        }
        self.begin_run(activity, operations, hash)
    }

    /// Stores data, or finds that the trace already has the same bytes; returns the id by which events may refer to
    /// them, `None` once recording has stopped. The bytes are in the live file when this returns, so an event that
    /// refers to them is never without them.
    pub fn data(&mut self, bytes: &[u8]) -> Option<u64> {
        self.data.store(&self.writer.shared, self.thread, bytes)
    }

    /// Returns a counter for an activity; `None` once recording has stopped.
    #[inline]
    pub fn slot(&mut self, activity: u32) -> Option<Slot> {
        self.slots.take(&self.writer.shared, activity)
    }

    /// Frees the counter of an activity: the caller has appended what it counted, or recording has stopped.
    #[inline]
    pub fn give_back(&mut self, slot: Slot) {
        self.slots.give_back(&self.writer.shared, slot);
    }

    #[inline(never)]
    fn append_event(&mut self, place: &mut TracePosition, activity: u32, event: &Event) -> bool {
        let operations = u64::from(event.silent) + 1;
        let structured = event.kind == Kind::CHILDREN;
        self.append(place, activity, operations, structured, |encoder| {
            encoder.event(event)
        })
    }

    /// Appends what `encode` writes, which stands for this many operations of the activity.
    #[inline]
    fn append(
        &mut self,
        place: &mut TracePosition,
        activity: u32,
        operations: u64,
        structured: bool,
        encode: impl FnOnce(&mut EntryEncoder<'_>),
    ) -> bool {
        if self.used + MAX_ENCODED > ChunkPtr::CAPACITY && !self.next_chunk(activity, place) {
            return false;
        }
        let is_here = place.is_in(self.sequence);
        let goes_on = is_here && self.current == Some(activity);
        if !goes_on || structured {
            self.mark_structured();
        }
        let mut encoder = EntryEncoder::new(self.chunk.rest(self.used));
        if !goes_on {
            let difference = self
                .current
                .filter(|_| is_here)
                .and_then(|current| compact_difference(current, activity));
            match difference {
                Some(difference) => encoder.compact_switch(difference),
                None => encoder.switch(activity, place.position(), place.still()),
            }
            self.current = Some(activity);
            place.enter(self.sequence);
        }
        encode(&mut encoder);
        self.used += encoder.used();
        place.advance(operations);
        self.chunk.set_used(self.used);
        true
    }

    /// Flags the chunk as structured. The flag is stored before the entry that requires it.
    fn mark_structured(&mut self) {
        if !self.is_structured {
            self.chunk.add_flags(FLAG_STRUCTURED);
            self.is_structured = true;
        }
    }

    #[cold]
    fn begin_run(&mut self, activity: u32, operations: u32, hash: u32) -> bool {
        // A chunk of no particular activity: the run names its own, and the next entry will be preceded by a switch.
        if self.used + MAX_ENCODED > ChunkPtr::CAPACITY && !self.replace_chunk(0, 0) {
            return false;
        }
        self.mark_structured();
        let mut encoder = EntryEncoder::new(self.chunk.rest(self.used));
        let at = encoder.run(self.used, activity, operations, hash);
        self.used += encoder.used();
        self.chunk.set_used(self.used);
        self.run = Some(OpenRun {
            next: activity.checked_add(1),
            count: 1,
            operations,
            hash,
            at,
        });
        true
    }

    /// Continues in another chunk, whose header names this activity.
    #[cold]
    fn next_chunk(&mut self, activity: u32, place: &mut TracePosition) -> bool {
        if !self.replace_chunk(activity, place.position()) {
            return false;
        }
        // The header contains the position but not `still`.
        if place.still() == 0 {
            self.current = Some(activity);
            place.enter(self.sequence);
        }
        true
    }

    fn replace_chunk(&mut self, activity: u32, position: u64) -> bool {
        let shared = &self.writer.shared;
        let header = ChunkHeader {
            flags: 0,
            activity,
            position,
        };
        let Some(next) = shared.free_chunk(self.thread, header) else {
            return false;
        };
        shared.submit(std::mem::replace(&mut self.chunk, next));
        self.sequence = self.chunk.sequence();
        self.used = 0;
        self.current = None;
        self.is_structured = false;
        self.run = None;
        true
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        let shared = &self.writer.shared;
        self.slots.spill(shared, 0);
        self.data.leave(shared);
        shared.state().begun.push(self.chunk);
    }
}
