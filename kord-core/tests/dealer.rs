//! The dealer against the ideal function of every request rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::thread;

use kord_core::correlation::CorrelationChunk;
use kord_core::dealer::Dealer;
use kord_core::request::{
    KeyPart, Mask, Origin, Part, Payload, Request, Shares, Sharing, WirePart, WireValue,
};
use kord_core::source::{Collected, SourceError};
use kord_core::{
    Correlation, CorrelationSource, Group, KeySource, KeySpec, Label, Party, Predicate, RootKey,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What both ends of a pair return for one request.
fn run_pair(
    pair: [Dealer; 2],
    request: &Request,
    masks: &[Vec<u64>; 2],
    payloads: &[Vec<u128>; 2],
) -> [(Result<Label, SourceError>, Collected); 2] {
    let [end0, end1] = pair;
    let run = |mut end: Dealer, masks: &[u64], payloads: &[u128]| {
        let mut sink = Collected::new(request, KeySource::party(&end));
        (end.generate(request, Shares::Slices { masks, payloads }, &mut sink), sink)
    };
    thread::scope(|s| {
        let peer = s.spawn(|| run(end1, &masks[1], &payloads[1]));
        let own = run(end0, &masks[0], &payloads[0]);
        [own, peer.join().unwrap()]
    })
}

fn split(rng: &mut StdRng, group: Group, values: &[u128]) -> [Vec<u128>; 2] {
    let share0: Vec<u128> = values.iter().map(|_| group.reduce(rng.random())).collect();
    let share1 = values.iter().zip(&share0).map(|(v, s)| group.sub(*v, *s)).collect();
    [share0, share1]
}

fn narrow(shares: [Vec<u128>; 2]) -> [Vec<u64>; 2] {
    shares.map(|s| s.into_iter().map(|v| v as u64).collect())
}

fn check_dcf(mut sinks: [Collected; 2], part: usize, alphas: &[u64], betas: &[Vec<u128>]) {
    let [keys0, keys1] = sinks.each_mut().map(|s| s.take_keys(part).unwrap());
    let (spec, group) = (*keys0.spec(), keys0.spec().group());
    let (arity, max) = (spec.arity() as usize, spec.max_alpha());
    let points: Vec<u64> =
        alphas.iter().flat_map(|a| [a.wrapping_sub(1) & max, *a, a.wrapping_add(1) & max, 0, max]).collect();
    let (y0, y1) = (keys0.evaluate(&points).unwrap(), keys1.evaluate(&points).unwrap());
    for (i, x) in points.iter().enumerate() {
        for e in 0..arity {
            let y = group.add(y0[i * arity + e], y1[i * arity + e]);
            let want = if *x < alphas[i / 5] { betas[i / 5][e] } else { 0 };
            assert_eq!(y, want, "{spec} at {x}, alpha {}", alphas[i / 5]);
        }
    }
}

#[test]
fn every_payload_rule_over_every_sharing() {
    let mut rng = StdRng::seed_from_u64(1);
    let ring = Group::ring(32).unwrap();
    let prime = 4_294_967_291; // 2^32 − 5
    for sharing in [Sharing::Additive, Sharing::Xor, Sharing::AdditiveModulo(prime)] {
        let one = KeySpec::dcf(32, Predicate::Lt, ring).unwrap();
        let two = one.with_arity(2).unwrap();
        let low = KeySpec::dcf(12, Predicate::Lt, Group::xor(1).unwrap()).unwrap();
        let key = |spec, payload| Part::Key(KeyPart { spec, payload });
        let parts = vec![
            key(one, Payload::Given),
            key(one, Payload::One),
            key(two, Payload::OneAndMask),
            key(two, Payload::OneAndShifted(12)),
            key(low, Payload::One),
            Part::Wire(WirePart { value: WireValue::Mask, group: Group::ring(64).unwrap() }),
            Part::Wire(WirePart { value: WireValue::Shifted(12), group: ring }),
            key(two, Payload::Given),
        ];
        let mask = Mask { bits: 32, sharing, origin: Origin::Given };
        let count = 700;
        let request = Request::new(count as u64, mask, parts).unwrap();
        let group = request.mask_group();
        let r: Vec<u128> = (0..count).map(|_| group.reduce(rng.random())).collect();
        let betas: Vec<u128> = (0..3 * count).map(|_| ring.reduce(rng.random())).collect();
        let masks = narrow(split(&mut rng, group, &r));
        let payloads = split(&mut rng, ring, &betas);
        let make = || {
            let results =
                run_pair(Dealer::pair_with_root(&RootKey::new([3; 16])), &request, &masks, &payloads);
            let labels = results.each_ref().map(|(label, _)| *label.as_ref().unwrap());
            assert_eq!(labels[0], labels[1]);
            assert_eq!(labels[0].count, count as u64);
            results.map(|(_, sink)| sink)
        };
        let alphas: Vec<u64> = r.iter().map(|r| *r as u64).collect();
        let with = |second: &dyn Fn(u64) -> u128| -> Vec<Vec<u128>> {
            alphas.iter().map(|r| vec![1, second(*r)]).collect()
        };
        check_dcf(make(), 0, &alphas, &betas.chunks(3).map(|b| b[..1].to_vec()).collect::<Vec<_>>());
        check_dcf(make(), 1, &alphas, &vec![vec![1]; count]);
        check_dcf(make(), 2, &alphas, &with(&|r| u128::from(r)));
        check_dcf(make(), 3, &alphas, &with(&|r| u128::from(r >> 12)));
        let low_alphas: Vec<u64> = alphas.iter().map(|r| r & 0xfff).collect();
        check_dcf(make(), 4, &low_alphas, &vec![vec![1]; count]);
        check_dcf(make(), 7, &alphas, &betas.chunks(3).map(|b| b[1..].to_vec()).collect::<Vec<_>>());
        let sinks = make();
        for j in 0..count {
            let lift = sinks[0].wire(5)[j].wrapping_add(sinks[1].wire(5)[j]) as u64;
            assert_eq!(lift, alphas[j]);
            assert_eq!(ring.add(sinks[0].wire(6)[j], sinks[1].wire(6)[j]), r[j] >> 12);
        }
    }
}

#[test]
fn derived_masks_and_payloads_need_no_shares() {
    let spec = KeySpec::dcf(20, Predicate::Lt, Group::modular(1009).unwrap()).unwrap();
    let part = |payload| Part::Key(KeyPart { spec, payload });
    let request =
        Request::new(600, Mask::derived(20), vec![part(Payload::Derived), part(Payload::Derived)]).unwrap();
    assert!(!request.is_exchanged());
    let none = [Vec::new(), Vec::new()];
    let results = run_pair(Dealer::pair(&mut StdRng::seed_from_u64(9)), &request, &none, &[vec![], vec![]]);
    let sinks = results.map(|(label, sink)| {
        label.unwrap();
        sink
    });
    let r: Vec<u64> =
        sinks[0].mask_shares().iter().zip(sinks[1].mask_shares()).map(|(a, b)| (a + b) & 0xf_ffff).collect();
    let betas: Vec<u128> = sinks[0]
        .payload_shares()
        .iter()
        .zip(sinks[1].payload_shares())
        .map(|(a, b)| (a + b) % 1009)
        .collect();
    assert_eq!((r.len(), betas.len()), (600, 1200));
    assert!(r.iter().any(|v| *v != r[0]) && betas[0] != betas[1]);
    let first: Vec<Vec<u128>> = betas.chunks(2).map(|b| vec![b[0]]).collect();
    check_dcf(sinks, 0, &r, &first);
}

#[test]
fn parties_that_ask_for_different_batches_are_told_the_field() {
    let spec = KeySpec::dpf(8, Group::ring(8).unwrap()).unwrap();
    let ours = Request::keys(4, spec).unwrap();
    let theirs = Request::keys(4, KeySpec::dpf(8, Group::ring(16).unwrap()).unwrap()).unwrap();
    let [mut end0, mut end1] = Dealer::pair(&mut StdRng::seed_from_u64(1));
    let shares = || Shares::Slices { masks: &[1; 4], payloads: &[1; 4] };
    thread::scope(|s| {
        let peer = s
            .spawn(|| end1.generate(&theirs, shares(), &mut Collected::new(&theirs, Party::P1)).unwrap_err());
        let own = end0.generate(&ours, shares(), &mut Collected::new(&ours, Party::P0)).unwrap_err();
        for e in [own, peer.join().unwrap()] {
            assert!(e.to_string().contains("disagree on element bits"), "{e}");
        }
    });
}

#[test]
fn shares_of_the_wrong_number_or_domain_are_refused_before_anything_is_sent() {
    let spec = KeySpec::dpf(8, Group::ring(8).unwrap()).unwrap();
    let request = Request::keys(2, spec).unwrap();
    let [mut end0, _end1] = Dealer::pair(&mut StdRng::seed_from_u64(1));
    let mut sink = Collected::new(&request, Party::P0);
    let short = Shares::Slices { masks: &[1], payloads: &[1, 2] };
    let error = end0.generate(&request, short, &mut sink).unwrap_err();
    assert!(matches!(error, SourceError::Shares(_)), "{error:?}");
}

#[test]
fn correlations_hold_in_every_group_and_positions_move_forward_only() {
    let mut rng = StdRng::seed_from_u64(2);
    let groups = [
        Group::ring(1).unwrap(),
        Group::ring(64).unwrap(),
        Group::ring(128).unwrap(),
        Group::xor(1).unwrap(),
        Group::modular((1 << 61) - 1).unwrap(),
    ];
    for group in groups {
        let mut pair = Dealer::pair(&mut rng);
        for kind in [Correlation::BeaverTriples(group), Correlation::SharedBits(group)] {
            let take = |pair: &mut [Dealer; 2], count| {
                pair.each_mut().map(|end| {
                    let mut all = Vec::new();
                    let mut sink = |chunk: CorrelationChunk| {
                        all.extend_from_slice(&chunk.shares);
                        Ok(())
                    };
                    let label = end.take(&kind, count, &mut sink).unwrap();
                    (label, all)
                })
            };
            let [(label0, s0), (label1, s1)] = take(&mut pair, 5000);
            assert_eq!(label0, label1);
            assert_eq!(s0.len(), 5000 * kind.arity());
            let values: Vec<u128> = s0.iter().zip(&s1).map(|(a, b)| group.add(*a, *b)).collect();
            match kind {
                Correlation::BeaverTriples(_) => {
                    for t in values.chunks(3) {
                        assert_eq!(t[2], group.mul(t[0], t[1]));
                    }
                }
                _ => {
                    let ones = values.iter().filter(|v| **v == 1).count();
                    assert!(values.iter().all(|v| *v <= 1));
                    assert!((2200..2800).contains(&ones), "{ones} of 5000 bits set");
                }
            }
            for end in &mut pair {
                assert_eq!(end.position(&kind).unwrap(), 5000);
                end.skip(&kind, 10).unwrap();
                end.resync(&kind, 6000).unwrap();
                assert!(matches!(end.resync(&kind, 5999), Err(SourceError::Backwards { .. })));
            }
            let [(label, _), _] = take(&mut pair, 1);
            assert_eq!(label.first, 6000);
            assert!(matches!(pair[0].skip(&kind, u64::MAX), Err(SourceError::Exhausted { .. })));
        }
    }
}
