//! `mpsc`.

reenact_testing::tests! {
    crate::run::check {
        /// ```text
        /// 0 … 2 ── send ──┐      main ── recv, iter, try_iter, for, into_iter ── whose is it?
        /// └─ 200 times ───┘
        /// ```
        "mpsc-senders" => messages_come_in_the_same_order,

        /// ```text
        /// 0 … 2 ── send, or try_send ──┐      main ── recv ── whose is it? ──┐
        /// └───────── 100 times ────────┘      └── until nobody sends ────────┘
        /// ```
        "mpsc-bounded" => a_channel_that_was_full_is_full_again,

        /// As above, but each send ends with its receive.
        "mpsc-rendezvous" => who_met_whom_meets_them_again,

        /// ```text
        /// child ── try_send ──┐      main ── recv for 30 µs at most ── try_recv ──┐
        /// └──── 300 times ────┘      └─────────── until nobody sends ─────────────┘
        /// ```
        "mpsc-try-rendezvous" => who_came_in_vain_comes_in_vain_again,

        /// ```text
        /// child ── send ── sleep 0 … 60 µs ──┐      main ── recv for 0 … 120 µs at most ── late: try_recv ──┐
        /// └─────────── 100 times ────────────┘      └────────────────── until nobody sends ─────────────────┘
        /// ```
        "mpsc-timeouts" => a_message_that_came_too_late_is_late_again,

        /// ```text
        /// 0 … 2 ── send until it fails      main ── recv 0, 5 or 40 ── drop
        /// ```
        ///
        /// Without a buffer, with room for two, and without bound.
        "mpsc-receiver-goes" => senders_notice_at_the_same_point_that_the_receiver_went,

        /// ```text
        /// 0 … 2 ── send 0 … 3 ── drop      main ── try_recv: message, empty or closed? ──┐
        ///                                  └────────────── until closed ─────────────────┘
        /// ```
        "mpsc-senders-go" => the_receiver_notices_at_the_same_point_that_the_senders_went,

        /// ```text
        /// 0 … 2 ── new channel ── send its sender ── recv the answer, or go ──┐      server ── recv ── answer ──┐
        /// └────────────────────────── 60 times ───────────────────────────────┘      └── until all are gone ────┘
        /// ```
        "mpsc-channels-in-channels" => channels_that_travel_in_channels_are_replayed,

        /// ```text
        /// 0 … 2 ── send ── drop the shared sender ──┐      main ── recv until all are gone
        /// └───────────────── 30 channels ───────────┘
        /// ```
        "mpsc-shared-sender" => it_does_not_matter_which_owner_of_a_shared_sender_goes_last,
    }
}
