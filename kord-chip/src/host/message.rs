//! What two hosts say to each other.
//!
//! Each message is a length (4 bytes LE, of what follows), a type byte and a body. All of it is
//! outside the boundary: hosts relay sealed frames and compare labels, and nothing here is
//! trusted for secrecy.
//!
//! | type | message | body |
//! |---|---|---|
//! | 1 | Hello | "KORD", version (2 LE), party (1), purpose (1), pairing id (16, zero when pairing) |
//! | 2 | Pairing | a pairing message |
//! | 3 | Session | a session handshake message |
//! | 4 | Begin | label (session 4, stream 8, first 8, count 8, LE), then the batch (postcard) |
//! | 5 | Frame | a sealed frame |
//! | 6 | Goodbye | reason (1) |

use kord_core::{Correlation, Descriptor, Label, Party, Request};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the messages between hosts.
pub(crate) const VERSION: u16 = 1;
/// The longest body: the longest frame, with room to spare for no more than that.
pub(crate) const MAX_BODY: usize = crate::frame::ENVELOPE_BYTES + crate::frame::MAX_BODY_BYTES;
const MAGIC: &[u8; 4] = b"KORD";

/// Why a host opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Pair,
    Work,
}

/// The first message of each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    pub(crate) party: Party,
    pub(crate) purpose: Purpose,
    pub(crate) pairing_id: [u8; 16],
}

/// Why a host ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its work is done.
    Done,
    /// The chip refused a handshake message.
    HandshakeRefused,
    /// A frame failed its authentication, or belonged to no submission.
    FrameRefused,
    /// The parties asked for different batches.
    Disagreement,
    /// The other side sent something that is no message.
    Malformed,
    /// It failed on its own side: store, sink, or shares.
    Failed,
}

impl Reason {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::HandshakeRefused,
        Self::FrameRefused,
        Self::Disagreement,
        Self::Malformed,
        Self::Failed,
    ];

    fn number(self) -> u8 {
        Self::ALL.iter().position(|r| *r == self).unwrap_or(0) as u8
    }
}

impl core::fmt::Display for Reason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Done => "it is done",
            Self::HandshakeRefused => "its chip refused the handshake",
            Self::FrameRefused => "its chip refused a frame",
            Self::Disagreement => "it asked for another batch",
            Self::Malformed => "it could not read a message of ours",
            Self::Failed => "it failed on its own side",
        })
    }
}

/// What a batch makes. Public: both hosts tell each other and compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Batch {
    Request(Request),
    Correlation(Correlation),
}

impl Batch {
    fn descriptors(&self) -> Vec<Descriptor> {
        match self {
            Self::Request(request) => Descriptor::of_request(request),
            Self::Correlation(kind) => vec![kind.descriptor()],
        }
    }

    /// The first field on which two batches, with their labels, differ.
    pub(crate) fn first_difference(&self, own: Label, other: &Self, theirs: Label) -> Option<&'static str> {
        let (mine, others) = (self.descriptors(), other.descriptors());
        if mine.len() != others.len() {
            return Some("number of parts");
        }
        if let Some(field) = mine.iter().zip(&others).find_map(|(a, b)| a.first_difference(b)) {
            return Some(field);
        }
        // Descriptors name moduli and PRG keys by digests; the batches hold them in full.
        let labels = [
            (own.count == theirs.count, "count"),
            (own.session == theirs.session, "session"),
            (own.stream == theirs.stream, "stream"),
            (own.first == theirs.first, "first counter"),
            (self == other, "batch"),
        ];
        labels.iter().find(|(equal, _)| !equal).map(|(_, field)| *field)
    }
}

/// A message between hosts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Hello(Hello),
    Pairing(Vec<u8>),
    Session(Vec<u8>),
    Begin { label: Label, batch: Batch },
    Frame(Vec<u8>),
    Goodbye(Reason),
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Longer than any message, or empty.
    #[error("length field {length} is outside 1..={max}", max = MAX_BODY + 1)]
    Length {
        /// The length field.
        length: u32,
    },
    /// An unknown type byte.
    #[error("unknown message type {number}")]
    Type {
        /// The type byte.
        number: u8,
    },
    /// A body that is not of its type's form.
    #[error("{message} message: {field} is not valid")]
    Body {
        /// Which message.
        message: &'static str,
        /// Which field.
        field: &'static str,
    },
}

impl Message {
    /// Length, type and body.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let mut out = vec![0; 4];
        match self {
            Self::Hello(hello) => {
                out.push(1);
                out.extend_from_slice(MAGIC);
                out.extend_from_slice(&hello.version.to_le_bytes());
                out.push(hello.party.number());
                out.push(match hello.purpose {
                    Purpose::Pair => 0,
                    Purpose::Work => 1,
                });
                out.extend_from_slice(&hello.pairing_id);
            }
            Self::Pairing(bytes) => put(&mut out, 2, bytes),
            Self::Session(bytes) => put(&mut out, 3, bytes),
            Self::Begin { label, batch } => {
                out.push(4);
                out.extend_from_slice(&label.session.to_le_bytes());
                for field in [label.stream, label.first, label.count] {
                    out.extend_from_slice(&field.to_le_bytes());
                }
                let batch = postcard::to_stdvec(batch)
                    .map_err(|_| MessageError::Body { message: "Begin", field: "batch" })?;
                out.extend_from_slice(&batch);
            }
            Self::Frame(bytes) => put(&mut out, 5, bytes),
            Self::Goodbye(reason) => put(&mut out, 6, &[reason.number()]),
        }
        let length = out.len() - 4;
        if length > MAX_BODY + 1 {
            return Err(MessageError::Length { length: u32::try_from(length).unwrap_or(u32::MAX) });
        }
        out[..4].copy_from_slice(&(length as u32).to_le_bytes());
        Ok(out)
    }

    /// The length of a message's type and body from its first four bytes, checked before
    /// anything is allocated for it.
    pub(crate) fn length(prefix: [u8; 4]) -> Result<usize, MessageError> {
        let length = u32::from_le_bytes(prefix);
        match length as usize {
            n if (1..=MAX_BODY + 1).contains(&n) => Ok(n),
            _ => Err(MessageError::Length { length }),
        }
    }

    /// A message from its type byte and body.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let Some((number, body)) = bytes.split_first() else {
            return Err(MessageError::Length { length: 0 });
        };
        match number {
            1 => decode_hello(body).map(Self::Hello),
            2 => Ok(Self::Pairing(body.to_vec())),
            3 => Ok(Self::Session(body.to_vec())),
            4 => decode_begin(body),
            5 => Ok(Self::Frame(body.to_vec())),
            6 => match body {
                [reason] if usize::from(*reason) < Reason::ALL.len() => {
                    Ok(Self::Goodbye(Reason::ALL[usize::from(*reason)]))
                }
                _ => Err(MessageError::Body { message: "Goodbye", field: "reason" }),
            },
            _ => Err(MessageError::Type { number: *number }),
        }
    }

    /// What to call this message in an error.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Pairing(_) => "Pairing",
            Self::Session(_) => "Session",
            Self::Begin { .. } => "Begin",
            Self::Frame(_) => "Frame",
            Self::Goodbye(_) => "Goodbye",
        }
    }
}

fn put(out: &mut Vec<u8>, number: u8, body: &[u8]) {
    out.push(number);
    out.extend_from_slice(body);
}

fn decode_hello(body: &[u8]) -> Result<Hello, MessageError> {
    let bad = |field| MessageError::Body { message: "Hello", field };
    let Ok(body) = <&[u8; 24]>::try_from(body) else {
        return Err(bad("length"));
    };
    if body[..4] != *MAGIC {
        return Err(bad("magic"));
    }
    let purpose = match body[7] {
        0 => Purpose::Pair,
        1 => Purpose::Work,
        _ => return Err(bad("purpose")),
    };
    let mut pairing_id = [0; 16];
    pairing_id.copy_from_slice(&body[8..]);
    Ok(Hello {
        version: u16::from_le_bytes([body[4], body[5]]),
        party: Party::from_number(body[6]).ok_or(bad("party"))?,
        purpose,
        pairing_id,
    })
}

fn decode_begin(body: &[u8]) -> Result<Message, MessageError> {
    let bad = |field| MessageError::Body { message: "Begin", field };
    let Some((label, batch)) = body.split_first_chunk::<28>() else {
        return Err(bad("length"));
    };
    let (session, counters) = label.split_first_chunk::<4>().ok_or(bad("label"))?;
    let [stream, first, count] = [0, 8, 16].map(|at| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&counters[at..at + 8]);
        u64::from_le_bytes(bytes)
    });
    let label = Label { session: u32::from_le_bytes(*session), stream, first, count };
    match postcard::take_from_bytes::<Batch>(batch) {
        Ok((batch, [])) => Ok(Message::Begin { label, batch }),
        _ => Err(bad("batch")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use kord_core::{Group, KeySpec};
    use proptest::prelude::*;

    use super::*;

    fn samples() -> Vec<Message> {
        let hello = |purpose| Hello { version: VERSION, party: Party::P1, purpose, pairing_id: [7; 16] };
        let spec = KeySpec::dpf(9, Group::modular(10).unwrap()).unwrap();
        let label = Label { session: 1, stream: 2, first: 3, count: 4 };
        let mut all = vec![
            Message::Hello(hello(Purpose::Pair)),
            Message::Hello(hello(Purpose::Work)),
            Message::Pairing(vec![1, 2]),
            Message::Session(Vec::new()),
            Message::Begin { label, batch: Batch::Request(Request::keys(4, spec).unwrap().on_stream(9)) },
            Message::Begin { label, batch: Batch::Correlation(Correlation::SharedBits(spec.group())) },
            Message::Frame(vec![0; MAX_BODY]),
        ];
        all.extend(Reason::ALL.map(Message::Goodbye));
        all
    }

    #[test]
    fn messages_survive() {
        for message in samples() {
            let bytes = message.encode().unwrap();
            let length = Message::length(bytes[..4].try_into().unwrap()).unwrap();
            assert_eq!(length, bytes.len() - 4);
            assert_eq!(Message::decode(&bytes[4..]).unwrap(), message);
        }
    }

    #[test]
    fn lengths_are_checked_before_allocation() {
        assert!(Message::length([0; 4]).is_err());
        assert!(Message::length([0xff; 4]).is_err());
        assert!(Message::length(((MAX_BODY + 2) as u32).to_le_bytes()).is_err());
        assert!(Message::Frame(vec![0; MAX_BODY + 1]).encode().is_err());
    }

    #[test]
    fn truncated_and_extended_messages_are_refused() {
        for message in samples() {
            let free_form = matches!(message, Message::Pairing(_) | Message::Session(_) | Message::Frame(_));
            if free_form {
                continue;
            }
            let bytes = message.encode().unwrap();
            assert!(Message::decode(&bytes[4..bytes.len() - 1]).is_err(), "{}", message.name());
            let mut longer = bytes[4..].to_vec();
            longer.push(0);
            assert!(Message::decode(&longer).is_err(), "{}", message.name());
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, number in 0_u8..8) {
            let _ = Message::decode(&bytes);
            let mut typed = vec![number];
            typed.extend_from_slice(&bytes);
            let _ = Message::decode(&typed);
        }
    }
}
