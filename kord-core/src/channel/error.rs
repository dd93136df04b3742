//! What can go wrong on a link, and what to do about it.

use core::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

/// The other end of a channel, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peer {
    /// A channel end in this process.
    InProcess,
    /// A TCP endpoint.
    Tcp(SocketAddr),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProcess => f.write_str("the in-process peer"),
            Self::Tcp(address) => write!(f, "peer {address}"),
        }
    }
}

/// What the channel was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Opening the connection.
    Connect,
    /// Sending a message.
    Send,
    /// Waiting for a message, or reading one.
    Receive,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting to",
            Self::Send => "sending to",
            Self::Receive => "receiving from",
        })
    }
}

/// A link that cannot be opened, or that failed.
///
/// After any error but [`ChannelError::TooLong`] when sending, and [`ChannelError::WrongLength`]
/// of a message that was read whole, a TCP channel is shut down and answers
/// [`ChannelError::Broken`]: part of a message may be lost, and the next bytes mean nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The address names no endpoint.
    #[error("address {address} does not resolve; give host:port, for example 127.0.0.1:7000")]
    Resolve {
        /// As given.
        address: String,
        /// From the resolver.
        #[source]
        source: io::Error,
    },
    /// The local address cannot be listened at.
    #[error("cannot listen at {address}; is the port taken, or the address another machine's?")]
    Listen {
        /// As given.
        address: String,
        /// From the system.
        #[source]
        source: io::Error,
    },
    /// Every attempt to connect was refused until the time was over.
    #[error("{peer} refuses connections, tried for {tried:?}; start it first, and check address and port")]
    Refused {
        /// Who was called.
        peer: Peer,
        /// For how long.
        tried: Duration,
    },
    /// Nobody connected in time.
    #[error("nobody connected to {local} within {after:?}; start the peer, and give it this address")]
    NobodyConnected {
        /// Where this end listens.
        local: SocketAddr,
        /// How long it waited.
        after: Duration,
    },
    /// Nothing moved for too long.
    #[error(
        "{operation} {peer}: nothing moved for {after:?}; check that it still runs, or raise the timeout"
    )]
    TimedOut {
        /// Who is at the other end.
        peer: Peer,
        /// What was going on.
        operation: Operation,
        /// The timeout.
        after: Duration,
    },
    /// The peer is gone: it closed its end, or its process ended.
    #[error("{operation} {peer}: it closed the connection; see why it stopped")]
    Closed {
        /// Who was at the other end.
        peer: Peer,
        /// What was going on.
        operation: Operation,
    },
    /// A message above this end's maximum.
    #[error(
        "{operation} {peer}: message of {bytes} bytes, at most {limit}; split it, or raise the maximum at both ends"
    )]
    TooLong {
        /// Who is at the other end.
        peer: Peer,
        /// [`Operation::Send`]: nothing was sent. [`Operation::Receive`]: what the peer announced.
        operation: Operation,
        /// Length of the message.
        bytes: u64,
        /// This end's maximum.
        limit: u32,
    },
    /// A message that is not as long as the protocol says.
    #[error(
        "{what} from {peer}: {have} bytes, expected {want}; both parties must run the same protocol on the same parameters"
    )]
    WrongLength {
        /// Who sent it.
        peer: Peer,
        /// Which message was expected.
        what: &'static str,
        /// Its length.
        have: u64,
        /// The length expected.
        want: usize,
    },
    /// An earlier call failed and the link was shut down.
    #[error("the link to {peer} failed earlier; connect again")]
    Broken {
        /// Who was at the other end.
        peer: Peer,
    },
    /// Any other failure of the system.
    #[error("{operation} {peer} failed")]
    Io {
        /// Who is at the other end.
        peer: Peer,
        /// What was going on.
        operation: Operation,
        /// From the system.
        #[source]
        source: io::Error,
    },
}
