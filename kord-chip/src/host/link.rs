//! One TCP connection to the other host: whole messages in and out, counted.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::error::HostError;
use super::message::Message;
use super::stats::LinkStats;
use crate::tier::Tier;

/// Where the other host is.
#[derive(Clone, Debug)]
pub enum Link {
    /// Wait for it here; see [`Link::listen`].
    Listen(Arc<TcpListener>),
    /// Connect to it there; tries again until the time-out, since hosts start in any order.
    Connect(SocketAddr),
}

impl Link {
    /// Listens on `address` from now on. Port 0 takes a free port, which [`Link::address`] tells.
    ///
    /// # Errors
    /// [`HostError::Listen`], if the address is in use or not ours.
    pub fn listen(address: SocketAddr) -> Result<Self, HostError> {
        let failed = |source| HostError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self::Listen(Arc::new(listener)))
    }

    /// The two ends of a link on this machine, listener first, on a free port.
    ///
    /// # Errors
    /// [`HostError::Listen`], if no port is free.
    pub fn loopback() -> Result<[Self; 2], HostError> {
        let listen = Self::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let connect = Self::Connect(listen.address()?);
        Ok([listen, connect])
    }

    /// The address, ours or the peer's.
    ///
    /// # Errors
    /// [`HostError::Runtime`], if the system does not tell a listener's address.
    pub fn address(&self) -> Result<SocketAddr, HostError> {
        match self {
            Self::Listen(listener) => listener.local_addr().map_err(HostError::Runtime),
            Self::Connect(address) => Ok(*address),
        }
    }

    async fn open(&self, patience: Duration) -> Result<(TcpStream, SocketAddr), HostError> {
        let address = self.address()?;
        match self {
            Self::Listen(listener) => {
                let listener = listener.try_clone().and_then(tokio::net::TcpListener::from_std);
                let listener = listener.map_err(|source| HostError::Listen { address, source })?;
                match timeout(patience, listener.accept()).await {
                    Ok(accepted) => accepted.map_err(|source| HostError::Io { address, source }),
                    Err(_) => Err(HostError::PeerAbsent { address, waited: patience }),
                }
            }
            Self::Connect(address) => Ok((connect(*address, patience).await?, *address)),
        }
    }
}

/// A connection. Reading and writing are cancel-safe, so both can be awaited at once.
pub(super) struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    tier: Tier,
    /// What one read fills.
    buffer: Box<[u8]>,
    /// Bytes received and not yet taken, from `taken` on.
    inbox: Vec<u8>,
    taken: usize,
    /// Bytes queued and not yet sent, from `sent` on.
    outbox: Vec<u8>,
    sent: usize,
    pub(super) stats: LinkStats,
}

/// Between two attempts to connect.
const RETRY: Duration = Duration::from_millis(50);
/// Received at a time.
const READ: usize = 64 * 1024;

impl Connection {
    pub(super) async fn open(link: &Link, tier: Tier, patience: Duration) -> Result<Self, HostError> {
        let (stream, peer) = link.open(patience).await?;
        stream.set_nodelay(true).map_err(|source| HostError::Io { address: peer, source })?;
        let stats = LinkStats::default();
        let buffer = vec![0; READ].into_boxed_slice();
        Ok(Self {
            stream,
            peer,
            tier,
            buffer,
            inbox: Vec::new(),
            taken: 0,
            outbox: Vec::new(),
            sent: 0,
            stats,
        })
    }

    pub(super) fn count_sent_frame(&mut self, frame: &[u8]) {
        self.stats.sent.count_frame(frame.len(), self.tier);
    }

    pub(super) fn count_received_frame(&mut self, frame: &[u8]) {
        self.stats.received.count_frame(frame.len(), self.tier);
    }

    pub(super) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Queues a message.
    pub(super) fn queue(&mut self, message: &Message) -> Result<(), HostError> {
        let peer = self.peer;
        let bytes = message.encode().map_err(|source| HostError::Message { peer, source })?;
        self.stats.sent.messages += 1;
        self.stats.sent.wire_bytes += bytes.len() as u64;
        self.outbox.extend_from_slice(&bytes);
        Ok(())
    }

    /// Sends what the system takes at once.
    pub(super) fn push(&mut self) -> Result<(), HostError> {
        while self.queued() > 0 {
            match self.stream.try_write(&self.outbox[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(source) => return Err(HostError::Io { address: self.peer, source }),
            }
            self.trim();
        }
        Ok(())
    }

    /// Bytes that wait to be sent.
    pub(super) const fn queued(&self) -> usize {
        self.outbox.len() - self.sent
    }

    /// Sends what is queued and waits until the system took it all.
    pub(super) async fn flush(&mut self, patience: Duration) -> Result<(), HostError> {
        let peer = self.peer;
        while self.queued() > 0 {
            match timeout(patience, self.write_some()).await {
                Ok(result) => result?,
                Err(_) => return Err(HostError::Timeout { peer, waited: patience }),
            }
        }
        Ok(())
    }

    /// The next whole message, sending what is queued while it waits.
    pub(super) async fn receive(&mut self, patience: Duration) -> Result<Message, HostError> {
        let peer = self.peer;
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            match timeout(patience, self.advance()).await {
                Ok(result) => result?,
                Err(_) => return Err(HostError::Timeout { peer, waited: patience }),
            }
        }
    }

    /// Makes some progress in either direction.
    pub(super) async fn advance(&mut self) -> Result<(), HostError> {
        let (peer, queued) = (self.peer, self.queued());
        let io = |source| HostError::Io { address: peer, source };
        let (mut reader, mut writer) = self.stream.split();
        tokio::select! {
            written = writer.write(&self.outbox[self.sent..]), if queued > 0 => {
                self.sent += written.map_err(io)?;
                self.trim();
            }
            read = reader.read(&mut self.buffer) => {
                match read.map_err(io)? {
                    0 => return Err(HostError::PeerClosed { peer }),
                    n => {
                        // Only part of a message is left here, so this moves little.
                        self.inbox.drain(..self.taken);
                        self.taken = 0;
                        self.inbox.extend_from_slice(&self.buffer[..n]);
                    }
                }
            }
        }
        Ok(())
    }

    async fn write_some(&mut self) -> Result<(), HostError> {
        let peer = self.peer;
        let written = self.stream.write(&self.outbox[self.sent..]).await;
        self.sent += written.map_err(|source| HostError::Io { address: peer, source })?;
        self.trim();
        Ok(())
    }

    fn trim(&mut self) {
        if self.sent == self.outbox.len() {
            self.outbox.clear();
            self.sent = 0;
        }
    }

    /// A whole message out of the inbox, if there is one.
    pub(super) fn take(&mut self) -> Result<Option<Message>, HostError> {
        let peer = self.peer;
        let malformed = |source| HostError::Message { peer, source };
        let Some((prefix, rest)) = self.inbox[self.taken..].split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = Message::length(*prefix).map_err(malformed)?;
        if rest.len() < length {
            return Ok(None);
        }
        let message = Message::decode(&rest[..length]).map_err(malformed)?;
        self.taken += 4 + length;
        self.stats.received.messages += 1;
        self.stats.received.wire_bytes += 4 + length as u64;
        if let Message::Goodbye(reason) = message {
            return Err(HostError::PeerLeft { peer, reason });
        }
        Ok(Some(message))
    }
}

async fn connect(address: SocketAddr, patience: Duration) -> Result<TcpStream, HostError> {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match timeout(left, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(_)) if Instant::now() + RETRY < deadline => sleep(RETRY).await,
            _ => return Err(HostError::PeerAbsent { address, waited: patience }),
        }
    }
}
