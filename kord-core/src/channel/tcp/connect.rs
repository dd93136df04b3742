//! Opening TCP channels.

use core::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use super::{TcpChannel, TcpConfig, wire};
use crate::channel::{ChannelError, Operation, Peer};

/// Pause between two attempts to connect or to accept.
const RETRY: Duration = Duration::from_millis(5);

impl TcpChannel {
    /// Connects to a peer that listens at `address` (`host:port`).
    ///
    /// A refused connection is tried again until [`TcpConfig::connect_timeout`], so that the two
    /// parties can be started in either order.
    ///
    /// # Errors
    /// [`ChannelError::Resolve`], [`ChannelError::Refused`], [`ChannelError::TimedOut`], or
    /// [`ChannelError::Io`] (no route, for example).
    pub fn connect(
        address: impl ToSocketAddrs + fmt::Display,
        config: TcpConfig,
    ) -> Result<Self, ChannelError> {
        let resolve = |source| ChannelError::Resolve { address: address.to_string(), source };
        let endpoints: Vec<SocketAddr> = address.to_socket_addrs().map_err(resolve)?.collect();
        let deadline = Instant::now().checked_add(config.connect_timeout);
        loop {
            let mut failure = None;
            for endpoint in &endpoints {
                match TcpStream::connect_timeout(endpoint, time_left(deadline)) {
                    Ok(stream) if is_own_echo(&stream) => {
                        failure = Some((*endpoint, io::ErrorKind::ConnectionRefused.into()));
                    }
                    Ok(stream) => return Self::from_stream(stream, config),
                    Err(error) => failure = Some((*endpoint, error)),
                }
            }
            let Some((endpoint, source)) = failure else {
                return Err(resolve(io::ErrorKind::NotFound.into()));
            };
            let peer = Peer::Tcp(endpoint);
            let tried = config.connect_timeout;
            match source.kind() {
                io::ErrorKind::ConnectionRefused if is_over(deadline) => {
                    return Err(ChannelError::Refused { peer, tried });
                }
                io::ErrorKind::ConnectionRefused => thread::sleep(RETRY.min(time_left(deadline))),
                _ => return Err(wire::classify(peer, Operation::Connect, Some(tried), source)),
            }
        }
    }

    /// Listens at `address` (`host:port`, port 0 for any free one).
    ///
    /// # Errors
    /// [`ChannelError::Listen`].
    pub fn listen(
        address: impl ToSocketAddrs + fmt::Display,
        config: TcpConfig,
    ) -> Result<TcpAcceptor, ChannelError> {
        let open = || {
            let listener = TcpListener::bind(&address)?;
            listener.set_nonblocking(true)?;
            let local = listener.local_addr()?;
            Ok(TcpAcceptor { listener, local, config })
        };
        open().map_err(|source| ChannelError::Listen { address: address.to_string(), source })
    }
}

/// A local address at which peers can connect.
#[derive(Debug)]
pub struct TcpAcceptor {
    listener: TcpListener,
    local: SocketAddr,
    config: TcpConfig,
}

impl TcpAcceptor {
    /// Where it listens, with the port that the system chose.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Waits for the next peer, at most [`TcpConfig::connect_timeout`].
    ///
    /// # Errors
    /// [`ChannelError::NobodyConnected`], [`ChannelError::Listen`] if the socket failed, or as
    /// [`TcpChannel::from_stream`].
    pub fn accept(&self) -> Result<TcpChannel, ChannelError> {
        let deadline = Instant::now().checked_add(self.config.connect_timeout);
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return TcpChannel::from_stream(stream, self.config),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if is_over(deadline) {
                        let (local, after) = (self.local, self.config.connect_timeout);
                        return Err(ChannelError::NobodyConnected { local, after });
                    }
                    // The standard library has no accept with a timeout.
                    thread::sleep(RETRY.min(time_left(deadline)));
                }
                // The caller went away between its connect and our accept.
                Err(error) if wire::is_closed(error.kind()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(ChannelError::Listen { address: self.local.to_string(), source });
                }
            }
        }
    }
}

/// Whether the socket is connected to itself. The system does that when nobody listens at a local
/// port and it happens to pick that port for the calling end.
fn is_own_echo(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

/// At least a millisecond, because the system takes 0 for an error. No deadline is a day.
fn time_left(deadline: Option<Instant>) -> Duration {
    let left = deadline.map_or(Duration::from_secs(86_400), |d| d.saturating_duration_since(Instant::now()));
    left.max(Duration::from_millis(1))
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|d| Instant::now() >= d)
}
