//! Entry points for x86-64: one function a kernel and register width, compiled for the
//! instructions that its token proves.

mod rounds;
mod xmm;
mod ymm;
mod zmm;

use core::arch::x86_64::*;

use super::values::{Ring, Xor};
use super::{EvalJob, GenJob, bare, evaluate, generate, is_narrow};
use crate::group::GroupKind;
use crate::prg::PrgKeys;
use crate::spec::Scheme;

/// Defines a token and the entry points under it.
macro_rules! backend {
    ($(#[$doc:meta])* $token:ident, $lanes:ty, $module:ident, $features:literal, $detected:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $token(());

        impl $token {
            /// The token, on a CPU that has the instructions.
            pub(super) fn detect() -> Option<Self> {
                $detected.then_some(Self(()))
            }
        }

        impl Kernels for $token {
            fn generate(self, job: GenJob<'_>) {
                let keys = RoundKeys::new(self.aes(), job.spec.prg_keys());
                // SAFETY: the token proves the target features of every entry point.
                unsafe {
                    match (job.spec.scheme(), job.spec.group().kind()) {
                        (Scheme::Dpf, _) if !is_narrow(job.spec) => $module::dpf_any(self, &keys, job),
                        (Scheme::Dpf, GroupKind::Xor) => $module::dpf_xor(self, &keys, job),
                        (Scheme::Dpf, _) => $module::dpf_ring(self, &keys, job),
                        (Scheme::Dcf(_), GroupKind::Xor) => $module::dcf_xor(self, &keys, job),
                        (Scheme::Dcf(_), _) => $module::dcf_ring(self, &keys, job),
                    }
                }
            }

            fn evaluate(self, job: EvalJob<'_>) {
                let keys = RoundKeys::new(self.aes(), job.spec.prg_keys());
                // SAFETY: the token proves the target features of every entry point.
                unsafe {
                    match (job.spec.scheme(), job.spec.group().kind()) {
                        (Scheme::Dpf, GroupKind::Xor) => $module::eval_dpf_xor(self, &keys, job),
                        (Scheme::Dpf, _) => $module::eval_dpf_ring(self, &keys, job),
                        (Scheme::Dcf(_), GroupKind::Xor) => $module::eval_dcf_xor(self, &keys, job),
                        (Scheme::Dcf(_), _) => $module::eval_dcf_ring(self, &keys, job),
                    }
                }
            }

            fn bare(self, times: u64) -> u64 {
                let keys = RoundKeys::new(self.aes(), &PrgKeys::KORD_V1);
                // SAFETY: the token proves the target features.
                unsafe { $module::bare(self, &keys, times) }
            }
        }

        mod $module {
            use super::*;

            #[target_feature(enable = $features)]
            pub(super) fn dpf_ring(cpu: $token, keys: &RoundKeys, job: GenJob<'_>) {
                generate::dpf::<$lanes, Ring>(cpu, keys.dpf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn dpf_xor(cpu: $token, keys: &RoundKeys, job: GenJob<'_>) {
                generate::dpf::<$lanes, Xor>(cpu, keys.dpf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn dpf_any(cpu: $token, keys: &RoundKeys, job: GenJob<'_>) {
                generate::dpf_any::<$lanes>(cpu, keys.dpf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn dcf_ring(cpu: $token, keys: &RoundKeys, job: GenJob<'_>) {
                generate::dcf::<$lanes, Ring>(cpu, keys.dcf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn dcf_xor(cpu: $token, keys: &RoundKeys, job: GenJob<'_>) {
                generate::dcf::<$lanes, Xor>(cpu, keys.dcf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn eval_dpf_ring(cpu: $token, keys: &RoundKeys, job: EvalJob<'_>) {
                evaluate::dpf::<$lanes, Ring>(cpu, keys.dpf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn eval_dpf_xor(cpu: $token, keys: &RoundKeys, job: EvalJob<'_>) {
                evaluate::dpf::<$lanes, Xor>(cpu, keys.dpf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn eval_dcf_ring(cpu: $token, keys: &RoundKeys, job: EvalJob<'_>) {
                evaluate::dcf::<$lanes, Ring>(cpu, keys.dcf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn eval_dcf_xor(cpu: $token, keys: &RoundKeys, job: EvalJob<'_>) {
                evaluate::dcf::<$lanes, Xor>(cpu, keys.dcf(), job);
            }

            #[target_feature(enable = $features)]
            pub(super) fn bare(cpu: $token, keys: &RoundKeys, times: u64) -> u64 {
                bare::blocks::<$lanes>(cpu, &keys.seed[0], times)
            }
        }
    };
}

/// What every back end does.
pub(super) trait Kernels: Copy {
    /// Gen of a batch that has a kernel.
    fn generate(self, job: GenJob<'_>);
    /// Eval of a batch that has a kernel.
    fn evaluate(self, job: EvalJob<'_>);
    /// Encrypts blocks in registers, `times` over, and returns how many.
    fn bare(self, times: u64) -> u64;
}

backend! {
    /// Proof of AES-NI, AVX2 and BMI2.
    AesNi, xmm::Xmm, aes_ni, "aes,avx2,bmi2",
    is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
}

backend! {
    /// Proof of VAES, AES-NI, AVX2 and BMI2.
    Vaes256, ymm::Ymm, vaes256, "aes,avx2,bmi2,vaes",
    AesNi::detect().is_some() && is_x86_feature_detected!("vaes")
}

backend! {
    /// Proof of VAES, AES-NI, AVX2, BMI2 and AVX-512 F, BW, DQ and VL.
    Vaes512, zmm::Zmm, vaes512, "aes,avx2,bmi2,vaes,avx512f,avx512bw,avx512dq,avx512vl",
    Vaes256::detect().is_some()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

impl AesNi {
    const fn aes(self) -> Self {
        self
    }
}

impl Vaes256 {
    const fn aes(self) -> AesNi {
        AesNi(())
    }
}

impl Vaes512 {
    const fn aes(self) -> AesNi {
        AesNi(())
    }
}

/// AES-128 round keys of the four fixed keys of a tree. They are public.
struct RoundKeys {
    seed: [[u128; 11]; 2],
    value: [[u128; 11]; 2],
}

impl RoundKeys {
    fn new(_: AesNi, keys: &PrgKeys) -> Self {
        // SAFETY: the token proves AES-NI.
        let expand = |key: &[u8; 16]| unsafe { expand_key(key) };
        Self {
            seed: [expand(&keys.seed_left), expand(&keys.seed_right)],
            value: [expand(&keys.value_left), expand(&keys.value_right)],
        }
    }

    fn dpf(&self) -> [&[u128; 11]; 2] {
        [&self.seed[0], &self.seed[1]]
    }

    fn dcf(&self) -> [&[u128; 11]; 4] {
        [&self.seed[0], &self.value[0], &self.seed[1], &self.value[1]]
    }
}

/// The key schedule of FIPS 197, section 5.2.
#[target_feature(enable = "aes,sse2")]
fn expand_key(key: &[u8; 16]) -> [u128; 11] {
    macro_rules! next {
        ($key:expr, $constant:literal) => {{
            let mut sum = $key;
            sum = _mm_xor_si128(sum, _mm_slli_si128::<4>(sum));
            sum = _mm_xor_si128(sum, _mm_slli_si128::<8>(sum));
            let assist = _mm_aeskeygenassist_si128::<$constant>($key);
            _mm_xor_si128(sum, _mm_shuffle_epi32::<0xFF>(assist))
        }};
    }
    let word = u128::from_le_bytes(*key);
    let k0 = _mm_set_epi64x((word >> 64) as i64, word as i64);
    let k1 = next!(k0, 0x01);
    let k2 = next!(k1, 0x02);
    let k3 = next!(k2, 0x04);
    let k4 = next!(k3, 0x08);
    let k5 = next!(k4, 0x10);
    let k6 = next!(k5, 0x20);
    let k7 = next!(k6, 0x40);
    let k8 = next!(k7, 0x80);
    let k9 = next!(k8, 0x1B);
    let k10 = next!(k9, 0x36);
    [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10].map(|k| {
        let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(k, k)) as u64;
        u128::from(_mm_cvtsi128_si64(k) as u64) | (u128::from(high) << 64)
    })
}
