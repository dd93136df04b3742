//! Every key of a small domain, at every point: shares reconstruct to the function.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::keygen::{self, deterministic};
use kord_core::{Block, Group, KeyBatch, KeySpec, Party, Predicate, PrgKeys, Scheme};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

const SCHEMES: [Scheme; 3] = [Scheme::Dpf, Scheme::Dcf(Predicate::Lt), Scheme::Dcf(Predicate::Gt)];

fn pays(scheme: Scheme, alpha: u64, x: u64) -> bool {
    match scheme {
        Scheme::Dpf => x == alpha,
        Scheme::Dcf(Predicate::Lt) => x < alpha,
        Scheme::Dcf(Predicate::Gt) => x > alpha,
        _ => panic!("a scheme this test does not know"),
    }
}

fn random_elements(rng: &mut StdRng, group: Group, count: usize) -> Vec<u128> {
    (0..count).map(|_| group.reduce(rng.random())).collect()
}

/// Groups and arities: direct and expanded payloads, odd widths, moduli, strings.
fn payloads() -> Vec<(Group, u32)> {
    vec![
        (Group::ring(1).unwrap(), 1),
        (Group::ring(8).unwrap(), 1),
        (Group::ring(13).unwrap(), 3),
        (Group::ring(64).unwrap(), 1),
        (Group::ring(64).unwrap(), 2),
        (Group::ring(96).unwrap(), 1),
        (Group::ring(97).unwrap(), 1),
        (Group::ring(128).unwrap(), 1),
        (Group::ring(8).unwrap(), 256),
        (Group::xor(1).unwrap(), 1),
        (Group::xor(128).unwrap(), 1),
        (Group::xor(20).unwrap(), 5),
        (Group::modular(3).unwrap(), 1),
        (Group::modular((1 << 61) - 1).unwrap(), 2),
        (Group::modular(u128::MAX).unwrap(), 1),
    ]
}

fn reconstruct(group: Group, y0: &[u128], y1: &[u128]) -> Vec<u128> {
    assert_eq!(y0.len(), y1.len());
    y0.iter().zip(y1).map(|(a, b)| group.add(*a, *b)).collect()
}

fn full_domain(keys: KeyBatch) -> Vec<Vec<u128>> {
    let mut out = vec![Vec::new(); keys.len()];
    let arity = keys.spec().arity() as usize;
    keys.evaluate_all(|key, first, shares| {
        assert_eq!(first as usize, out[key].len() / arity, "points come in order");
        out[key].extend_from_slice(shares);
    });
    out
}

#[test]
fn every_alpha_of_small_domains_reconstructs_everywhere() {
    let mut rng = StdRng::seed_from_u64(1);
    for (group, arity) in payloads() {
        for scheme in SCHEMES {
            for n in [1, 2, 5] {
                let spec = KeySpec::new(scheme, n, group).unwrap().with_arity(arity).unwrap();
                let arity = arity as usize;
                let alphas: Vec<u64> = (0..1 << n).collect();
                let betas = random_elements(&mut rng, group, alphas.len() * arity);
                let [key0, key1] = keygen::generate(&spec, &alphas, &betas, &mut rng).unwrap();
                assert_eq!(key0.as_bytes().len(), alphas.len() * spec.key_bytes());
                let (y0, y1) = (full_domain(key0), full_domain(key1));
                for (j, beta) in betas.chunks_exact(arity).enumerate() {
                    let y = reconstruct(group, &y0[j], &y1[j]);
                    for (x, y) in y.chunks_exact(arity).enumerate() {
                        let zero = vec![0; arity];
                        let want = if pays(scheme, alphas[j], x as u64) { beta } else { &zero[..] };
                        assert_eq!(y, want, "{spec}, alpha {}, x {x}", alphas[j]);
                    }
                }
            }
        }
    }
}

#[test]
fn whole_domain_of_ten_bits_and_points_agree() {
    let mut rng = StdRng::seed_from_u64(2);
    let group = Group::ring(64).unwrap();
    for scheme in SCHEMES {
        for n in 1..=10 {
            let spec = KeySpec::new(scheme, n, group).unwrap();
            let max = spec.max_alpha();
            let mut alphas = vec![0, 1.min(max), max, max / 2];
            alphas.extend((0..40).map(|_| rng.random::<u64>() & max));
            let betas = random_elements(&mut rng, group, alphas.len());
            let [key0, key1] = keygen::generate(&spec, &alphas, &betas, &mut rng).unwrap();
            let [key0, key1] = [key0.into_reusable(), key1.into_reusable()];
            let every: Vec<u64> = alphas.iter().flat_map(|_| 0..=max).collect();
            let points = reconstruct(group, &key0.evaluate(&every).unwrap(), &key1.evaluate(&every).unwrap());
            let mut all = vec![Vec::new(); alphas.len()];
            key0.evaluate_all(|key, _, shares| all[key].extend_from_slice(shares));
            let mut all1 = vec![Vec::new(); alphas.len()];
            key1.evaluate_all(|key, _, shares| all1[key].extend_from_slice(shares));
            let width = max as usize + 1;
            for (j, alpha) in alphas.iter().enumerate() {
                let want: Vec<u128> =
                    (0..=max).map(|x| if pays(scheme, *alpha, x) { betas[j] } else { 0 }).collect();
                assert_eq!(points[j * width..(j + 1) * width], want);
                assert_eq!(reconstruct(group, &all[j], &all1[j]), want);
            }
        }
    }
}

#[test]
fn wide_domains_reconstruct_at_edges_and_random_points() {
    let mut rng = StdRng::seed_from_u64(3);
    for (group, arity) in payloads() {
        for scheme in SCHEMES {
            for n in [16, 31, 32, 33, 63, 64] {
                let spec = KeySpec::new(scheme, n, group).unwrap().with_arity(arity).unwrap();
                let (arity, max) = (arity as usize, spec.max_alpha());
                let alphas = [0, 1, max, max - 1, rng.random::<u64>() & max, rng.random::<u64>() & max];
                let betas = random_elements(&mut rng, group, alphas.len() * arity);
                let mut points = Vec::new();
                for a in alphas {
                    let near = [a.wrapping_sub(1) & max, a, a.wrapping_add(1) & max];
                    points.extend(near);
                    points.extend([0, max, rng.random::<u64>() & max]);
                }
                let [key0, key1] = keygen::generate(&spec, &alphas, &betas, &mut rng).unwrap();
                let y =
                    reconstruct(group, &key0.evaluate(&points).unwrap(), &key1.evaluate(&points).unwrap());
                for (i, (x, y)) in points.iter().zip(y.chunks_exact(arity)).enumerate() {
                    let key = i / 6;
                    let zero = vec![0; arity];
                    let beta = &betas[key * arity..][..arity];
                    let want = if pays(scheme, alphas[key], *x) { beta } else { &zero[..] };
                    assert_eq!(y, want, "{spec}, alpha {}, x {x}", alphas[key]);
                }
            }
        }
    }
}

#[test]
fn same_roots_give_the_same_keys_and_both_parties_share_the_corrections() {
    let mut rng = StdRng::seed_from_u64(4);
    let spec = KeySpec::dpf(20, Group::ring(32).unwrap()).unwrap();
    let mut roots = |n| -> Vec<Block> { (0..n).map(|_| Block::from_u128(rng.random())).collect() };
    let roots = [roots(50), roots(50)];
    let alphas: Vec<u64> = (0..50).map(|i| i * 20_000).collect();
    let betas = vec![7; 50];
    let roots = [&roots[0][..], &roots[1][..]];
    let [a0, a1] = deterministic::generate_from_roots(&spec, &alphas, &betas, roots).unwrap();
    for (party, keys) in Party::BOTH.into_iter().zip([&a0, &a1]) {
        let alone = deterministic::generate_party(&spec, &alphas, &betas, roots, party).unwrap();
        assert_eq!(alone.as_bytes(), keys.as_bytes());
        assert_eq!(keys.party(), party);
        let back = KeyBatch::from_bytes(spec, party, keys.as_bytes().to_vec()).unwrap();
        assert_eq!(back.as_bytes(), keys.as_bytes());
    }
    for (k0, k1) in a0.as_bytes().chunks(spec.key_bytes()).zip(a1.as_bytes().chunks(spec.key_bytes())) {
        assert_eq!(k0[16..], k1[16..]);
        assert_ne!(k0[..16], k1[..16]);
    }
    let other = PrgKeys { seed_left: [9; 16], ..PrgKeys::KORD_V1 };
    let spec = spec.with_prg_keys(other);
    let [b0, _] = deterministic::generate_from_roots(&spec, &alphas, &betas, roots).unwrap();
    assert_ne!(a0.as_bytes(), b0.as_bytes());
}

#[test]
fn arguments_that_describe_no_batch_are_refused_by_name() {
    let mut rng = StdRng::seed_from_u64(5);
    let spec = KeySpec::dcf(8, Predicate::Lt, Group::modular(10).unwrap()).unwrap();
    let mut refuse = |alphas: &[u64], betas: &[u128]| {
        keygen::generate(&spec, alphas, betas, &mut rng).unwrap_err().to_string()
    };
    assert_eq!(refuse(&[1, 256], &[1, 1]), "alpha at index 1 is outside its domain");
    assert_eq!(refuse(&[1, 2], &[1, 10]), "beta at index 1 is outside its domain");
    assert_eq!(refuse(&[1, 2], &[1]), "betas: 1 given, 2 needed");
    let [keys, _] = keygen::generate(&spec, &[1, 2], &[3, 4], &mut rng).unwrap();
    let keys = keys.into_reusable();
    assert_eq!(keys.evaluate(&[1, 2, 3]).unwrap_err().to_string(), "points: 3 given, 4 needed");
    assert_eq!(keys.evaluate(&[1, 999]).unwrap_err().to_string(), "point at index 1 is outside its domain");
    assert!(KeySpec::dpf(0, Group::ring(8).unwrap()).is_err());
    assert!(KeySpec::dpf(65, Group::ring(8).unwrap()).is_err());
    assert!(spec.with_arity(0).is_err());
    assert!(spec.with_arity((1 << 16) + 1).is_err());
}

#[test]
fn malformed_keys_are_refused() {
    let mut rng = StdRng::seed_from_u64(6);
    let spec = KeySpec::dpf(5, Group::modular(10).unwrap()).unwrap();
    let [keys, _] = keygen::generate(&spec, &[1], &[3], &mut rng).unwrap();
    let good = keys.as_bytes().to_vec();
    let decode = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        KeyBatch::from_bytes(spec, Party::P0, bytes).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(decode(&|_| ()), Ok(()));
    assert_eq!(decode(&|b| b[12] |= 1).unwrap_err(), "root seed: clamp bit is set");
    assert_eq!(decode(&|b| b[96] |= 0x20).unwrap_err(), "t_R bits: padding is not zero");
    assert_eq!(decode(&|b| b[97] = 10).unwrap_err(), "payload word: not a group element");
    assert!(decode(&|b| b.push(0)).unwrap_err().contains("native keys"));
    let mut random = vec![0; good.len()];
    for _ in 0..1000 {
        rng.fill_bytes(&mut random);
        let _ = KeyBatch::from_bytes(spec, Party::P1, random.clone());
    }
}
