//! Vector kernels for the default key profile, chosen at run time.
//!
//! The portable engine in `tree` and `keygen` says what a key is; this module makes the same
//! bytes faster. All `unsafe` of the crate is here.
//!
//! | file | holds |
//! |---|---|
//! | `lanes` | what a kernel needs of a register of 1, 2 or 4 blocks; AES rounds with work between |
//! | `values` | payload groups of at most 64 bits |
//! | `slots` | the key buffer of a tile |
//! | `path` | one level of Gen |
//! | `dpf`, `dcf` | Gen: the walk of a tile of keys |
//! | `generate` | batches of Gen |
//! | `walkers` | one level of Eval |
//! | `evaluate` | batches of Eval |
//! | `bare` | AES and nothing else, to measure against |
//! | `x86` | detection, entry points; `x86::{xmm, ymm, zmm}` registers, `x86::rounds` AES rounds |
//!
//! What the kernels cover: DPF Gen of any payload; DCF Gen, and Eval at points of both, where the
//! payload is one element of a ring or XOR group of at most 64 bits. The rest is portable code.
//! No secret decides a branch or an address: alpha, control bits and signs are masks.
#![allow(
    clippy::needless_range_loop,
    reason = "a register has the same index in several arrays; iterators and closures over them may not inline"
)]

#[cfg(target_arch = "x86_64")]
mod bare;
#[cfg(target_arch = "x86_64")]
mod dcf;
#[cfg(target_arch = "x86_64")]
mod dpf;
#[cfg(target_arch = "x86_64")]
mod evaluate;
#[cfg(target_arch = "x86_64")]
mod generate;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod path;
#[cfg(target_arch = "x86_64")]
mod slots;
#[cfg(target_arch = "x86_64")]
mod values;
#[cfg(target_arch = "x86_64")]
mod walkers;
#[cfg(target_arch = "x86_64")]
mod x86;

use core::fmt;

use crate::block::Block;
use crate::group::GroupKind;
use crate::party::Party;
use crate::spec::{KeySpec, Scheme};

/// The clamp bit of a block.
#[cfg(target_arch = "x86_64")]
const CLAMP: u128 = 1 << 96;
/// Registers of each party in a group: with two sides, 4 · REGS = 8 AES chains in flight.
#[cfg(target_arch = "x86_64")]
const REGS: usize = 2;

/// How batches are computed. Every back end makes the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// No intrinsics here; the `aes` crate chooses its own code.
    Portable,
    /// AES-NI and AVX2, one block an instruction.
    AesNi,
    /// VAES and AVX2, two blocks an instruction.
    Vaes256,
    /// VAES and AVX-512, four blocks an instruction.
    Vaes512,
}

impl Backend {
    /// From the slowest to the fastest.
    const ALL: [Self; 4] = [Self::Portable, Self::AesNi, Self::Vaes256, Self::Vaes512];

    /// The fastest back end of this CPU.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }

    /// The back ends that this CPU can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|b| b.is_available())
    }

    /// Whether this CPU can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Portable => true,
            Self::AesNi => x86::AesNi::detect().is_some(),
            Self::Vaes256 => x86::Vaes256::detect().is_some(),
            Self::Vaes512 => x86::Vaes512::detect().is_some(),
        }
        #[cfg(not(target_arch = "x86_64"))]
        matches!(self, Self::Portable)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::AesNi => "AES-NI",
            Self::Vaes256 => "VAES-256",
            Self::Vaes512 => "VAES-512",
        })
    }
}

/// A batch to generate, already checked.
pub(crate) struct GenJob<'a> {
    pub(crate) spec: &'a KeySpec,
    pub(crate) alphas: &'a [u64],
    pub(crate) betas: &'a [u128],
    pub(crate) roots: [&'a [Block]; 2],
    pub(crate) party: Party,
    /// Exactly one native key for each alpha; every byte is written.
    pub(crate) out: &'a mut [u8],
}

/// One element of at most 64 bits, read straight from a block: what the kernels compute themselves.
fn is_narrow(spec: &KeySpec) -> bool {
    spec.arity() == 1 && spec.group().bits() <= 64 && spec.group().kind() != GroupKind::Modular
}

/// Makes the batch, or gives it back if this back end has no kernel for it (or this CPU not the
/// instructions).
pub(crate) fn generate(backend: Backend, job: GenJob<'_>) -> Option<GenJob<'_>> {
    if job.spec.scheme() != Scheme::Dpf && !is_narrow(job.spec) {
        return Some(job);
    }
    #[cfg(target_arch = "x86_64")]
    {
        use x86::{AesNi, Kernels, Vaes256, Vaes512};
        fn run<'a>(cpu: Option<impl Kernels>, job: GenJob<'a>) -> Option<GenJob<'a>> {
            match cpu {
                Some(cpu) => {
                    cpu.generate(job);
                    None
                }
                None => Some(job),
            }
        }
        match backend {
            Backend::Portable => Some(job),
            Backend::AesNi => run(AesNi::detect(), job),
            Backend::Vaes256 => run(Vaes256::detect(), job),
            Backend::Vaes512 => run(Vaes512::detect(), job),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = backend;
        Some(job)
    }
}

/// A batch to evaluate, already checked: m = points / keys points for each key.
pub(crate) struct EvalJob<'a> {
    pub(crate) spec: &'a KeySpec,
    pub(crate) party: Party,
    /// Native keys, at least one.
    pub(crate) keys: &'a [u8],
    /// Points, at least one and a whole multiple of the keys.
    pub(crate) points: &'a [u64],
    /// One element for each point; all are written.
    pub(crate) out: &'a mut [u128],
}

/// Evaluates the batch, or gives it back as [`generate`] does.
pub(crate) fn evaluate(backend: Backend, job: EvalJob<'_>) -> Option<EvalJob<'_>> {
    if !is_narrow(job.spec) {
        return Some(job);
    }
    #[cfg(target_arch = "x86_64")]
    {
        use x86::{AesNi, Kernels, Vaes256, Vaes512};
        fn run<'a>(cpu: Option<impl Kernels>, job: EvalJob<'a>) -> Option<EvalJob<'a>> {
            match cpu {
                Some(cpu) => {
                    cpu.evaluate(job);
                    None
                }
                None => Some(job),
            }
        }
        match backend {
            Backend::Portable => Some(job),
            Backend::AesNi => run(AesNi::detect(), job),
            Backend::Vaes256 => run(Vaes256::detect(), job),
            Backend::Vaes512 => run(Vaes512::detect(), job),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (backend, job.party, job.keys);
        Some(job)
    }
}

/// Encrypts blocks in registers, `times` over, under one fixed key, and returns how many: the AES
/// unit's limit with this back end's instructions. 0 if there are none.
pub(crate) fn bare_blocks(backend: Backend, times: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use x86::{AesNi, Kernels, Vaes256, Vaes512};
        match backend {
            Backend::Portable => None,
            Backend::AesNi => AesNi::detect().map(|cpu| cpu.bare(times)),
            Backend::Vaes256 => Vaes256::detect().map(|cpu| cpu.bare(times)),
            Backend::Vaes512 => Vaes512::detect().map(|cpu| cpu.bare(times)),
        }
        .unwrap_or(0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (backend, times);
        0
    }
}
