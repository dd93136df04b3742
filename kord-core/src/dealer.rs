//! A trusted dealer, for tests, benchmarks and comparisons only.
//!
//! [`Dealer::pair`] gives two linked ends in one process. Both hold the root key and see each
//! other's shares, so there is no secrecy between them at all: this is the single point of
//! failure that the chip pair replaces. Everything else (requests, labels, keys) is exactly as a
//! chip pair does it, which is what makes it a reference.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use rand::CryptoRng;

use crate::correlation::{Correlation, Expander};
use crate::derive::RootKey;
use crate::descriptor::Descriptor;
use crate::engine::BatchEngine;
use crate::party::Party;
use crate::request::{Request, ShareChunk, Shares};
use crate::source::{
    CorrelationSink, CorrelationSource, Cost, KeySink, KeySource, Label, SourceError, Support,
};

/// What one end tells the other.
enum Message {
    Begin(Vec<Descriptor>),
    Shares(ShareChunk),
}

/// One party's end of an in-process dealer. Sees every alpha and beta.
pub struct Dealer {
    party: Party,
    root: RootKey,
    to_peer: Sender<Message>,
    from_peer: Receiver<Message>,
    /// Next counter of the exchanged sequence.
    exchanged: u64,
    /// Next position of each derived stream.
    streams: HashMap<u64, u64>,
}

impl Dealer {
    /// Two linked ends, party 0 first, under a fresh root key. Requests that give shares block
    /// until both ends have made them: run each end on its own thread.
    #[must_use]
    pub fn pair(rng: &mut impl CryptoRng) -> [Self; 2] {
        let mut key = [0; 16];
        rng.fill_bytes(&mut key);
        Self::pair_with_root(&RootKey::new(key))
    }

    /// Two linked ends under a given root key: makes exactly what a chip pair with that root
    /// key makes.
    #[must_use]
    pub fn pair_with_root(root: &RootKey) -> [Self; 2] {
        let (to_1, from_0) = channel();
        let (to_0, from_1) = channel();
        let end = |party, to_peer, from_peer| Self {
            party,
            root: root.clone(),
            to_peer,
            from_peer,
            exchanged: 0,
            streams: HashMap::new(),
        };
        [end(Party::P0, to_1, from_1), end(Party::P1, to_0, from_0)]
    }

    /// Takes the next `count` counters of the sequence that a batch draws from.
    fn advance(&mut self, exchanged: bool, stream: u64, count: u64) -> Result<u64, SourceError> {
        let next = if exchanged { &mut self.exchanged } else { self.streams.entry(stream).or_insert(0) };
        let first = *next;
        *next = first.checked_add(count).ok_or(SourceError::Exhausted { stream })?;
        Ok(first)
    }

    fn receive(&self) -> Result<Message, SourceError> {
        self.from_peer.recv().map_err(|_| SourceError::PeerGone)
    }

    fn send(&self, message: Message) -> Result<(), SourceError> {
        self.to_peer.send(message).map_err(|_| SourceError::PeerGone)
    }

    /// Refuses if the other end asked for something else.
    fn agree(&self, request: &Request) -> Result<(), SourceError> {
        let mine = Descriptor::of_request(request);
        self.send(Message::Begin(mine.clone()))?;
        let Message::Begin(theirs) = self.receive()? else {
            return Err(SourceError::Disagreement { field: "count" });
        };
        if mine.len() != theirs.len() {
            return Err(SourceError::Disagreement { field: "number of parts" });
        }
        match mine.iter().zip(&theirs).find_map(|(a, b)| a.first_difference(b)) {
            Some(field) => Err(SourceError::Disagreement { field }),
            None => Ok(()),
        }
    }
}

impl KeySource for Dealer {
    fn party(&self) -> Party {
        self.party
    }

    fn supports(&self, request: &Request) -> Support {
        Support::Yes(Cost {
            payload_bytes: request.body_bytes() as u64 * request.count(),
            sent_bytes: 0,
            messages: 0,
            rounds: 0,
            aes_blocks: request.gen_blocks(),
            key_bytes: request.key_bytes() as u64 * request.count(),
        })
    }

    fn generate(
        &mut self,
        request: &Request,
        mut shares: Shares<'_>,
        sink: &mut dyn KeySink,
    ) -> Result<Label, SourceError> {
        shares.check_lengths(request)?;
        let exchanged = request.is_exchanged();
        if exchanged {
            self.agree(request)?;
        }
        let first = self.advance(exchanged, request.stream(), request.count())?;
        let label = Label { session: 0, stream: request.stream(), first, count: request.count() };
        let engine = BatchEngine::new(&self.root, request, self.party);
        for label in label.pieces(engine.chunk_len() as u64) {
            let own = shares.next_chunk(request, label.count as usize)?;
            let chunk = if exchanged {
                let copy = ShareChunk { masks: own.masks.clone(), payloads: own.payloads.clone() };
                self.send(Message::Shares(copy))?;
                let Message::Shares(peer) = self.receive()? else {
                    return Err(SourceError::Disagreement { field: "count" });
                };
                match self.party {
                    Party::P0 => engine.run(label, [own.view(), peer.view()]),
                    Party::P1 => engine.run(label, [peer.view(), own.view()]),
                }
            } else {
                engine.run(label, [own.view(), own.view()])
            };
            sink.accept(chunk?)?;
        }
        Ok(label)
    }
}

impl CorrelationSource for Dealer {
    fn party(&self) -> Party {
        self.party
    }

    fn position(&mut self, kind: &Correlation) -> Result<u64, SourceError> {
        Ok(self.streams.get(&kind.stream()).copied().unwrap_or(0))
    }

    fn skip(&mut self, kind: &Correlation, count: u64) -> Result<(), SourceError> {
        self.advance(false, kind.stream(), count).map(|_| ())
    }

    fn take(
        &mut self,
        kind: &Correlation,
        count: u64,
        sink: &mut dyn CorrelationSink,
    ) -> Result<Label, SourceError> {
        let stream = kind.stream();
        let first = self.advance(false, stream, count)?;
        let label = Label { session: 0, stream, first, count };
        let expander = Expander::new(&self.root, kind, self.party);
        for label in label.pieces(Expander::CHUNK) {
            sink.accept(expander.expand(label))?;
        }
        Ok(label)
    }
}
