//! The session handshake: fresh working keys from the pairing secret and both chips' randomness.
//!
//! Every start, restart, restore or takeover runs it. Party 0 initiates. Working keys live in
//! memory only; the newest session ends all older ones.
//!
//! # Messages
//!
//! Integers are little-endian. Messages 1 and 2 share a body of 108 bytes:
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | message number, 1 or 2 |
//! | 2 | tier: 0 plain, 1 mac |
//! | 3 | sending party |
//! | 4..20 | pairing id |
//! | 20..52 | nonce |
//! | 52..84 | ephemeral X25519 public key |
//! | 84..88, 88..96 | own mark: highest session, next counter |
//! | 96..100, 100..108 | what the sender remembers of its peer: highest session, counter |
//!
//! Message 2 ends with a 32-byte confirm MAC. Message 3 is version, number 3, verdict (0 go on,
//! 1 party 0 is rolled back, 2 party 1 is rolled back), party 0, and a 32-byte confirm MAC.
//!
//! # Keys
//!
//! ```text
//! session    = max of both own sessions + 1        first counter = max of both own counters
//! transcript = SHA-256("KORD session transcript v1" ‖ message 1 ‖ first 108 bytes of message 2)
//! key        = HKDF-SHA256(salt = pairing secret, ikm = X25519 of the ephemerals,
//!              info = label ‖ tier (1) ‖ session (4) ‖ from party (1) ‖ to party (1)
//!                     ‖ nonce_0 ‖ nonce_1 ‖ transcript)
//! ```
//!
//! | label | parties | bytes | key |
//! |---|---|---|---|
//! | `KORD session v1 link` | sender, receiver | 16 | `K_c`, one per direction |
//! | `KORD session v1 roots` | 0, 1 | 16 | `K_r` |
//! | `KORD session v1 confirm` | sender, receiver | 32 | key of the confirm MAC |
//!
//! The confirm MAC of message 2 is HMAC-SHA256 over the transcript; that of message 3 is over its
//! first 4 bytes, the transcript and the MAC of message 2.
//!
//! # Security
//!
//! * A host that restores its own chip's store, or replays the peer's recorded messages, gets
//!   unrelated keys: the other chip's nonce and ephemeral are fresh. Old sessions stay closed if
//!   the pairing secret leaks later (forward secrecy).
//! * Nothing is stored on unauthenticated input. Party 0 stores the session after it has checked
//!   message 2 and before it sends message 3; party 1 stores it after it has checked message 3.
//!   [`Verified::store`] is the only way to the keys.
//! * A side that presents less than its peer remembers fails closed with
//!   [`SessionError::RolledBack`] on both sides. This is defence in depth.
//! * A handshake that breaks off costs a session number at most.

mod error;
mod initiator;
mod keys;
mod msgs;
mod responder;
mod verified;

#[cfg(test)]
mod tests;

pub use error::{SessionError, SessionRefusal, Side};
pub use initiator::Initiator;
pub use keys::SessionKeys;
pub use responder::Responder;
pub use verified::{Established, Verified};

use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::random::{self, RandomError};
use crate::{Marks, Tier};

/// What a side brings to a session handshake.
pub struct SessionConfig<'a> {
    /// The public name of the pairing.
    pub pairing_id: [u8; 16],
    /// The pairing secret.
    pub secret: &'a [u8; 32],
    /// The lowest tier that the pairing allows.
    pub lowest_tier: Tier,
    /// The tier of this session; both sides must ask for the same.
    pub tier: Tier,
    /// This side's marks, as stored.
    pub marks: Marks,
}

impl SessionConfig<'_> {
    fn check(&self) -> Result<(), SessionError> {
        if self.tier < self.lowest_tier {
            return Err(SessionError::TierNotPaired { asked: self.tier, lowest: self.lowest_tier });
        }
        Ok(())
    }
}

/// One side's randomness for one handshake.
struct Fresh {
    ephemeral: StaticSecret,
    nonce: [u8; 32],
}

impl Fresh {
    fn random() -> Result<Self, RandomError> {
        let ephemeral: Zeroizing<[u8; 32]> = random::secret()?;
        Ok(Self::fixed(&ephemeral, random::public()?))
    }

    fn fixed(ephemeral: &[u8; 32], nonce: [u8; 32]) -> Self {
        Self { ephemeral: StaticSecret::from(*ephemeral), nonce }
    }

    fn public(&self) -> [u8; 32] {
        PublicKey::from(&self.ephemeral).to_bytes()
    }
}
