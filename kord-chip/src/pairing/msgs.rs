//! The two bytes in front of each Noise message.

use kord_core::Party;

use super::PairingError;
use crate::PROTOCOL_VERSION;

/// Bytes of Noise at most, by its specification.
pub(super) const MAX_NOISE_BYTES: usize = 65_535;

/// Protocol version ‖ message number ‖ Noise message.
pub(super) fn frame(number: u8, noise: &[u8]) -> Vec<u8> {
    [&[PROTOCOL_VERSION, number], noise].concat()
}

/// The Noise message of the message with this number, which `this` party expects.
pub(super) fn unframe(number: u8, this: Party, message: &[u8]) -> Result<&[u8], PairingError> {
    let malformed = |what| Err(PairingError::Malformed { what });
    let [version, found, noise @ ..] = message else { return malformed("shorter than its two-byte front") };
    if *version != PROTOCOL_VERSION {
        return Err(PairingError::Protocol { this: PROTOCOL_VERSION, peer: *version });
    }
    if noise.len() > MAX_NOISE_BYTES {
        return malformed("longer than a Noise message");
    }
    match (*found, this) {
        (found, _) if found == number => Ok(noise),
        // Only party 0 sends message 1.
        (1, Party::P0) => Err(PairingError::SameParty { party: this }),
        _ => malformed("not the message of this step"),
    }
}
