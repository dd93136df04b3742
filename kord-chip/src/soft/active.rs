//! An active session inside the software chip: sealing, opening, and the queue of submissions
//! between shares and keys.
//!
//! Shares meet here, in what the paper calls the reconstruction zone. They leave the queue only
//! as this party's keys, and everything zeroizes on drop.

use std::collections::VecDeque;
use std::sync::Arc;

use kord_core::correlation::{Correlation, Expander};
use kord_core::engine::BatchEngine;
use kord_core::request::{ShareChunk, ShareView};
use kord_core::{Descriptor, Label, Party, Request, RootKey};

use crate::chip::{Output, frame_elements};
use crate::error::ChipError;
use crate::frame::{DescriptorBytes, ENVELOPE_BYTES, FrameKind, MAX_BODY_BYTES, Opener, Sealer};
use crate::session::SessionKeys;

/// The keys and pending work of one session. Dropping it forgets both.
pub(super) struct ActiveSession {
    party: Party,
    number: u32,
    sealer: Sealer,
    opener: Opener,
    roots: RootKey,
    /// The operation of the latest request: batches come in many submissions.
    operation: Option<Arc<Operation>>,
    queue: VecDeque<Entry>,
}

/// A request keyed for this session.
struct Operation {
    engine: BatchEngine,
    descriptors: Vec<DescriptorBytes>,
}

/// A submission on its way through.
struct Entry {
    label: Label,
    /// Elements drained already.
    drained: u64,
    work: Work,
}

enum Work {
    /// Waits for the peer's shares.
    Sealed { operation: Arc<Operation>, own: ShareChunk },
    /// Both parties' shares are here, own first.
    Opened { operation: Arc<Operation>, own: ShareChunk, peer: ShareChunk },
    /// Nothing is needed from anyone.
    Derived { operation: Arc<Operation> },
    /// Correlations, which need nothing either.
    Correlations(Arc<Expander>),
}

impl ActiveSession {
    pub(super) fn new(party: Party, keys: &SessionKeys) -> Self {
        let number = keys.session();
        Self {
            party,
            number,
            sealer: keys.sealer(),
            opener: keys.opener(),
            roots: RootKey::new(*keys.roots()),
            operation: None,
            queue: VecDeque::new(),
        }
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Submissions that wait for the peer.
    pub(super) fn waiting(&self) -> usize {
        self.queue.iter().filter(|entry| matches!(entry.work, Work::Sealed { .. })).count()
    }

    pub(super) fn label(&self, stream: u64, first: u64, count: u64) -> Label {
        Label { session: self.number, stream, first, count }
    }

    fn operation(&mut self, request: &Request) -> Arc<Operation> {
        match &self.operation {
            Some(operation) if operation.engine.request() == request => Arc::clone(operation),
            _ => {
                let engine = BatchEngine::new(&self.roots, request, self.party);
                let descriptors = Descriptor::of_request(request).iter().map(|d| *d.as_bytes()).collect();
                let operation = Arc::new(Operation { engine, descriptors });
                self.operation = Some(Arc::clone(&operation));
                operation
            }
        }
    }

    /// Seals this party's shares of `count` elements from counter `first`.
    pub(super) fn seal(
        &mut self,
        request: &Request,
        first: u64,
        count: u64,
        own: ShareChunk,
    ) -> Result<(Label, Vec<u8>), ChipError> {
        let most = frame_elements(request);
        let (Ok(count32), true) = (u32::try_from(count), count <= most) else {
            return Err(ChipError::FrameTooLong { count, most });
        };
        let operation = self.operation(request);
        let mut frame = Vec::with_capacity(MAX_BODY_BYTES + ENVELOPE_BYTES);
        self.sealer.seal_with(
            (FrameKind::Keys, first, count32),
            &operation.descriptors,
            count as usize * request.body_bytes(),
            |body| own.encode_into(request, body),
            &mut frame,
        )?;
        let label = self.label(request.stream(), first, count);
        self.queue.push_back(Entry { label, drained: 0, work: Work::Sealed { operation, own } });
        Ok((label, frame))
    }

    /// Queues elements that need no shares.
    pub(super) fn derive(&mut self, request: &Request, first: u64, count: u64) -> Label {
        let operation = self.operation(request);
        let label = self.label(request.stream(), first, count);
        self.queue.push_back(Entry { label, drained: 0, work: Work::Derived { operation } });
        label
    }

    /// Queues correlations.
    pub(super) fn correlate(&mut self, kind: &Correlation, first: u64, count: u64) -> Label {
        let label = self.label(kind.stream(), first, count);
        let work = Work::Correlations(Arc::new(Expander::new(&self.roots, kind, self.party)));
        self.queue.push_back(Entry { label, drained: 0, work });
        label
    }

    /// Opens the peer's frame for the oldest submission that waits for one; returns the end of
    /// its counters.
    pub(super) fn open(&mut self, frame: &[u8]) -> Result<u64, ChipError> {
        let received = self.opener.receive(frame)?;
        let header = *received.header();
        let waiting = self.queue.iter_mut().find(|e| matches!(e.work, Work::Sealed { .. }));
        let Some(entry) = waiting else {
            return Err(ChipError::NotPending { first: header.first(), expected: None });
        };
        let Work::Sealed { operation, own } = &mut entry.work else {
            return Err(ChipError::NotPending { first: header.first(), expected: None });
        };
        let matches = header.kind() == FrameKind::Keys
            && header.first() == entry.label.first
            && u64::from(header.count()) == entry.label.count;
        if !matches {
            let expected = Some(entry.label.first);
            return Err(ChipError::NotPending { first: header.first(), expected });
        }
        let body = self.opener.open(received, &operation.descriptors)?;
        let request = operation.engine.request();
        // The frame is authentic, or the tier is plain: either way its counters are consumed.
        let peer = ShareChunk::decode(request, entry.label.count as usize, &body)?;
        let own = core::mem::take(own);
        entry.work = Work::Opened { operation: Arc::clone(operation), own, peer };
        Ok(header.end())
    }

    /// The next outputs in submission order, a cache's worth at a time.
    pub(super) fn drain(&mut self) -> Result<Option<Output>, ChipError> {
        let Some(entry) = self.queue.front_mut() else {
            return Ok(None);
        };
        let chunk = match &entry.work {
            Work::Sealed { .. } => return Ok(None),
            Work::Opened { operation, .. } | Work::Derived { operation } => {
                operation.engine.chunk_len() as u64
            }
            Work::Correlations(_) => Expander::CHUNK,
        };
        let label = Label {
            first: entry.label.first + entry.drained,
            count: chunk.min(entry.label.count - entry.drained),
            ..entry.label
        };
        let output = match &entry.work {
            Work::Sealed { .. } => return Ok(None),
            Work::Opened { operation, own, peer } => {
                let request = operation.engine.request();
                let (start, count) = (entry.drained as usize, label.count as usize);
                let own = own.view().slice(request, start, count);
                let peer = peer.view().slice(request, start, count);
                let shares = match self.party {
                    Party::P0 => [own, peer],
                    Party::P1 => [peer, own],
                };
                Output::Keys(operation.engine.run(label, shares)?)
            }
            Work::Derived { operation } => {
                Output::Keys(operation.engine.run(label, [ShareView::default(); 2])?)
            }
            Work::Correlations(expander) => Output::Correlations(expander.expand(label)),
        };
        entry.drained += label.count;
        if entry.drained == entry.label.count {
            self.queue.pop_front();
        }
        Ok(Some(output))
    }
}
