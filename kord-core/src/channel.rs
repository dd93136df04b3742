//! Blocking, message-based links between the two parties, with exact counters.
//!
//! Protocol code makes and takes messages; a [`Channel`] moves them. All are interchangeable
//! (`&mut dyn Channel`):
//!
//! | channel | moves messages | for |
//! |---|---|---|
//! | [`MemoryChannel`] | between two threads, or within one | tests, examples, in-process pairs |
//! | [`TcpChannel`] | over a TCP connection | two processes |
//! | [`Delayed`] | over another channel, late | figures for an **emulated** round-trip time and bandwidth |
//!
//! # Frames
//! A message on the wire is its length in 4 bytes, little-endian, then its bytes. A message of no
//! bytes is a message. Both ends have a maximum length, checked before anything is allocated. The
//! in-memory pair sends no prefix but counts one, so figures do not depend on the channel.
//!
//! # What a round is
//! A *flight* is a maximal run of sends with no receive between them; seen from the other end it
//! is a run of receives with no send between them. [`Stats`] counts flights in each direction,
//! and [`Traffic::rounds`] is the larger of the two: in one round each party sends at most one
//! flight. So two parties that each send one message at the same time make one round, and so do a
//! request and its reply. Every communication figure that KORD prints comes from these counters.
//!
//! Each party counts in its own order of events. Where messages cross, one may see two flights
//! where the other sees one, so a figure for a whole protocol is the larger of the two counts.
//!
//! # Why `exchange` exists
//! If both parties send a large message and then receive, each blocks in its send once the
//! sockets' buffers are full, and neither ever reads: a deadlock that small tests do not show.
//! [`Channel::exchange`] sends and receives at the same time.
//!
//! # Security
//! A channel authenticates and encrypts nothing: what needs it is sealed before it is sent. A
//! peer's length field is never trusted: use [`Channel::recv_exact`] where the protocol fixes the
//! length, and the maximum bounds the rest.
//!
//! ```
//! use kord_core::channel::{Channel, MemoryChannel};
//!
//! let (mut p0, mut p1) = MemoryChannel::pair();
//! p0.phase("opening");
//! p0.send(b"share of party 0")?;
//! p1.send(b"share of party 1")?;
//! assert_eq!(p0.recv_exact("opening", 16)?, b"share of party 1");
//! assert_eq!(p1.recv()?, b"share of party 0");
//!
//! let opening = p0.stats().phase("opening");
//! assert_eq!((opening.rounds(), opening.sent.payload_bytes, opening.sent.wire_bytes), (1, 16, 20));
//! # Ok::<(), kord_core::channel::ChannelError>(())
//! ```

mod delayed;
mod error;
mod memory;
mod stats;
mod tcp;
#[cfg(test)]
mod tests;

pub use delayed::{Delayed, Link};
pub use error::{ChannelError, Operation, Peer};
pub use memory::MemoryChannel;
pub use stats::{Flow, Stats, Traffic};
pub use tcp::{TcpAcceptor, TcpChannel, TcpConfig};

/// Bytes of the length prefix of a message.
pub const PREFIX_BYTES: usize = 4;

/// The longest message that a channel sends or accepts unless told otherwise: 256 MiB.
pub const DEFAULT_MAX_MESSAGE: u32 = 1 << 28;

/// One party's end of a link to the other: blocking, ordered, message by message.
pub trait Channel: Send {
    /// Sends one message. It may block until the peer reads.
    ///
    /// # Errors
    /// [`ChannelError::TooLong`] before anything is sent; otherwise the link failed.
    fn send(&mut self, message: &[u8]) -> Result<(), ChannelError>;

    /// Hands everything sent so far to the network. The channels of this module do not buffer, so
    /// for them there is nothing to do; one that buffers must also flush before it receives.
    ///
    /// # Errors
    /// The link failed.
    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }

    /// Waits for the next message, of any length up to the channel's maximum.
    ///
    /// # Errors
    /// [`ChannelError::TooLong`], [`ChannelError::TimedOut`], [`ChannelError::Closed`], or the
    /// link failed.
    fn recv(&mut self) -> Result<Vec<u8>, ChannelError>;

    /// Waits for the next message, which the protocol says is `what` and has `len` bytes.
    ///
    /// # Errors
    /// [`ChannelError::WrongLength`] if it has another length; as [`Channel::recv`].
    fn recv_exact(&mut self, what: &'static str, len: usize) -> Result<Vec<u8>, ChannelError> {
        let message = self.recv()?;
        check_length(self.peer(), what, message.len() as u64, len)?;
        Ok(message)
    }

    /// Sends `message` and receives the peer's, at the same time: for a step in which both
    /// parties send. Neither waits for the other to read first.
    ///
    /// # Errors
    /// As [`Channel::send`] and [`Channel::recv`].
    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError>;

    /// [`Channel::exchange`], where the peer's message is `what` and has `len` bytes.
    ///
    /// # Errors
    /// [`ChannelError::WrongLength`] if it has another length; as [`Channel::exchange`].
    fn exchange_exact(
        &mut self,
        message: &[u8],
        what: &'static str,
        len: usize,
    ) -> Result<Vec<u8>, ChannelError> {
        let received = self.exchange(message)?;
        check_length(self.peer(), what, received.len() as u64, len)?;
        Ok(received)
    }

    /// Counts what follows under `name`, until the next call. A name used before resumes its
    /// phase. Names are this party's own; nothing is sent.
    fn phase(&mut self, name: &'static str);

    /// What has been sent and received so far.
    fn stats(&self) -> &Stats;

    /// Who is at the other end, as errors name it.
    fn peer(&self) -> Peer;
}

/// Refuses a message that is not as long as the protocol says.
fn check_length(peer: Peer, what: &'static str, have: u64, want: usize) -> Result<(), ChannelError> {
    if have == want as u64 { Ok(()) } else { Err(ChannelError::WrongLength { peer, what, have, want }) }
}

macro_rules! forward_channel {
    ($pointer:ty) => {
        impl<C: Channel + ?Sized> Channel for $pointer {
            fn send(&mut self, message: &[u8]) -> Result<(), ChannelError> {
                (**self).send(message)
            }

            fn flush(&mut self) -> Result<(), ChannelError> {
                (**self).flush()
            }

            fn recv(&mut self) -> Result<Vec<u8>, ChannelError> {
                (**self).recv()
            }

            fn recv_exact(&mut self, what: &'static str, len: usize) -> Result<Vec<u8>, ChannelError> {
                (**self).recv_exact(what, len)
            }

            fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, ChannelError> {
                (**self).exchange(message)
            }

            fn exchange_exact(
                &mut self,
                message: &[u8],
                what: &'static str,
                len: usize,
            ) -> Result<Vec<u8>, ChannelError> {
                (**self).exchange_exact(message, what, len)
            }

            fn phase(&mut self, name: &'static str) {
                (**self).phase(name);
            }

            fn stats(&self) -> &Stats {
                (**self).stats()
            }

            fn peer(&self) -> Peer {
                (**self).peer()
            }
        }
    };
}

forward_channel!(&mut C);
forward_channel!(Box<C>);
