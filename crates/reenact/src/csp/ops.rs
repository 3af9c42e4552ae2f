//! The operations of the process model, by name.

use reenact_engine::operations;

operations! {
    pub(super) SEND = 0x70 ChannelSend "send to a channel";
    pub(super) RECEIVE = 0x71 ChannelReceive "receive from a channel";
    pub(super) SELECT = 0x72 Select "select";
    pub(super) IS_FINISHED = 0x73 Question "ask whether a process is finished";
    pub(super) DROP_SENDER = 0x74 ChannelClose "drop a sender";
    pub(super) DROP_RECEIVER = 0x75 ChannelClose "drop a receiver";
    pub(super) TRY_SEND = 0x76 ChannelSend "try to send to a channel";
    pub(super) TRY_RECEIVE = 0x77 ChannelReceive "try to receive from a channel";
    pub(super) SEND_TIMEOUT = 0x78 ChannelSend "send to a channel, for some time";
    pub(super) RECEIVE_TIMEOUT = 0x79 ChannelReceive "receive from a channel, for some time";
}
