//! Randomness straight from the operating system.
//!
//! Nonces and keys of a handshake must differ after a virtual machine is restored from a
//! snapshot. A generator kept in process memory would repeat; the system's does not.

use rand::TryRng;
use rand::rngs::SysRng;
use thiserror::Error;
use zeroize::Zeroizing;

/// The operating system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the operating system gave no random bytes; check that its generator is available")]
pub struct RandomError;

/// `N` fresh secret bytes.
pub(crate) fn secret<const N: usize>() -> Result<Zeroizing<[u8; N]>, RandomError> {
    let mut bytes = Zeroizing::new([0; N]);
    SysRng.try_fill_bytes(bytes.as_mut_slice()).map_err(|_| RandomError)?;
    Ok(bytes)
}

/// `N` fresh public bytes: nonces, serials.
pub(crate) fn public<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(|_| RandomError)?;
    Ok(bytes)
}
