//! The interval gate against the plain answer, over the whole domain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::thread;

use kord_cli::interval::{Interval, IntervalError, IntervalGate};
use kord_core::dealer::Dealer;
use kord_core::request::{Mask, Request, Shares};
use kord_core::source::Collected;
use kord_core::{Group, KeyBatch, KeySource, KeySpec, Predicate, keygen};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Keys of both parties for the masks, from a dealer that is given shares of them.
fn keys(gate: &IntervalGate, masks: &[u64], rng: &mut StdRng) -> [KeyBatch; 2] {
    let bits = gate.spec().domain_bits();
    let max = gate.spec().max_alpha();
    let request = Request::new(masks.len() as u64, Mask::given(bits), vec![gate.part()]).unwrap();
    let share0: Vec<u64> = masks.iter().map(|_| rng.random::<u64>() & max).collect();
    let share1: Vec<u64> = masks.iter().zip(&share0).map(|(r, s)| r.wrapping_sub(*s) & max).collect();
    let [end0, end1] = Dealer::pair(rng);
    let run = |mut end: Dealer, masks: &[u64]| {
        let mut sink = Collected::new(&request, KeySource::party(&end));
        end.generate(&request, Shares::Slices { masks, payloads: &[] }, &mut sink).unwrap();
        sink.take_keys(0).unwrap()
    };
    thread::scope(|s| {
        let peer = s.spawn(|| run(end1, &share1));
        [run(end0, &share0), peer.join().unwrap()]
    })
}

fn contains(interval: Interval, x: u64) -> bool {
    let Interval { first, last } = interval;
    if first <= last { (first..=last).contains(&x) } else { x >= first || x <= last }
}

/// Every x under every mask, against plain containment.
fn check_whole_domain(bits: u8, group: Group, intervals: &[Interval]) {
    let mut rng = StdRng::seed_from_u64(u64::from(bits));
    let gate = IntervalGate::new(bits, group, intervals).unwrap();
    let size = 1_u64 << bits;
    let cases: Vec<(u64, u64)> = (0..size).flat_map(|x| (0..size).map(move |r| (x, r))).collect();
    let masks: Vec<u64> = cases.iter().map(|(_, r)| *r).collect();
    let opened: Vec<u64> = cases.iter().map(|(x, r)| (x + r) % size).collect();
    let [y0, y1] = keys(&gate, &masks, &mut rng).map(|keys| gate.evaluate(keys, &opened).unwrap());
    for (case, (y0, y1)) in cases.iter().zip(y0.chunks(intervals.len()).zip(y1.chunks(intervals.len()))) {
        for (i, interval) in intervals.iter().enumerate() {
            let want = u128::from(contains(*interval, case.0));
            assert_eq!(group.add(y0[i], y1[i]), want, "{bits} bits, {group}, {interval:?}, {case:?}");
        }
    }
}

#[test]
fn thresholds_of_a_byte_for_every_value_and_mask() {
    let at_least = |first| Interval { first, last: 255 };
    check_whole_domain(8, Group::xor(1).unwrap(), &[0, 1, 2, 127, 128, 200, 254, 255].map(at_least));
}

#[test]
fn every_interval_of_small_domains_in_every_kind_of_group() {
    for bits in 1..=3 {
        let size = 1_u64 << bits;
        let all: Vec<Interval> =
            (0..size).flat_map(|first| (0..size).map(move |last| Interval { first, last })).collect();
        let groups = [Group::xor(1), Group::ring(1), Group::ring(32), Group::modular(5), Group::xor(128)];
        for group in groups {
            check_whole_domain(bits, group.unwrap(), &all);
        }
    }
}

#[test]
fn the_edges_of_64_bits() {
    let group = Group::ring(64).unwrap();
    let mut rng = StdRng::seed_from_u64(64);
    for threshold in [0, 1, 1 << 63, u64::MAX] {
        let gate = IntervalGate::at_least(64, group, threshold).unwrap();
        let values = [0, 1, threshold.wrapping_sub(1), threshold, threshold.wrapping_add(1), u64::MAX];
        let masks: Vec<u64> = [0, 1, u64::MAX].into_iter().chain((0..3).map(|_| rng.random())).collect();
        let cases: Vec<(u64, u64)> = values.iter().flat_map(|x| masks.iter().map(|r| (*x, *r))).collect();
        let masks: Vec<u64> = cases.iter().map(|(_, r)| *r).collect();
        let opened: Vec<u64> = cases.iter().map(|(x, r)| x.wrapping_add(*r)).collect();
        let [y0, y1] = keys(&gate, &masks, &mut rng).map(|keys| gate.evaluate(keys, &opened).unwrap());
        for (i, (x, r)) in cases.iter().enumerate() {
            assert_eq!(group.add(y0[i], y1[i]), u128::from(*x >= threshold), "{x} + {r}, {threshold}");
        }
    }
}

#[test]
fn what_does_not_fit_the_gate_is_refused_by_name() {
    let bit = Group::xor(1).unwrap();
    assert_eq!(IntervalGate::new(8, bit, &[]), Err(IntervalError::NoIntervals));
    let wide = Interval { first: 0, last: 256 };
    assert_eq!(IntervalGate::new(8, bit, &[wide]), Err(IntervalError::Knot { index: 0, bits: 8 }));
    assert!(matches!(IntervalGate::new(65, bit, &[wide]), Err(IntervalError::Spec(_))));

    let gate = IntervalGate::at_least(8, bit, 3).unwrap();
    let make = |spec: KeySpec| {
        let betas = vec![1; spec.arity() as usize];
        let [keys, _] = keygen::generate(&spec, &[1], &betas, &mut StdRng::seed_from_u64(1)).unwrap();
        keys
    };
    let refusals = [
        (KeySpec::dpf(8, bit).unwrap(), "scheme"),
        (KeySpec::dcf(8, Predicate::Gt, bit).unwrap(), "scheme"),
        (KeySpec::dcf(9, Predicate::Lt, bit).unwrap(), "domain bits"),
        (KeySpec::dcf(8, Predicate::Lt, Group::ring(1).unwrap()).unwrap(), "group"),
        (KeySpec::dcf(8, Predicate::Lt, bit).unwrap().with_arity(2).unwrap(), "arity"),
    ];
    for (spec, field) in refusals {
        assert_eq!(gate.evaluate(make(spec), &[0]), Err(IntervalError::Keys { field }), "{spec}");
    }
    for opened in [&[][..], &[0, 0], &[256]] {
        assert!(matches!(gate.evaluate(make(*gate.spec()), opened), Err(IntervalError::Spec(_))));
    }
}
