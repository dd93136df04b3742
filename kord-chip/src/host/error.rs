//! Why a host could not get a batch through.

use std::net::SocketAddr;
use std::time::Duration;

use kord_core::Party;
use thiserror::Error;

use super::message::{MessageError, Reason};
use crate::error::ChipError;

/// A failure between two hosts. Each text says what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    /// Nobody was there.
    #[error(
        "no peer at {address} within {waited:?}; is the other party's host running, and is the address right?"
    )]
    PeerAbsent {
        /// Where it was looked for.
        address: SocketAddr,
        /// How long.
        waited: Duration,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The connection failed.
    #[error("connection to {address} failed")]
    Io {
        /// The other end.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The peer closed the connection in the middle of something.
    #[error("peer {peer} closed the connection; look at its log")]
    PeerClosed {
        /// The peer.
        peer: SocketAddr,
    },
    /// The peer said why it leaves.
    #[error("peer {peer} ended the connection: {reason}")]
    PeerLeft {
        /// The peer.
        peer: SocketAddr,
        /// Its reason.
        reason: Reason,
    },
    /// The peer is silent.
    #[error("peer {peer} sent nothing for {waited:?}; it must make the same request at the same time")]
    Timeout {
        /// The peer.
        peer: SocketAddr,
        /// How long was waited.
        waited: Duration,
    },
    /// What was received is no message.
    #[error("peer {peer} sent garbage; is it a KORD host?")]
    Message {
        /// The peer.
        peer: SocketAddr,
        /// What is wrong with it.
        #[source]
        source: MessageError,
    },
    /// A message that does not belong here.
    #[error("peer {peer} sent a {got} message where {want} was due")]
    Unexpected {
        /// The peer.
        peer: SocketAddr,
        /// What came.
        got: &'static str,
        /// What was due.
        want: &'static str,
    },
    /// Another version of the host messages.
    #[error(
        "peer {peer} speaks version {theirs} of the host protocol, we speak {ours}; update the older one"
    )]
    Version {
        /// The peer.
        peer: SocketAddr,
        /// Its version.
        theirs: u16,
        /// Our version.
        ours: u16,
    },
    /// Both hosts are the same party.
    #[error("peer {peer} is also {party}; one chip of a pair is party 0, the other party 1")]
    SameParty {
        /// The peer.
        peer: SocketAddr,
        /// The party that both are.
        party: Party,
    },
    /// One host pairs, the other works.
    #[error("peer {peer} wants to {theirs}, we want to {ours}; run the same command on both sides")]
    Purpose {
        /// The peer.
        peer: SocketAddr,
        /// What the peer wants.
        theirs: &'static str,
        /// What we want.
        ours: &'static str,
    },
    /// The peer's chip is paired with another chip.
    #[error("peer {peer} belongs to another pairing; pair the two chips with each other first")]
    OtherPairing {
        /// The peer.
        peer: SocketAddr,
    },
    /// This chip is not paired.
    #[error("this chip is not paired; pair it first")]
    NotPaired,
    /// The chip refused.
    #[error("chip refused")]
    Chip(#[from] ChipError),
    /// The runtime could not start.
    #[error("cannot start the host's runtime")]
    Runtime(#[source] std::io::Error),
}
