//! The traits that everything above keys is written against: [`KeySource`] and
//! [`CorrelationSource`].
//!
//! A key source takes one party's shares of many (alpha, beta) pairs and returns that party's
//! keys. The dealer, the chip pair and distributed generation all implement it, so a program
//! changes its source by changing one type.

use thiserror::Error;
use zeroize::Zeroizing;

use crate::correlation::{Correlation, CorrelationChunk};
use crate::error::{DecodeError, SpecError};
use crate::key_batch::KeyBatch;
use crate::party::Party;
use crate::request::{KeyPart, Part, Request, RequestError, Shares};
use crate::secret_bytes::SecretBytes;
use crate::spec::KeySpec;

/// What a batch consumed: the session, the stream, and a range of counters in it. Public. Parties
/// compare labels before they use what they were given; equal labels mean matching halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Session of the source pair.
    pub session: u32,
    /// Stream id of the request.
    pub stream: u64,
    /// First counter.
    pub first: u64,
    /// Counters from there on.
    pub count: u64,
}

impl Label {
    /// The same range in consecutive pieces of at most `length` counters.
    ///
    /// # Panics
    /// If `length` is zero.
    pub fn pieces(self, length: u64) -> impl Iterator<Item = Self> {
        assert!(length > 0, "pieces of no counters");
        let mut done = 0;
        core::iter::from_fn(move || {
            let count = length.min(self.count - done);
            let piece = Self { first: self.first + done, count, ..self };
            done += count;
            (count > 0).then_some(piece)
        })
    }
}

/// One part's outputs for the elements of a chunk.
#[derive(Debug)]
pub enum PartOutput {
    /// This party's keys.
    Keys(KeyBatch),
    /// This party's shares, one an element, in the wire's group.
    Wire(Zeroizing<Vec<u128>>),
}

/// Consecutive elements of a batch, as a source hands them over.
pub struct KeyChunk {
    /// Which counters these elements consumed.
    pub label: Label,
    /// One output for each part of the request, in order.
    pub outputs: Vec<PartOutput>,
    /// This party's shares of derived masks, one an element; empty when masks are given.
    pub mask_shares: Zeroizing<Vec<u64>>,
    /// This party's shares of derived payloads: element after element, part after part.
    pub payload_shares: Zeroizing<Vec<u128>>,
}

/// Receives a batch in order, chunk by chunk. A slow sink slows the source down; nothing piles
/// up between them.
pub trait KeySink {
    /// Takes the next chunk.
    ///
    /// # Errors
    /// Anything that makes it pointless to go on; the source abandons the batch.
    fn accept(&mut self, chunk: KeyChunk) -> Result<(), SourceError>;
}

impl<F: FnMut(KeyChunk) -> Result<(), SourceError>> KeySink for F {
    fn accept(&mut self, chunk: KeyChunk) -> Result<(), SourceError> {
        self(chunk)
    }
}

/// Receives correlations in order, chunk by chunk.
pub trait CorrelationSink {
    /// Takes the next chunk.
    ///
    /// # Errors
    /// Anything that makes it pointless to go on.
    fn accept(&mut self, chunk: CorrelationChunk) -> Result<(), SourceError>;
}

impl<F: FnMut(CorrelationChunk) -> Result<(), SourceError>> CorrelationSink for F {
    fn accept(&mut self, chunk: CorrelationChunk) -> Result<(), SourceError> {
        self(chunk)
    }
}

/// What a batch costs, known before it runs. Modelled, except that bytes are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Body bytes that this party sends.
    pub payload_bytes: u64,
    /// Bytes on the wire that this party sends, with envelopes.
    pub sent_bytes: u64,
    /// Messages that this party sends.
    pub messages: u64,
    /// Rounds: flights that depend on a received one, plus one.
    pub rounds: u64,
    /// AES blocks of Gen on the special path.
    pub aes_blocks: u64,
    /// Bytes of this party's keys.
    pub key_bytes: u64,
}

/// Whether a source can serve a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can, at this cost.
    Yes(Cost),
    /// It cannot, because of this field of the request.
    No {
        /// The field that is not supported.
        field: &'static str,
    },
}

/// One party's end of something that makes keys.
pub trait KeySource: Send {
    /// Whose end this is.
    fn party(&self) -> Party;

    /// Whether, and at what cost, a request can be served.
    fn supports(&self, request: &Request) -> Support;

    /// Makes the batch and hands it to `sink` in order. Both parties call this with equal
    /// requests in the same order; it blocks until the batch is done.
    ///
    /// # Errors
    /// [`SourceError`]. After an error part of the batch may have reached the sink: discard it.
    /// Counters that were consumed stay consumed; a retry draws fresh masks.
    fn generate(
        &mut self,
        request: &Request,
        shares: Shares<'_>,
        sink: &mut dyn KeySink,
    ) -> Result<Label, SourceError>;
}

/// One party's end of something that makes correlations: what has no key.
pub trait CorrelationSource: Send {
    /// Whose end this is.
    fn party(&self) -> Party;

    /// The next unused position of a kind.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot tell.
    fn position(&mut self, kind: &Correlation) -> Result<u64, SourceError>;

    /// Skips `count` positions. The other party must skip them too.
    ///
    /// # Errors
    /// [`SourceError::Exhausted`] past the end of the stream.
    fn skip(&mut self, kind: &Correlation, count: u64) -> Result<(), SourceError>;

    /// Moves forward to `position`, burning what lies between. Never back.
    ///
    /// # Errors
    /// [`SourceError::Backwards`] for a position that is already used.
    fn resync(&mut self, kind: &Correlation, position: u64) -> Result<(), SourceError> {
        let here = self.position(kind)?;
        let Some(count) = position.checked_sub(here) else {
            return Err(SourceError::Backwards { position, here });
        };
        self.skip(kind, count)
    }

    /// Makes the next `count` correlations and hands this party's shares to `sink` in order.
    ///
    /// # Errors
    /// [`SourceError`].
    fn take(
        &mut self,
        kind: &Correlation,
        count: u64,
        sink: &mut dyn CorrelationSink,
    ) -> Result<Label, SourceError>;
}

/// Why a source did not deliver.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The request describes no batch.
    #[error("request refused")]
    Request(#[from] RequestError),
    /// Shares of the wrong number, or outside their domain.
    #[error("shares refused")]
    Shares(#[from] SpecError),
    /// The other party sent shares that are not well formed.
    #[error("the other party's shares are malformed")]
    PeerShares(#[source] DecodeError),
    /// This source cannot serve the request.
    #[error("not supported by this source: {field}")]
    Unsupported {
        /// The field that is not supported.
        field: &'static str,
    },
    /// The parties asked for different batches.
    #[error("the parties disagree on {field}; both must make the same request in the same order")]
    Disagreement {
        /// The first field that differs.
        field: &'static str,
    },
    /// A position that is already used.
    #[error("cannot move back to position {position}, already at {here}")]
    Backwards {
        /// What was asked.
        position: u64,
        /// Where the stream is.
        here: u64,
    },
    /// The counters of a stream are used up.
    #[error("stream {stream} has too few counters left")]
    Exhausted {
        /// The stream.
        stream: u64,
    },
    /// The other party is gone.
    #[error("the other party is gone")]
    PeerGone,
    /// The sink gave up.
    #[error("the sink refused keys")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The source's own transport, store or hardware failed.
    #[error("key source failed")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A sink that keeps a whole batch in memory, for batches that fit there.
///
/// It reserves all of that memory at once, so that no outgrown buffer leaves key material behind.
pub struct Collected {
    parts: Vec<CollectedPart>,
    mask_shares: Zeroizing<Vec<u64>>,
    payload_shares: Zeroizing<Vec<u128>>,
}

enum CollectedPart {
    Keys { spec: KeySpec, party: Party, bytes: SecretBytes, filled: usize },
    Wire(Zeroizing<Vec<u128>>),
    Taken,
}

impl Collected {
    /// An empty sink for one party's outputs of `request`.
    #[must_use]
    pub fn new(request: &Request, party: Party) -> Self {
        let count = usize::try_from(request.count()).unwrap_or(0);
        let parts = request.parts().iter().map(|part| match part {
            Part::Key(KeyPart { spec, .. }) => {
                let bytes = SecretBytes::zeroed(count.saturating_mul(spec.key_bytes()));
                CollectedPart::Keys { spec: *spec, party, bytes, filled: 0 }
            }
            Part::Wire(_) => CollectedPart::Wire(Zeroizing::new(Vec::with_capacity(count))),
        });
        Self {
            parts: parts.collect(),
            mask_shares: Zeroizing::default(),
            payload_shares: Zeroizing::default(),
        }
    }

    /// The keys of a part; `None` if it is no key part, was taken already, or is not complete.
    pub fn take_keys(&mut self, part: usize) -> Option<KeyBatch> {
        let slot = self.parts.get_mut(part)?;
        match core::mem::replace(slot, CollectedPart::Taken) {
            CollectedPart::Keys { spec, party, bytes, filled } if filled == bytes.len() => {
                Some(KeyBatch::from_parts(spec, party, bytes))
            }
            other => {
                *slot = other;
                None
            }
        }
    }

    /// The shares of a wire part, one an element; empty if it is no wire part.
    #[must_use]
    pub fn wire(&self, part: usize) -> &[u128] {
        match self.parts.get(part) {
            Some(CollectedPart::Wire(shares)) => shares,
            _ => &[],
        }
    }

    /// This party's shares of derived masks.
    #[must_use]
    pub fn mask_shares(&self) -> &[u64] {
        &self.mask_shares
    }

    /// This party's shares of derived payloads.
    #[must_use]
    pub fn payload_shares(&self) -> &[u128] {
        &self.payload_shares
    }
}

impl KeySink for Collected {
    fn accept(&mut self, chunk: KeyChunk) -> Result<(), SourceError> {
        for (part, output) in self.parts.iter_mut().zip(chunk.outputs) {
            match (part, output) {
                (CollectedPart::Keys { bytes, filled, .. }, PartOutput::Keys(keys)) => {
                    let end = *filled + keys.as_bytes().len();
                    let Some(free) = bytes.get_mut(*filled..end) else {
                        return Err(SourceError::Disagreement { field: "count of the sink's request" });
                    };
                    free.copy_from_slice(keys.as_bytes());
                    *filled = end;
                }
                (CollectedPart::Wire(wire), PartOutput::Wire(shares)) => wire.extend_from_slice(&shares),
                _ => return Err(SourceError::Disagreement { field: "parts of the sink's request" }),
            }
        }
        self.mask_shares.extend_from_slice(&chunk.mask_shares);
        self.payload_shares.extend_from_slice(&chunk.payload_shares);
        Ok(())
    }
}
