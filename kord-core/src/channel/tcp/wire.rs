//! Length-prefixed messages on a socket, one way at a time and both ways at once.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use crate::channel::{ChannelError, Operation, PREFIX_BYTES, Peer, check_length};

/// Which announced lengths are accepted.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    /// Up to the channel's maximum.
    AtMost(u32),
    /// What the protocol says: a named message of this many bytes.
    Exactly(&'static str, usize),
}

/// A borrowed socket and what errors about it say.
#[derive(Clone, Copy)]
pub(super) struct Wire<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) peer: Peer,
    pub(super) timeout: Option<Duration>,
}

impl Wire<'_> {
    fn error(&self, operation: Operation, source: io::Error) -> ChannelError {
        classify(self.peer, operation, self.timeout, source)
    }

    /// Writes a whole message.
    pub(super) fn write_message(
        &self,
        prefix: [u8; PREFIX_BYTES],
        message: &[u8],
    ) -> Result<(), ChannelError> {
        self.write_rest(&mut [IoSlice::new(&prefix), IoSlice::new(message)])
            .map_err(|source| self.error(Operation::Send, source))
    }

    /// Reads a whole message. The announced length is checked before anything is allocated; the
    /// buffer then never moves, so no copy of the message is left behind.
    pub(super) fn read_message(&self, limit: Limit) -> Result<Vec<u8>, ChannelError> {
        let mut stream = self.stream;
        let mut prefix = [0; PREFIX_BYTES];
        stream.read_exact(&mut prefix).map_err(|source| self.error(Operation::Receive, source))?;
        let announced = u32::from_le_bytes(prefix);
        match limit {
            Limit::AtMost(limit) if announced > limit => {
                return Err(ChannelError::TooLong {
                    peer: self.peer,
                    operation: Operation::Receive,
                    bytes: announced.into(),
                    limit,
                });
            }
            Limit::AtMost(_) => {}
            Limit::Exactly(what, len) => check_length(self.peer, what, announced.into(), len)?,
        }
        let mut message = vec![0; announced as usize];
        stream.read_exact(&mut message).map_err(|source| self.error(Operation::Receive, source))?;
        Ok(message)
    }

    /// Writes one message and reads one, at the same time.
    ///
    /// First it hands the system as much as it takes without blocking. A small message is gone
    /// then; for the rest of a large one a second thread writes while this one reads.
    pub(super) fn exchange(
        &self,
        prefix: [u8; PREFIX_BYTES],
        message: &[u8],
        limit: Limit,
    ) -> Result<Vec<u8>, ChannelError> {
        let mut parts = [IoSlice::new(&prefix), IoSlice::new(message)];
        let rest = self.write_ready(&mut parts).map_err(|source| self.error(Operation::Send, source))?;
        if rest.is_empty() {
            return self.read_message(limit);
        }
        let (sent, received) = thread::scope(|scope| {
            let writer = thread::Builder::new().spawn_scoped(scope, || {
                let sent = self.write_rest(rest);
                self.wake_on_error(sent.is_err());
                sent
            });
            let writer = match writer {
                Ok(writer) => writer,
                Err(source) => return (Err(source), Ok(Vec::new())),
            };
            let received = self.read_message(limit);
            self.wake_on_error(received.is_err());
            (writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), received)
        });
        match (sent.map_err(|source| self.error(Operation::Send, source)), received) {
            (Ok(()), received) => received,
            (Err(error), Ok(_)) => Err(error),
            // One of the two failed first and shut the socket down, which the other sees as a
            // peer that closed: the other error is the cause.
            (Err(error), Err(ChannelError::Closed { .. })) => Err(error),
            (Err(_), Err(error)) => Err(error),
        }
    }

    /// Shuts the socket down, so that the thread at its other direction does not wait in vain.
    fn wake_on_error(&self, failed: bool) {
        if failed {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }

    /// Writes what the socket takes without blocking; returns what is left.
    fn write_ready<'p, 'd>(&self, parts: &'p mut [IoSlice<'d>]) -> io::Result<&'p mut [IoSlice<'d>]> {
        self.stream.set_nonblocking(true)?;
        let mut rest = parts;
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            match write_some(self.stream, &mut rest) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                other => result = other,
            }
        }
        self.stream.set_nonblocking(false)?;
        result.map(|()| rest)
    }

    fn write_rest(&self, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        while !parts.is_empty() {
            write_some(self.stream, &mut parts)?;
        }
        Ok(())
    }
}

/// One write of at least a byte; drops from `parts` what was written.
fn write_some(mut stream: &TcpStream, parts: &mut &mut [IoSlice<'_>]) -> io::Result<()> {
    match stream.write_vectored(parts) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(written) => {
            IoSlice::advance_slices(parts, written);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether an error says that the peer is gone.
pub(super) const fn is_closed(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::WriteZero
    )
}

/// The system's error, as what the caller can do about it.
pub(super) fn classify(
    peer: Peer,
    operation: Operation,
    timeout: Option<Duration>,
    source: io::Error,
) -> ChannelError {
    match (source.kind(), timeout) {
        (kind, _) if is_closed(kind) => ChannelError::Closed { peer, operation },
        (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Some(after)) => {
            ChannelError::TimedOut { peer, operation, after }
        }
        _ => ChannelError::Io { peer, operation, source },
    }
}
