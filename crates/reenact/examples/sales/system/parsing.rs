//! The actor that makes sales of text. The work is done by two processes, which meet at every token.

use reenact::{
    actor::{Context, FarRef},
    csp,
};

use super::{
    Sale,
    json::{Malformed, Parser, Token, tokens},
    storage::{Storage, StorageSends},
};

/// Around a tokenizer and a parser, which are there from the first event to the last.
pub(crate) struct Parsing {
    storage: FarRef<Storage>,
    /// Where the tokenizer gets its texts from.
    texts: Option<csp::Sender<String>>,
    events: u64,
    malformed: usize,
}

#[reenact::actor]
impl Parsing {
    /// An event has come.
    pub(crate) fn event(&mut self, ctx: &mut Context<Self>, text: String) {
        self.events += 1;
        let texts = self.texts.get_or_insert_with(|| start(ctx.me()));
        texts.send(text).expect("the tokenizer is there");
    }

    /// There will be no more.
    pub(crate) fn end(&mut self, ctx: &mut Context<Self>) {
        // Without its sender the channel of texts is at its end, therefore the tokenizer; with it the parser.
        let texts = self.texts.take();
        drop(texts.unwrap_or_else(|| start(ctx.me())));
    }

    /// The parser has understood an event, or has not.
    pub(super) fn parsed(&mut self, sales: Result<Vec<Sale>, Malformed>) {
        match sales {
            Ok(sales) => self.storage.store(sales),
            Err(Malformed) => self.malformed += 1,
        }
    }

    /// The parser has understood all there is.
    pub(super) fn parsed_all(&mut self, tokens: u64) {
        // Each event is a message to here, goes through a channel, and is a message to here again. A token is sent and
        // received.
        let operations = 4 * self.events + 2 * tokens;
        self.storage.stored_all(self.malformed, operations);
    }
}

impl Parsing {
    pub(super) fn new(storage: FarRef<Storage>) -> Parsing {
        Parsing {
            storage,
            texts: None,
            events: 0,
            malformed: 0,
        }
    }
}

/// Starts the two processes. The texts that are sent to the first come out of the second as sales.
fn start(actor: FarRef<Parsing>) -> csp::Sender<String> {
    let (texts, to_tokenize) = csp::unbounded::<String>();
    let (sender, to_parse) = csp::channel::<Token>();
    csp::spawn(move || {
        for text in to_tokenize {
            for token in tokens(&text) {
                sender.send(token).expect("the parser is there");
            }
        }
    });
    csp::spawn(move || {
        let mut parser = Parser::new(to_parse.iter());
        while let Some(sales) = parser.event() {
            actor.parsed(sales);
        }
        actor.parsed_all(parser.count);
    });
    texts
}
