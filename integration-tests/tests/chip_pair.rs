//! A chip pair over real sockets against the dealer and against the functions themselves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use integration_tests::{End, both, connected_hosts, generate, split};
use kord_core::correlation::CorrelationChunk;
use kord_core::keygen::deterministic;
use kord_core::request::{
    KeyPart, Mask, Origin, Part, Payload, Request, Shares, Sharing, WirePart, WireValue,
};
use kord_core::source::{Collected, Support};
use kord_core::{
    Block, Correlation, CorrelationSource, Group, KeyBatch, KeySource, KeySpec, Predicate, Scheme,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const SCHEMES: [Scheme; 3] = [Scheme::Dpf, Scheme::Dcf(Predicate::Lt), Scheme::Dcf(Predicate::Gt)];

fn pays(scheme: Scheme, alpha: u64, x: u64) -> bool {
    match scheme {
        Scheme::Dpf => x == alpha,
        Scheme::Dcf(Predicate::Lt) => x < alpha,
        _ => x > alpha,
    }
}

/// A random key shape: any scheme, width, group and small arity.
fn random_spec(rng: &mut StdRng) -> KeySpec {
    let bits = rng.random_range(1..=128);
    let group = match rng.random_range(0..4) {
        0 | 1 => Group::ring(bits),
        2 => Group::xor(bits),
        _ => Group::modular(rng.random_range(2..u128::MAX)),
    };
    let scheme = SCHEMES[rng.random_range(0..3)];
    let spec = KeySpec::new(scheme, rng.random_range(1..=64), group.unwrap()).unwrap();
    spec.with_arity(rng.random_range(1..=3)).unwrap()
}

fn roots(keys: &KeyBatch) -> Vec<Block> {
    let stride = keys.spec().key_bytes();
    keys.as_bytes().chunks(stride).map(|k| Block::from_bytes(k[..16].try_into().unwrap())).collect()
}

fn wide(values: &[u64]) -> Vec<u128> {
    values.iter().map(|v| u128::from(*v)).collect()
}

fn narrow(shares: [Vec<u128>; 2]) -> [Vec<u64>; 2] {
    shares.map(|s| s.into_iter().map(|v| v as u64).collect())
}

#[test]
fn a_hundred_thousand_random_keys_are_the_dealers_byte_for_byte() {
    const COUNT: usize = 700;
    let mut rng = StdRng::seed_from_u64(1);
    let [mut host0, mut host1] = connected_hosts();
    let mut batches = 0;
    while batches * COUNT < 100_000 {
        let spec = random_spec(&mut rng);
        let request = Request::keys(COUNT as u64, spec).unwrap();
        let (group, arity) = (spec.group(), spec.arity() as usize);
        let alphas: Vec<u64> = (0..COUNT).map(|_| rng.random::<u64>() & spec.max_alpha()).collect();
        let betas: Vec<u128> = (0..COUNT * arity).map(|_| group.reduce(rng.random())).collect();
        let [masks0, masks1] = narrow(split(&mut rng, request.mask_group(), &wide(&alphas)));
        let [payloads0, payloads1] = split(&mut rng, group, &betas);
        let ends = [
            End { source: &mut host0, masks: masks0, payloads: payloads0 },
            End { source: &mut host1, masks: masks1, payloads: payloads1 },
        ];
        let results = generate(&request, ends);
        let labels = results.each_ref().map(|(label, _)| *label.as_ref().unwrap());
        assert_eq!(labels[0], labels[1]);
        let [keys0, keys1] = results.map(|(_, mut sink)| sink.take_keys(0).unwrap());
        let (roots0, roots1) = (roots(&keys0), roots(&keys1));
        let [dealt0, dealt1] =
            deterministic::generate_from_roots(&spec, &alphas, &betas, [&roots0, &roots1]).unwrap();
        assert_eq!(dealt0.as_bytes(), keys0.as_bytes(), "{spec}");
        assert_eq!(dealt1.as_bytes(), keys1.as_bytes(), "{spec}");
        batches += 1;
    }
    // One flight each way a batch, after the two flights of the session handshake.
    assert_eq!(host0.stats().rounds(), 2 + batches as u64);
}

#[test]
fn whole_small_domains_reconstruct() {
    const COUNT: usize = 16;
    let mut rng = StdRng::seed_from_u64(2);
    let [mut host0, mut host1] = connected_hosts();
    let group = Group::ring(16).unwrap();
    for (scheme, n) in SCHEMES.into_iter().flat_map(|s| (1..=10).map(move |n| (s, n))) {
        let spec = KeySpec::new(scheme, n, group).unwrap();
        let request = Request::keys(COUNT as u64, spec).unwrap();
        let alphas: Vec<u64> = (0..COUNT).map(|_| rng.random::<u64>() & spec.max_alpha()).collect();
        let betas: Vec<u128> = (0..COUNT).map(|_| group.reduce(rng.random())).collect();
        let [masks0, masks1] = narrow(split(&mut rng, request.mask_group(), &wide(&alphas)));
        let [payloads0, payloads1] = split(&mut rng, group, &betas);
        let ends = [
            End { source: &mut host0, masks: masks0, payloads: payloads0 },
            End { source: &mut host1, masks: masks1, payloads: payloads1 },
        ];
        let [y0, y1] = generate(&request, ends).map(|(label, mut sink)| {
            label.unwrap();
            let mut y = vec![Vec::new(); COUNT];
            sink.take_keys(0).unwrap().evaluate_all(|key, _, shares| y[key].extend_from_slice(shares));
            y
        });
        for j in 0..COUNT {
            for x in 0..=spec.max_alpha() {
                let y = group.add(y0[j][x as usize], y1[j][x as usize]);
                let want = if pays(scheme, alphas[j], x) { betas[j] } else { 0 };
                assert_eq!(y, want, "{spec}, alpha {}, x {x}", alphas[j]);
            }
        }
    }
}

#[test]
fn several_parts_over_one_mask_in_every_sharing() {
    const COUNT: usize = 20_000;
    let mut rng = StdRng::seed_from_u64(3);
    let [mut host0, mut host1] = connected_hosts();
    let ring = Group::ring(32).unwrap();
    for sharing in [Sharing::Additive, Sharing::Xor, Sharing::AdditiveModulo(4_294_967_291)] {
        let relu = KeySpec::dcf(32, Predicate::Lt, ring).unwrap().with_arity(2).unwrap();
        let low = KeySpec::dpf(12, ring).unwrap();
        let parts = vec![
            Part::Key(KeyPart { spec: relu, payload: Payload::OneAndMask }),
            Part::Key(KeyPart { spec: low, payload: Payload::One }),
            Part::Wire(WirePart { value: WireValue::Shifted(12), group: ring }),
        ];
        let mask = Mask { bits: 32, sharing, origin: Origin::Given };
        let request = Request::new(COUNT as u64, mask, parts).unwrap();
        let group = request.mask_group();
        let r: Vec<u128> = (0..COUNT).map(|_| group.reduce(rng.random())).collect();
        let [masks0, masks1] = narrow(split(&mut rng, group, &r));
        let ends = [
            End { source: &mut host0, masks: masks0, payloads: Vec::new() },
            End { source: &mut host1, masks: masks1, payloads: Vec::new() },
        ];
        let mut sinks = generate(&request, ends).map(|(label, sink)| {
            label.unwrap();
            sink
        });
        let below: Vec<u64> = r.iter().map(|r| (*r as u64).saturating_sub(1)).collect();
        let at: Vec<u64> = r.iter().map(|r| *r as u64 & 0xfff).collect();
        let mut eval = |part, points: &[u64]| {
            sinks.each_mut().map(|s| s.take_keys(part).unwrap().evaluate(points).unwrap())
        };
        let ([y0, y1], [e0, e1]) = (eval(0, &below), eval(1, &at));
        for j in 0..COUNT {
            let expect = if r[j] == 0 { [0, 0] } else { [1, r[j]] };
            assert_eq!([2 * j, 2 * j + 1].map(|i| ring.add(y0[i], y1[i])), expect);
            assert_eq!(ring.add(e0[j], e1[j]), 1);
            assert_eq!(ring.add(sinks[0].wire(2)[j], sinks[1].wire(2)[j]), r[j] >> 12);
        }
    }
}

#[test]
fn derived_batches_and_correlations_send_no_payload() {
    let group = Group::ring(64).unwrap();
    let spec = KeySpec::dpf(16, group).unwrap();
    let part = Part::Key(KeyPart { spec, payload: Payload::One });
    let request = Request::new(5000, Mask::derived(16), vec![part]).unwrap();
    let kind = Correlation::BeaverTriples(group);
    let [(label0, mut sink0, triples0), (label1, mut sink1, triples1)] =
        both(connected_hosts(), |mut host| {
            let before = host.stats();
            let mut sink = Collected::new(&request, KeySource::party(&host));
            let label = host.generate(&request, Shares::Derived, &mut sink).unwrap();
            let mut triples = Vec::new();
            host.skip(&kind, 3).unwrap();
            let mut collect = |chunk: CorrelationChunk| {
                triples.extend_from_slice(&chunk.shares);
                Ok(())
            };
            let taken = host.take(&kind, 10_000, &mut collect).unwrap();
            assert_eq!((taken.first, host.position(&kind).unwrap()), (3, 10_003));
            let sent = host.stats().since(&before).sent;
            assert_eq!((sent.payload_bytes, sent.frames), (0, 0));
            assert!(sent.wire_bytes < 500, "labels only, but {} bytes", sent.wire_bytes);
            (label, sink, triples)
        });
    assert_eq!(label0, label1);
    let shares = sink0.mask_shares().iter().zip(sink1.mask_shares());
    let alphas: Vec<u64> = shares.map(|(a, b)| (a + b) & 0xffff).collect();
    let y0 = sink0.take_keys(0).unwrap().evaluate(&alphas).unwrap();
    let y1 = sink1.take_keys(0).unwrap().evaluate(&alphas).unwrap();
    assert!(y0.iter().zip(&y1).all(|(a, b)| group.add(*a, *b) == 1));
    let values: Vec<u128> = triples0.iter().zip(&triples1).map(|(a, b)| group.add(*a, *b)).collect();
    assert_eq!(values.len(), 30_000);
    assert!(values.chunks(3).all(|t| t[2] == group.mul(t[0], t[1])));
}

#[test]
fn the_cost_is_told_before_and_met_exactly() {
    let spec = KeySpec::dpf(32, Group::ring(64).unwrap()).unwrap();
    let request = Request::keys(20_000, spec).unwrap();
    both(connected_hosts(), |mut host| {
        let Support::Yes(cost) = host.supports(&request) else { panic!("a plain request is supported") };
        let before = host.stats();
        let shares = Shares::Slices { masks: &[1; 20_000], payloads: &[2; 20_000] };
        host.generate(&request, shares, &mut Collected::new(&request, KeySource::party(&host))).unwrap();
        let used = host.stats().since(&before);
        assert_eq!(cost.payload_bytes, 12 * 20_000);
        assert_eq!(used.sent.payload_bytes, cost.payload_bytes);
        assert_eq!(used.sent.frame_bytes, cost.sent_bytes);
        assert_eq!((used.sent.frames, used.sent.messages), (4, cost.messages));
        assert_eq!((used.rounds(), cost.rounds), (1, 1));
        assert_eq!(used.sent.payload_bytes, used.received.payload_bytes);
    });
}
