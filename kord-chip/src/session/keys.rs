//! From the pairing secret and the exchange to the working keys.

use kord_core::Party;
use sha2::{Digest, Sha256};
use x25519_dalek::PublicKey;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::msgs::{HELLO_BYTES, Hello};
use super::{Fresh, SessionError};
use crate::frame::{Opener, Sealer};
use crate::kdf::{self, Kdf, MAC_BYTES};
use crate::{Mark, Tier};

const TRANSCRIPT_LABEL: &[u8] = b"KORD session transcript v1";
const LINK_LABEL: &[u8] = b"KORD session v1 link";
const ROOTS_LABEL: &[u8] = b"KORD session v1 roots";
const CONFIRM_LABEL: &[u8] = b"KORD session v1 confirm";

/// The working keys of one session. In memory only; zeroized on drop.
#[derive(ZeroizeOnDrop)]
pub struct SessionKeys {
    to_peer: [u8; 16],
    from_peer: [u8; 16],
    roots: [u8; 16],
    #[zeroize(skip)]
    session: u32,
    #[zeroize(skip)]
    tier: Tier,
    #[zeroize(skip)]
    party: Party,
}

impl SessionKeys {
    /// `K_c` of this party's frames. Secret.
    #[must_use]
    pub const fn to_peer(&self) -> &[u8; 16] {
        &self.to_peer
    }

    /// `K_c` of the peer's frames. Secret.
    #[must_use]
    pub const fn from_peer(&self) -> &[u8; 16] {
        &self.from_peer
    }

    /// `K_r`, equal on both sides; `K_op = AES-CMAC(K_r, descriptor)`. Secret.
    #[must_use]
    pub const fn roots(&self) -> &[u8; 16] {
        &self.roots
    }

    /// The session number, from 1.
    #[must_use]
    pub const fn session(&self) -> u32 {
        self.session
    }

    /// The session's tier.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        self.tier
    }

    /// This side's party.
    #[must_use]
    pub const fn party(&self) -> Party {
        self.party
    }

    /// The sealer of this party's frames. Make one per session: it guards against nonce reuse.
    #[must_use]
    pub fn sealer(&self) -> Sealer {
        Sealer::new(self.tier, self.party, self.session, &self.to_peer)
    }

    /// The opener of the peer's frames.
    #[must_use]
    pub fn opener(&self) -> Opener {
        Opener::new(self.tier, self.party.peer(), self.session, &self.from_peer)
    }
}

/// Everything both sides derive from messages 1 and 2.
pub(super) struct Derived {
    kdf: Kdf,
    /// Tier ‖ session, then nonces ‖ transcript: the parts of `info` around the party numbers.
    front: [u8; 5],
    back: [u8; 96],
    tier: Tier,
    /// The new session's number and first counter.
    pub(super) start: Mark,
}

impl Derived {
    /// Derives from the two hellos, whose tiers and pairings are checked to be equal before.
    pub(super) fn new(
        secret: &[u8; 32],
        fresh: &Fresh,
        own: Party,
        hellos: [&Hello; 2],
        messages: [&[u8; HELLO_BYTES]; 2],
    ) -> Result<Self, SessionError> {
        let [hello_0, hello_1] = hellos;
        let peer = hellos[own.peer().index()];
        let shared = fresh.ephemeral.diffie_hellman(&PublicKey::from(peer.ephemeral));
        if !shared.was_contributory() {
            return Err(SessionError::Malformed { what: "ephemeral key of low order" });
        }
        let last = hello_0.marks.own.max(hello_1.marks.own);
        let session = last.session.checked_add(1).ok_or(SessionError::SessionsExhausted)?;
        let transcript =
            Sha256::new().chain_update(TRANSCRIPT_LABEL).chain_update(messages[0]).chain_update(messages[1]);

        let tier = peer.tier;
        let mut front = [tier.number(), 0, 0, 0, 0];
        front[1..].copy_from_slice(&session.to_le_bytes());
        let mut back = [0; 96];
        back[..32].copy_from_slice(&hello_0.nonce);
        back[32..64].copy_from_slice(&hello_1.nonce);
        back[64..].copy_from_slice(&transcript.finalize());
        Ok(Self {
            kdf: Kdf::new(secret, shared.as_bytes()),
            front,
            back,
            tier,
            start: Mark { session, counter: last.counter },
        })
    }

    fn key<const N: usize>(&self, label: &[u8], from: Party, to: Party) -> Zeroizing<[u8; N]> {
        self.kdf.expand(&[label, &self.front, &[from.number(), to.number()], &self.back])
    }

    /// Transcript hash.
    fn transcript(&self) -> &[u8] {
        &self.back[64..]
    }

    /// What a confirm MAC of `from` covers: `extra` bytes, then the transcript, then `before`.
    pub(super) fn confirm(&self, from: Party, extra: &[u8], before: &[u8]) -> [u8; MAC_BYTES] {
        let key = self.key(CONFIRM_LABEL, from, from.peer());
        kdf::mac(&key, &[extra, self.transcript(), before])
    }

    /// Whether `mac` is [`confirm`](Self::confirm) of the same arguments, in constant time.
    pub(super) fn confirms(&self, from: Party, extra: &[u8], before: &[u8], mac: &[u8; MAC_BYTES]) -> bool {
        let key = self.key(CONFIRM_LABEL, from, from.peer());
        kdf::mac_is(&key, &[extra, self.transcript(), before], mac)
    }

    /// The working keys of `party`.
    pub(super) fn working_keys(&self, party: Party) -> SessionKeys {
        SessionKeys {
            to_peer: *self.key(LINK_LABEL, party, party.peer()),
            from_peer: *self.key(LINK_LABEL, party.peer(), party),
            roots: *self.key(ROOTS_LABEL, Party::P0, Party::P1),
            session: self.start.session,
            tier: self.tier,
            party,
        }
    }
}
