//! Messages over a TCP connection.

mod connect;
mod wire;

use std::net::{Shutdown, TcpStream};
use std::time::Duration;

pub use connect::TcpAcceptor;

use super::{Channel, ChannelError, DEFAULT_MAX_MESSAGE, Operation, PREFIX_BYTES, Peer, Stats};
use wire::Limit;

/// Settings of a TCP channel. Both ends should agree on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TcpConfig {
    /// How long [`TcpChannel::connect`] keeps trying, and [`TcpAcceptor::accept`] waits.
    pub connect_timeout: Duration,
    /// How long a send or receive waits for the next bytes to move; `None` waits without limit.
    /// It limits silence, not the whole message. A zero counts as a millisecond.
    pub idle_timeout: Option<Duration>,
    /// The longest message, in bytes without prefix, that is sent or accepted.
    pub max_message: u32,
}

impl Default for TcpConfig {
    /// 10 seconds to connect, 120 seconds of silence, messages of [`DEFAULT_MAX_MESSAGE`].
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Some(Duration::from_secs(120)),
            max_message: DEFAULT_MAX_MESSAGE,
        }
    }
}

impl TcpConfig {
    /// The same with another [`TcpConfig::connect_timeout`].
    #[must_use]
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The same with another [`TcpConfig::idle_timeout`].
    #[must_use]
    pub const fn with_idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// The same with another [`TcpConfig::max_message`].
    #[must_use]
    pub const fn with_max_message(mut self, bytes: u32) -> Self {
        self.max_message = bytes;
        self
    }
}

/// One end of a TCP connection.
///
/// Nothing is buffered in this process: batches are large, so a message is worth its system call,
/// and no message waits for a forgotten flush. `TCP_NODELAY` is set.
#[derive(Debug)]
pub struct TcpChannel {
    stream: TcpStream,
    peer: Peer,
    config: TcpConfig,
    stats: Stats,
    broken: bool,
}

impl TcpChannel {
    /// A channel over an open connection, whose timeouts and options it sets.
    ///
    /// # Errors
    /// [`ChannelError::Closed`] or [`ChannelError::Io`] if the connection is already gone.
    pub fn from_stream(stream: TcpStream, config: TcpConfig) -> Result<Self, ChannelError> {
        let address = stream.peer_addr().map_err(|source| ChannelError::Io {
            // Not connected any more, so the system does not know the peer either.
            peer: Peer::Tcp(([0, 0, 0, 0], 0).into()),
            operation: Operation::Connect,
            source,
        })?;
        let peer = Peer::Tcp(address);
        let timeout = config.idle_timeout.map(|t| t.max(Duration::from_millis(1)));
        stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_nodelay(true))
            .and_then(|()| stream.set_read_timeout(timeout))
            .and_then(|()| stream.set_write_timeout(timeout))
            .map_err(|source| wire::classify(peer, Operation::Connect, timeout, source))?;
        let config = TcpConfig { idle_timeout: timeout, ..config };
        Ok(Self { stream, peer, config, stats: Stats::new(), broken: false })
    }

    fn check_sendable(&self, message: &[u8]) -> Result<[u8; PREFIX_BYTES], ChannelError> {
        let peer = self.peer;
        if self.broken {
            return Err(ChannelError::Broken { peer });
        }
        match u32::try_from(message.len()) {
            Ok(len) if len <= self.config.max_message => Ok(len.to_le_bytes()),
            _ => Err(ChannelError::TooLong {
                peer,
                operation: Operation::Send,
                bytes: message.len() as u64,
                limit: self.config.max_message,
            }),
        }
    }

    fn wire(&self) -> wire::Wire<'_> {
        wire::Wire { stream: &self.stream, peer: self.peer, timeout: self.config.idle_timeout }
    }

    /// Ends the connection after an error: part of a message may be lost.
    fn settle<T>(&mut self, result: Result<T, ChannelError>) -> Result<T, ChannelError> {
        if result.is_err() {
            self.broken = true;
            // The error that brought us here is the one to report.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        result
    }

    fn receive(&mut self, limit: Limit) -> Result<Vec<u8>, ChannelError> {
        if self.broken {
            return Err(ChannelError::Broken { peer: self.peer });
        }
        let result = self.wire().read_message(limit);
        let message = self.settle(result)?;
        self.stats.record_received(message.len(), PREFIX_BYTES);
        Ok(message)
    }

    fn swap(&mut self, message: &[u8], limit: Limit) -> Result<Vec<u8>, ChannelError> {
        let prefix = self.check_sendable(message)?;
        let result = self.wire().exchange(prefix, message, limit);
        let received = self.settle(result)?;
        self.stats.record_sent(message.len(), PREFIX_BYTES);
        self.stats.record_received(received.len(), PREFIX_BYTES);
        Ok(received)
    }

    const fn at_most(&self) -> Limit {
        Limit::AtMost(self.config.max_message)
    }
}

impl Channel for TcpChannel {
    fn send(&mut self, message: &[u8]) -> Result<(), ChannelError> {
        let prefix = self.check_sendable(message)?;
        let result = self.wire().write_message(prefix, message);
        self.settle(result)?;
        self.stats.record_sent(message.len(), PREFIX_BYTES);
        Ok(())
    }

    fn recv(&mut self) -> Result<Vec<u8>, ChannelError> {
        self.receive(self.at_most())
    }

    /// Checks the announced length before it allocates or reads the message.
    fn recv_exact(&mut self, what: &'static str, len: usize) -> Result<Vec<u8>, ChannelError> {
        self.receive(Limit::Exactly(what, len))
    }

    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError> {
        self.swap(message, self.at_most())
    }

    /// Checks the announced length before it allocates or reads the message.
    fn exchange_exact(
        &mut self,
        message: &[u8],
        what: &'static str,
        len: usize,
    ) -> Result<Vec<u8>, ChannelError> {
        self.swap(message, Limit::Exactly(what, len))
    }

    fn phase(&mut self, name: &'static str) {
        self.stats.begin_phase(name);
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn peer(&self) -> Peer {
        self.peer
    }
}
