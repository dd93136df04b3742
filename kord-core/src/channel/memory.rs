//! Two linked ends in one process.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::{Channel, ChannelError, DEFAULT_MAX_MESSAGE, Operation, PREFIX_BYTES, Peer, Stats};

/// One end of an in-memory pair.
///
/// The queues are unbounded: a send never blocks, so both ends may be driven by one thread and a
/// simultaneous exchange cannot deadlock. What is sent and not yet received stays in memory.
///
/// It refuses the messages that a [`super::TcpChannel`] with default settings refuses, so that
/// what runs in memory also runs between processes.
#[derive(Debug)]
pub struct MemoryChannel {
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    timeout: Option<Duration>,
    stats: Stats,
}

impl MemoryChannel {
    /// Two linked ends, which wait for messages without limit.
    #[must_use]
    pub fn pair() -> (Self, Self) {
        let (to_second, from_first) = mpsc::channel();
        let (to_first, from_second) = mpsc::channel();
        (Self::new(to_second, from_second), Self::new(to_first, from_first))
    }

    fn new(outgoing: Sender<Vec<u8>>, incoming: Receiver<Vec<u8>>) -> Self {
        Self { outgoing, incoming, timeout: None, stats: Stats::new() }
    }

    /// The same end, which waits at most `timeout` for a message.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl Channel for MemoryChannel {
    fn send(&mut self, message: &[u8]) -> Result<(), ChannelError> {
        let (peer, operation) = (self.peer(), Operation::Send);
        if message.len() as u64 > u64::from(DEFAULT_MAX_MESSAGE) {
            let (bytes, limit) = (message.len() as u64, DEFAULT_MAX_MESSAGE);
            return Err(ChannelError::TooLong { peer, operation, bytes, limit });
        }
        self.outgoing.send(message.to_vec()).map_err(|_| ChannelError::Closed { peer, operation })?;
        self.stats.record_sent(message.len(), PREFIX_BYTES);
        Ok(())
    }

    fn recv(&mut self) -> Result<Vec<u8>, ChannelError> {
        let (peer, operation) = (self.peer(), Operation::Receive);
        let message = match self.timeout {
            None => self.incoming.recv().map_err(|_| ChannelError::Closed { peer, operation })?,
            Some(after) => self.incoming.recv_timeout(after).map_err(|error| match error {
                RecvTimeoutError::Timeout => ChannelError::TimedOut { peer, operation, after },
                RecvTimeoutError::Disconnected => ChannelError::Closed { peer, operation },
            })?,
        };
        self.stats.record_received(message.len(), PREFIX_BYTES);
        Ok(message)
    }

    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError> {
        self.send(message)?;
        self.recv()
    }

    fn phase(&mut self, name: &'static str) {
        self.stats.begin_phase(name);
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn peer(&self) -> Peer {
        Peer::InProcess
    }
}
