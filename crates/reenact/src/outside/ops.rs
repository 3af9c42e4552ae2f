//! The operations on the outside, by name.

use reenact_engine::operations;

operations! {
    pub(crate) EXTERNAL = 0x80 External "ask for";
    pub(crate) BRING = 0x81 External "receive from source";
    pub(crate) OPEN = 0x82 External "open file";
    pub(crate) READ_FILE = 0x83 External "read file";
    pub(crate) WRITE_FILE = 0x84 External "write file";
    pub(crate) SEEK = 0x85 External "seek in file";
    pub(crate) METADATA = 0x87 External "ask for metadata of";
    pub(crate) SET_LENGTH = 0x88 External "set length of file";
    pub(crate) SYNC = 0x89 External "sync file";
    pub(crate) CLONE = 0x8a External "clone";
    pub(crate) SET_ATTRIBUTES = 0x8b External "set attributes of";
    pub(crate) CREATE_DIR = 0x8c External "create directory";
    pub(crate) REMOVE_FILE = 0x8d External "remove file";
    pub(crate) REMOVE_DIR = 0x8e External "remove directory";
    pub(crate) RENAME = 0x8f External "rename";
    pub(crate) COPY = 0x90 External "copy";
    pub(crate) LINK = 0x91 External "link";
    pub(crate) RESOLVE_PATH = 0x92 External "resolve path";
    pub(crate) READ_LINK = 0x93 External "read link";
    pub(crate) READ_DIR = 0x94 External "list directory";
    pub(crate) NEXT_ENTRY = 0x95 External "next entry of directory";
    pub(crate) LOOK_UP = 0x98 External "look up";
    pub(crate) CONNECT = 0x99 External "connect to";
    pub(crate) BIND = 0x9a External "bind to";
    pub(crate) ACCEPT = 0x9b External "accept at";
    pub(crate) RECEIVE = 0x9c External "receive from";
    pub(crate) PEEK = 0x9d External "peek at";
    pub(crate) SEND = 0x9e External "send to";
    pub(crate) SHUTDOWN = 0x9f External "shut down";
    pub(crate) ADDRESS = 0xa0 External "ask for address of";
    pub(crate) OPTION = 0xa1 External "ask for option of";
    pub(crate) SET_OPTION = 0xa2 External "set option of";
    pub(crate) SENDER = 0xa3 External "ask for the sender to";
    pub(crate) START = 0xa8 External "start";
    pub(crate) WAIT_FOR_PROCESS = 0xa9 External "wait for";
    pub(crate) HAS_ENDED = 0xaa External "ask for the end of";
    pub(crate) KILL = 0xab External "kill";
    pub(crate) RUN = 0xac External "run";
    pub(crate) OUTPUT = 0xad External "take output of";
    pub(crate) READ_PIPE = 0xae External "read output of";
    pub(crate) WRITE_PIPE = 0xaf External "write input of";
    pub(crate) READ_INPUT = 0xb1 External "read standard input";
    pub(crate) PROCESS_ID = 0xb0 External "ask for";
}
