//! Keys in other libraries' formats: they reconstruct, survive their encoding and convert.
//! That they are bit-exact is for the vectors to say.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::format::llama_gpumpc::{DcfSpec, DpfSpec, EarlyDpfSpec};
use kord_core::format::myl7::{Output, Prg, Spec};
use kord_core::format::{self, KeyFormat, Keys, llama_fss};
use kord_core::{Group, Predicate, Scheme};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const LT: Scheme = Scheme::Dcf(Predicate::Lt);
const GT: Scheme = Scheme::Dcf(Predicate::Gt);
const MMO: Prg = Prg::Aes128Mmo([[1; 16], [2; 16], [3; 16], [4; 16]]);
const CHACHA: Prg = Prg::ChaCha20([5; 8]);

fn outputs() -> Vec<Output> {
    let mut all = vec![Output::BYTES];
    let uints = [
        (8, 0),
        (8, 2),
        (8, 200),
        (16, 0),
        (32, 1 << 13),
        (64, 0),
        (64, (1 << 61) - 1),
        (64, (1 << 64) - 59),
        (128, 1 << 127),
        (128, (1 << 127) - 1),
        (128, 5),
    ];
    all.extend(uints.map(|(bits, modulus)| Output::uint(bits, modulus).unwrap()));
    all
}

fn pays(scheme: Scheme, alpha: u128, x: u128) -> bool {
    match scheme {
        Scheme::Dpf => x == alpha,
        LT => x < alpha,
        _ => x > alpha,
    }
}

/// A random element: clears the clamp bit of `Bytes` too.
fn element<F: KeyFormat>(format: &F, rng: &mut StdRng) -> u128 {
    let value = format.group().reduce(rng.random());
    if format.group().bits() == 128 { value & !(1 << 96) } else { value }
}

fn add(group: Group, y0: &[u128], y1: &[u128]) -> Vec<u128> {
    assert_eq!(y0.len(), y1.len());
    y0.iter().zip(y1).map(|(a, b)| group.add(*a, *b)).collect()
}

/// Makes keys, sends them through their encoding, and checks every alpha of small domains
/// (40 of larger ones) at every x, point by point and all at once.
fn check_everywhere<F: KeyFormat>(format: F, scheme: Scheme, rng: &mut StdRng) {
    let (group, arity, max) = (format.group(), format.arity() as usize, format.max_alpha());
    let alphas: Vec<u128> = match max {
        ..64 => (0..=max).collect(),
        _ => [0, 1, max - 1, max].into_iter().chain((0..36).map(|_| rng.random::<u128>() & max)).collect(),
    };
    let betas: Vec<u128> =
        (0..alphas.len() * format.beta_elements() as usize).map(|_| element(&format, rng)).collect();
    let pair = format::generate(&format, &alphas, &betas, rng).unwrap();
    let [key0, key1] = pair.map(|keys| {
        let bytes = keys.encode();
        assert_eq!(bytes.len(), alphas.len() * format.key_bytes());
        let back = Keys::decode(format, keys.party(), &bytes).unwrap();
        assert_eq!(back.encode(), bytes);
        back.into_reusable()
    });
    let every: Vec<u128> = alphas.iter().flat_map(|_| 0..=max).collect();
    let points = add(group, &key0.evaluate(&every).unwrap(), &key1.evaluate(&every).unwrap());
    let mut all = vec![vec![Vec::new(); alphas.len()]; 2];
    for (all, keys) in all.iter_mut().zip([&key0, &key1]) {
        keys.evaluate_all(|key, first, shares| {
            assert_eq!(first as usize, all[key].len() / arity, "points come in order");
            all[key].extend_from_slice(shares);
        })
        .unwrap();
    }
    let width = (max as usize + 1) * arity;
    for (j, alpha) in alphas.iter().enumerate() {
        let beta = if betas.is_empty() { &[1][..] } else { &betas[j * arity..][..arity] };
        let zero = vec![0; arity];
        let want: Vec<u128> =
            (0..=max).flat_map(|x| if pays(scheme, *alpha, x) { beta } else { &zero }.to_vec()).collect();
        assert_eq!(points[j * width..][..width], want, "{format:?}, alpha {alpha}");
        assert_eq!(add(group, &all[0][j], &all[1][j]), want, "{format:?}, alpha {alpha}");
    }
}

#[test]
fn myl7_keys_reconstruct_everywhere() {
    let mut rng = StdRng::seed_from_u64(1);
    for output in outputs() {
        for scheme in [Scheme::Dpf, LT, GT] {
            for prg in [MMO, CHACHA] {
                for n in [1, 2, 5] {
                    check_everywhere(Spec::new(scheme, n, output, prg).unwrap(), scheme, &mut rng);
                }
            }
        }
    }
    check_everywhere(Spec::new(GT, 10, Output::BYTES, MMO).unwrap(), GT, &mut rng);
}

#[test]
fn llama_keys_reconstruct_everywhere() {
    let mut rng = StdRng::seed_from_u64(2);
    for bits in [1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 64] {
        for n in [1, 2, 5] {
            for group_size in [1, 2, 3, 17] {
                let spec = llama_fss::DcfSpec::new(n, bits, group_size).unwrap();
                check_everywhere(spec, LT, &mut rng);
            }
            check_everywhere(DcfSpec::new(n, bits).unwrap(), LT, &mut rng);
            check_everywhere(DpfSpec::new(n, bits).unwrap(), Scheme::Dpf, &mut rng);
        }
    }
    check_everywhere(llama_fss::DcfSpec::new(10, 32, 1).unwrap(), LT, &mut rng);
    check_everywhere(DcfSpec::new(10, 32).unwrap(), LT, &mut rng);
    check_everywhere(DpfSpec::new(10, 32).unwrap(), Scheme::Dpf, &mut rng);
    for n in [8, 9, 10] {
        check_everywhere(EarlyDpfSpec::new(n).unwrap(), Scheme::Dpf, &mut rng);
    }
}

#[test]
fn control_bits_compare_everywhere() {
    let mut rng = StdRng::seed_from_u64(3);
    for n in [1, 2, 5, 8] {
        let spec = DpfSpec::new(n, 1).unwrap();
        let alphas: Vec<u128> = (0..1 << n).collect();
        let [key0, key1] = format::generate(&spec, &alphas, &vec![0; alphas.len()], &mut rng).unwrap();
        let [key0, key1] = [key0.into_reusable(), key1.into_reusable()];
        let every: Vec<u128> = alphas.iter().flat_map(|_| 0..1 << n).collect();
        let eq = add(spec.group(), &key0.evaluate_eq(&every).unwrap(), &key1.evaluate_eq(&every).unwrap());
        let gt = add(spec.group(), &key0.evaluate_gt(&every).unwrap(), &key1.evaluate_gt(&every).unwrap());
        let lt = add(spec.group(), &key0.evaluate_lt(&every).unwrap(), &key1.evaluate_lt(&every).unwrap());
        for (i, x) in every.iter().enumerate() {
            let alpha = alphas[i >> n];
            let want = [*x == alpha, *x > alpha, *x < alpha].map(u128::from);
            assert_eq!([eq[i], gt[i], lt[i]], want, "n {n}, alpha {alpha}, x {x}");
        }
    }
}

#[test]
fn early_terminated_keys_compare_everywhere() {
    let mut rng = StdRng::seed_from_u64(4);
    for n in [8, 9, 10] {
        let spec = EarlyDpfSpec::new(n).unwrap();
        let alphas: Vec<u128> = (0..1 << n).step_by(if n == 8 { 1 } else { 37 }).collect();
        let [key0, key1] = format::generate(&spec, &alphas, &[], &mut rng).unwrap();
        let every: Vec<u128> = alphas.iter().flat_map(|_| 0..1 << n).collect();
        let lt = add(spec.group(), &key0.evaluate_lt(&every).unwrap(), &key1.evaluate_lt(&every).unwrap());
        for (i, x) in every.iter().enumerate() {
            assert_eq!(lt[i], u128::from(*x < alphas[i >> n]), "n {n}, alpha {}, x {x}", alphas[i >> n]);
        }
    }
}

#[test]
fn a_shift_moves_every_share_around() {
    let mut rng = StdRng::seed_from_u64(5);
    for n in [1, 5, 11] {
        let spec = DpfSpec::new(n, 32).unwrap();
        let size = 1_usize << n;
        let [key0, _] = format::generate(&spec, &[1, 0], &[7, 8], &mut rng).unwrap();
        let key0 = key0.into_reusable();
        let mut plain = vec![Vec::new(); 2];
        key0.evaluate_all(|key, _, shares| plain[key].extend_from_slice(shares)).unwrap();
        for shift in [0, 1, size / 2, size - 1] {
            let mut moved = vec![vec![None; size]; 2];
            key0.evaluate_all_shifted(shift as u64, |key, first, shares| {
                for (slot, share) in moved[key][first as usize..].iter_mut().zip(shares) {
                    assert_eq!(slot.replace(*share), None);
                }
            })
            .unwrap();
            for (plain, moved) in plain.iter().zip(&moved) {
                for x in 0..size {
                    assert_eq!(moved[(x + shift) % size], Some(plain[x]), "n {n}, shift {shift}, x {x}");
                }
            }
        }
        let out = key0.evaluate_all_shifted(1 << n, |_, _, _| ()).unwrap_err();
        assert_eq!(out.to_string(), "shift at index 0 is outside its domain");
    }
}

fn check_wide<F: KeyFormat>(format: F, scheme: Scheme, rng: &mut StdRng) {
    let max = format.max_alpha();
    let alphas = [0, 1, max, max - 1, rng.random::<u128>() & max, rng.random::<u128>() & max];
    let betas: Vec<u128> =
        (0..alphas.len() * format.beta_elements() as usize).map(|_| element(&format, rng)).collect();
    let mut points = Vec::new();
    for a in alphas {
        points.extend([a.wrapping_sub(1) & max, a, a.wrapping_add(1) & max, 0, max]);
        points.push(rng.random::<u128>() & max);
    }
    let [key0, key1] = format::generate(&format, &alphas, &betas, rng).unwrap();
    let arity = format.arity() as usize;
    let y = add(format.group(), &key0.evaluate(&points).unwrap(), &key1.evaluate(&points).unwrap());
    for (i, (x, y)) in points.iter().zip(y.chunks_exact(arity)).enumerate() {
        let zero = vec![0; arity];
        let beta = if betas.is_empty() { &[1][..] } else { &betas[i / 6 * arity..][..arity] };
        let want = if pays(scheme, alphas[i / 6], *x) { beta } else { &zero };
        assert_eq!(y, want, "{format:?}, alpha {}, x {x}", alphas[i / 6]);
    }
}

#[test]
fn wide_domains_reconstruct_at_edges_and_random_points() {
    let mut rng = StdRng::seed_from_u64(6);
    for scheme in [Scheme::Dpf, LT, GT] {
        for n in [63, 64, 65, 127, 128] {
            for output in outputs() {
                check_wide(Spec::new(scheme, n, output, MMO).unwrap(), scheme, &mut rng);
            }
        }
    }
    for n in [31, 63, 64] {
        check_wide(llama_fss::DcfSpec::new(n, 37, 4).unwrap(), LT, &mut rng);
        check_wide(DcfSpec::new(n, 37).unwrap(), LT, &mut rng);
        check_wide(DpfSpec::new(n, 37).unwrap(), Scheme::Dpf, &mut rng);
        check_wide(EarlyDpfSpec::new(n).unwrap(), Scheme::Dpf, &mut rng);
    }
}

/// The flaw that the docs warn of is the library's, so it has to be here too.
#[test]
fn a_gpumpc_dpf_key_tells_beta_modulo_two() {
    let mut rng = StdRng::seed_from_u64(7);
    let spec = DpfSpec::new(8, 64).unwrap();
    for beta in 0..50 {
        let [key0, _] = format::generate(&spec, &[200], &[beta], &mut rng).unwrap();
        let wire = key0.encode();
        assert_eq!(u128::from(wire[16 * 9 + 2] & 1), beta & 1);
    }
}
