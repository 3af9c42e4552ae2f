//! The actor around the two processes that take texts apart. From outside, it is an actor like any other.

use reenact::{
    actor::FarRef,
    csp::{self, JoinHandle, Receiver, Sender},
};

use super::{
    json::{self, Malformed},
    sale::Sale,
    storage::{Storage, StorageSends},
};

/// Sends the storage what is in the texts that it is sent.
pub(super) struct Parsing {
    processes: Option<Processes>,
    storage: FarRef<Storage>,
}

struct Processes {
    texts: Sender<String>,
    sales: Receiver<Result<Sale, Malformed>>,
    tokenizer: JoinHandle<()>,
    parser: JoinHandle<u64>,
}

impl Processes {
    fn start() -> Self {
        let (texts, to_tokenize) = csp::channel();
        let (tokens, to_parse) = csp::channel();
        let (parsed, sales) = csp::channel();
        Self {
            texts,
            sales,
            tokenizer: csp::spawn(move || json::tokenizer(&to_tokenize, &tokens)),
            parser: csp::spawn(move || json::parser(&to_parse, &parsed)),
        }
    }

    /// Gives one text to the processes and waits for what they find in it.
    fn parse(&self, text: String) -> Result<Sale, Malformed> {
        self.texts.send(text).expect("the tokenizer is there");
        self.sales.recv().expect("the parser is there")
    }

    /// Waits until both have ended; returns how many tokens there were.
    fn end(self) -> u64 {
        drop(self.texts);
        self.tokenizer.join().expect("the tokenizer does not panic");
        self.parser.join().expect("the parser does not panic")
    }
}

impl Parsing {
    pub(super) fn new(storage: FarRef<Storage>) -> Self {
        Self {
            processes: None,
            storage,
        }
    }
}

#[reenact::actor]
impl Parsing {
    pub(super) fn parse(&mut self, text: String) {
        let processes = self.processes.get_or_insert_with(Processes::start);
        let sale = processes.parse(text).expect("the input is well-formed");
        self.storage.store(sale);
    }

    /// Ends the processes; how many tokens there were.
    pub(super) fn end(&mut self) -> u64 {
        self.processes.take().map_or(0, Processes::end)
    }
}
