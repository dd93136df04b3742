//! The three messages.

use kord_core::Party;

use super::SessionError;
use crate::kdf::MAC_BYTES;
use crate::{Mark, Marks, Tier};

/// The version of the handshake.
pub(super) const VERSION: u8 = 1;

/// Bytes of message 1, and of message 2 without its MAC.
pub(super) const HELLO_BYTES: usize = 108;

/// Bytes of message 3 without its MAC.
pub(super) const FINISH_BYTES: usize = 4;

fn malformed<T>(what: &'static str) -> Result<T, SessionError> {
    Err(SessionError::Malformed { what })
}

/// What both sides say of themselves.
#[derive(Clone, Copy)]
pub(super) struct Hello {
    pub(super) party: Party,
    pub(super) tier: Tier,
    pub(super) pairing_id: [u8; 16],
    pub(super) nonce: [u8; 32],
    pub(super) ephemeral: [u8; 32],
    pub(super) marks: Marks,
}

/// Takes fixed-size fields off the front of a message whose length is checked before.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], SessionError> {
        let Some((field, rest)) = self.0.split_first_chunk::<N>() else { return malformed("too short") };
        self.0 = rest;
        Ok(*field)
    }

    fn mark(&mut self) -> Result<Mark, SessionError> {
        Ok(Mark { session: u32::from_le_bytes(self.take()?), counter: u64::from_le_bytes(self.take()?) })
    }
}

/// The number of the message that carries this party's hello.
const fn number(party: Party) -> u8 {
    match party {
        Party::P0 => 1,
        Party::P1 => 2,
    }
}

impl Hello {
    pub(super) fn encode(&self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..4].copy_from_slice(&[VERSION, number(self.party), self.tier.number(), self.party.number()]);
        bytes[4..20].copy_from_slice(&self.pairing_id);
        bytes[20..52].copy_from_slice(&self.nonce);
        bytes[52..84].copy_from_slice(&self.ephemeral);
        for (mark, at) in [(self.marks.own, 84), (self.marks.peer, 96)] {
            bytes[at..at + 4].copy_from_slice(&mark.session.to_le_bytes());
            bytes[at + 4..at + 12].copy_from_slice(&mark.counter.to_le_bytes());
        }
        bytes
    }

    /// Reads the hello that `party` sends.
    pub(super) fn parse(bytes: &[u8; HELLO_BYTES], party: Party) -> Result<Self, SessionError> {
        let mut reader = Reader(bytes);
        let [version, found, tier, sender] = reader.take()?;
        if version != VERSION {
            return Err(SessionError::Version { this: VERSION, peer: version });
        }
        if found != number(party) {
            return malformed("not the message of this step; exactly one side must be party 0");
        }
        let Some(tier) = Tier::from_number(tier) else { return malformed("unknown tier") };
        if sender != party.number() {
            return malformed("sending party does not fit the message number");
        }
        Ok(Self {
            party,
            tier,
            pairing_id: reader.take()?,
            nonce: reader.take()?,
            ephemeral: reader.take()?,
            marks: Marks { own: reader.mark()?, peer: reader.mark()? },
        })
    }
}

/// Party 0's last word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    GoOn,
    RolledBack(Party),
}

/// The first 4 bytes of message 3.
pub(super) const fn finish(verdict: Verdict) -> [u8; FINISH_BYTES] {
    let verdict = match verdict {
        Verdict::GoOn => 0,
        Verdict::RolledBack(Party::P0) => 1,
        Verdict::RolledBack(Party::P1) => 2,
    };
    [VERSION, 3, verdict, 0]
}

/// Reads the first 4 bytes of message 3.
pub(super) fn parse_finish(bytes: [u8; FINISH_BYTES]) -> Result<Verdict, SessionError> {
    match bytes {
        [version, ..] if version != VERSION => Err(SessionError::Version { this: VERSION, peer: version }),
        [_, 3, 0, 0] => Ok(Verdict::GoOn),
        [_, 3, 1, 0] => Ok(Verdict::RolledBack(Party::P0)),
        [_, 3, 2, 0] => Ok(Verdict::RolledBack(Party::P1)),
        _ => malformed("not the message of this step"),
    }
}

/// Splits a message of exactly `N` bytes and a MAC.
pub(super) fn split_mac<const N: usize>(message: &[u8]) -> Result<([u8; N], [u8; MAC_BYTES]), SessionError> {
    if let Some((body, mac)) = message.split_first_chunk::<N>()
        && let Ok(mac) = mac.try_into()
    {
        Ok((*body, mac))
    } else {
        malformed("wrong length")
    }
}

/// A message and its MAC.
pub(super) fn with_mac(body: &[u8], mac: &[u8; MAC_BYTES]) -> Vec<u8> {
    [body, mac.as_slice()].concat()
}
