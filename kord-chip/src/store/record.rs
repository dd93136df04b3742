//! The pairing record before it is sealed.

use kord_core::Party;
use zeroize::Zeroizing;

use crate::Tier;
use crate::pairing::Pairing;

/// What the record is sealed for.
pub(super) const PURPOSE: &[u8] = b"KORD pairing record v1";

/// Secret (32) ‖ pairing id (16) ‖ party ‖ tier ‖ the peer's identity in postcard.
pub(super) fn encode(pairing: &Pairing) -> Zeroizing<Vec<u8>> {
    // Public, and of no fixed length.
    let Ok(peer) = postcard::to_stdvec(pairing.peer()) else {
        unreachable!("postcard writes every peer identity into memory")
    };
    // Sized first, so that growing leaves no copy of the secret behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(50 + peer.len()));
    bytes.extend_from_slice(pairing.secret());
    bytes.extend_from_slice(pairing.id());
    bytes.extend_from_slice(&[pairing.party().number(), pairing.tier().number()]);
    bytes.extend_from_slice(&peer);
    bytes
}

/// What [`encode`] wrote, or nothing.
pub(super) fn decode(bytes: &[u8]) -> Option<Pairing> {
    let (secret, rest) = bytes.split_first_chunk::<32>()?;
    let (id, rest) = rest.split_first_chunk::<16>()?;
    let ([party, tier], peer) = rest.split_first_chunk()?;
    let (party, tier) = (Party::from_number(*party)?, Tier::from_number(*tier)?);
    let (peer, rest) = postcard::take_from_bytes(peer).ok()?;
    rest.is_empty().then(|| Pairing::new(*id, Zeroizing::new(*secret), peer, party, tier))
}
