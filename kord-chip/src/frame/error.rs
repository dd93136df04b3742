//! Why a frame was refused.

use thiserror::Error;

use super::Header;

/// A frame that is not sealed or not opened. Nothing has changed when one is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Too few bytes for an envelope, or a body above 65,536 bytes.
    #[error("frame of {have} bytes, must be {min}..={max}")]
    Length {
        /// Bytes given.
        have: usize,
        /// Least.
        min: usize,
        /// Most.
        max: usize,
    },
    /// A header field with a value that is not allowed there.
    #[error("frame header, {field}: {problem}")]
    Field {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The frame was sealed in another session; retransmit nothing, start a new session.
    #[error("frame of session {frame}, but session {open} is open; renew the session on both sides")]
    OtherSession {
        /// The frame's session.
        frame: u32,
        /// The session whose keys are loaded.
        open: u32,
    },
    /// Descriptors that do not fit the kind of the frame.
    #[error("descriptors of the frame: {problem}")]
    Descriptors {
        /// What is wrong.
        problem: &'static str,
    },
    /// The counter was sealed before. To repeat a frame, send its stored bytes again.
    #[error("counter {first} was sealed before, next is {next}; resend the stored bytes instead")]
    CounterReused {
        /// First counter asked.
        first: u64,
        /// The least counter that may be sealed.
        next: u64,
    },
    /// The tag does not fit. Which of key, descriptors, header and body differ is not said.
    #[error("frame not authentic (counter {}, count {}); compare descriptors with the peer", .header.first(), .header.count())]
    AuthFailed {
        /// The header as received, not authenticated.
        header: Header,
    },
}
