//! The operations on what is outside, by name.

use crate::ops::operations;

operations! {
    EXTERNAL = 0x80 "ask for";
    BRING = 0x81 "receive from source";
    OPEN = 0x82 "open file";
    READ_FILE = 0x83 "read file";
    WRITE_FILE = 0x84 "write file";
    SEEK = 0x85 "seek in file";
    METADATA = 0x87 "ask for metadata of";
    SET_LENGTH = 0x88 "set length of file";
    SYNC = 0x89 "sync file";
    CLONE = 0x8a "clone";
    SET_ATTRIBUTES = 0x8b "set attributes of";
    CREATE_DIR = 0x8c "create directory";
    REMOVE_FILE = 0x8d "remove file";
    REMOVE_DIR = 0x8e "remove directory";
    RENAME = 0x8f "rename";
    COPY = 0x90 "copy";
    LINK = 0x91 "link";
    RESOLVE_PATH = 0x92 "resolve path";
    READ_LINK = 0x93 "read link";
    READ_DIR = 0x94 "list directory";
    NEXT_ENTRY = 0x95 "next entry of directory";
    LOOK_UP = 0x98 "look up";
    CONNECT = 0x99 "connect to";
    BIND = 0x9a "bind to";
    ACCEPT = 0x9b "accept at";
    RECEIVE = 0x9c "receive from";
    PEEK = 0x9d "peek at";
    SEND = 0x9e "send to";
    SHUTDOWN = 0x9f "shut down";
    ADDRESS = 0xa0 "ask for address of";
    OPTION = 0xa1 "ask for option of";
    SET_OPTION = 0xa2 "set option of";
    SENDER = 0xa3 "ask for the sender to";
    START = 0xa8 "start";
    WAIT_FOR_PROCESS = 0xa9 "wait for";
    HAS_ENDED = 0xaa "ask for the end of";
    KILL = 0xab "kill";
    RUN = 0xac "run";
    OUTPUT = 0xad "take output of";
    READ_PIPE = 0xae "read output of";
    WRITE_PIPE = 0xaf "write input of";
    READ_INPUT = 0xb1 "read standard input";
    PROCESS_ID = 0xb0 "ask for";
}
