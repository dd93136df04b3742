//! Two software chips, driven by hand: no host, no sockets.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use kord_core::keygen::deterministic;
use kord_core::request::{KeyPart, Mask, Part, Payload, ShareChunk};
use kord_core::source::{KeyChunk, PartOutput};
use kord_core::{Block, Correlation, Group, KeyBatch, KeySpec, Party, Predicate, Request};
use zeroize::Zeroizing;

use super::SoftChip;
use crate::chip::{Chip, Job, Output, PairStep, Submission};
use crate::error::ChipError;
use crate::frame::FrameError;
use crate::lifecycle::Lifecycle;
use crate::tier::Tier;

/// Relays handshake messages between two chips until both are done.
fn handshake(chips: &mut [SoftChip; 2], start: PairStep<'static>) -> Result<(), ChipError> {
    let pairing = start == PairStep::StartPairing;
    let mut done = [false; 2];
    chips[1].pair(start)?;
    let first = chips[0].pair(start)?;
    let mut message = first.message;
    let mut to = 1;
    while let Some(bytes) = message.take() {
        let step = if pairing { PairStep::PairingMessage(&bytes) } else { PairStep::SessionMessage(&bytes) };
        let reply = chips[to].pair(step)?;
        done[to] |= reply.done;
        message = reply.message;
        to = 1 - to;
    }
    // Party 0 is done when it sends the last session message, party 1 when it sends the last
    // pairing message.
    assert!(done[0] && done[1]);
    Ok(())
}

fn paired() -> [SoftChip; 2] {
    let mut chips = SoftChip::development_pair().unwrap();
    handshake(&mut chips, PairStep::StartPairing).unwrap();
    chips
}

fn active(tier: Tier) -> [SoftChip; 2] {
    let mut chips = paired();
    handshake(&mut chips, PairStep::StartSession(tier)).unwrap();
    chips
}

fn spec() -> KeySpec {
    KeySpec::dcf(16, Predicate::Lt, Group::ring(32).unwrap()).unwrap()
}

fn request(count: u64) -> Arc<Request> {
    Arc::new(Request::keys(count, spec()).unwrap())
}

/// Shares (alpha = 300 + 40, beta = 5 + 6) of `count` elements.
fn shares(party: Party, count: usize) -> ShareChunk {
    let (mask, payload) = match party {
        Party::P0 => (300, 5),
        Party::P1 => (40, 6),
    };
    ShareChunk { masks: Zeroizing::new(vec![mask; count]), payloads: Zeroizing::new(vec![payload; count]) }
}

fn submit(chip: &mut SoftChip, job: &Job, count: u64) -> Submission {
    let party = chip.party();
    chip.submit(job, count, shares(party, count as usize)).unwrap()
}

fn drain_keys(chip: &mut SoftChip) -> Vec<KeyChunk> {
    let mut chunks = Vec::new();
    while let Some(output) = chip.drain().unwrap() {
        match output {
            Output::Keys(chunk) => chunks.push(chunk),
            Output::Correlations(_) => panic!("correlations where keys were asked"),
        }
    }
    chunks
}

fn key_bytes(chunks: &[KeyChunk]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in chunks {
        for output in &chunk.outputs {
            match output {
                PartOutput::Keys(keys) => bytes.extend_from_slice(keys.as_bytes()),
                PartOutput::Wire(_) => panic!("a wire where keys were asked"),
            }
        }
    }
    bytes
}

/// One exchanged batch: both chips' keys.
fn batch(chips: &mut [SoftChip; 2], job: &Job, count: u64) -> [Vec<u8>; 2] {
    let [s0, s1] = chips.each_mut().map(|chip| submit(chip, job, count));
    assert_eq!(s0.label, s1.label);
    chips[0].deliver(&s1.frame.unwrap()).unwrap();
    chips[1].deliver(&s0.frame.unwrap()).unwrap();
    chips.each_mut().map(|chip| {
        let chunks = drain_keys(chip);
        assert_eq!(chunks.iter().map(|c| c.label.count).sum::<u64>(), count);
        key_bytes(&chunks)
    })
}

#[test]
fn lifecycle_follows_the_operations() {
    let mut chips = SoftChip::development_pair().unwrap();
    assert_eq!(chips[0].lifecycle(), Lifecycle::Provisioned);
    assert!(matches!(chips[0].pair(PairStep::StartSession(Tier::Mac)), Err(ChipError::NotPaired)));
    handshake(&mut chips, PairStep::StartPairing).unwrap();
    assert_eq!(chips[0].lifecycle(), Lifecycle::Paired);
    assert_eq!(chips[0].pairing_id(), chips[1].pairing_id());
    assert!(chips[0].pairing_id().is_some());
    let job = Job::Keys(request(1));
    let refused = chips[0].submit(&job, 1, shares(Party::P0, 1)).unwrap_err();
    assert!(matches!(refused, ChipError::NoSession));
    handshake(&mut chips, PairStep::StartSession(Tier::Mac)).unwrap();
    assert_eq!(chips[0].lifecycle(), Lifecycle::Active);
    chips[0].pair(PairStep::Revoke).unwrap();
    assert_eq!(chips[0].lifecycle(), Lifecycle::Revoked);
    assert_eq!(chips[0].pairing_id(), None);
    assert!(matches!(chips[0].drain(), Err(ChipError::NoSession)));
    let before = chips[1].pairing_id();
    handshake(&mut chips, PairStep::StartPairing).unwrap();
    assert_ne!(chips[1].pairing_id(), before);
}

#[test]
fn both_chips_emit_the_two_halves_of_the_dealers_keys() {
    for tier in [Tier::Mac, Tier::Plain] {
        // The development policy pairs at tier mac, so a plain session is refused by name.
        if tier == Tier::Plain {
            let refused = handshake(&mut paired(), PairStep::StartSession(tier)).unwrap_err();
            assert!(matches!(refused, ChipError::Session { .. }), "{refused:?}");
            continue;
        }
        let mut chips = active(tier);
        let [bytes0, bytes1] = batch(&mut chips, &Job::Keys(request(3000)), 3000);
        let spec = spec();
        let root = |bytes: &[u8]| -> Vec<Block> {
            bytes.chunks(spec.key_bytes()).map(|k| Block::from_bytes(k[..16].try_into().unwrap())).collect()
        };
        let roots = [&root(&bytes0)[..], &root(&bytes1)[..]];
        let dealt = deterministic::generate_from_roots(&spec, &[340; 3000], &[11; 3000], roots).unwrap();
        assert_eq!(dealt[0].as_bytes(), bytes0);
        assert_eq!(dealt[1].as_bytes(), bytes1);
    }
}

#[test]
fn sessions_and_counters_give_unrelated_roots() {
    let mut chips = active(Tier::Mac);
    let job = Job::Keys(request(4));
    let [first, _] = batch(&mut chips, &job, 4);
    let [second, _] = batch(&mut chips, &job, 4);
    handshake(&mut chips, PairStep::StartSession(Tier::Mac)).unwrap();
    let [third, _] = batch(&mut chips, &job, 4);
    let mut roots: Vec<&[u8]> = [&first, &second, &third]
        .iter()
        .flat_map(|b| b.chunks(spec().key_bytes()).map(|k| &k[..16]))
        .collect();
    roots.sort_unstable();
    roots.dedup();
    assert_eq!(roots.len(), 12);
}

#[test]
fn frames_that_are_not_due_change_nothing() {
    let mut chips = active(Tier::Mac);
    let job = Job::Keys(request(2));
    let [a0, a1] = chips.each_mut().map(|chip| submit(chip, &job, 2));
    let [b0, b1] = chips.each_mut().map(|chip| submit(chip, &job, 2));
    let (a0, a1, b0, b1) = (a0.frame.unwrap(), a1.frame.unwrap(), b0.frame.unwrap(), b1.frame.unwrap());
    // Out of order, reflected, flipped, truncated, extended, empty.
    assert!(matches!(chips[0].deliver(&b1), Err(ChipError::NotPending { expected: Some(0), .. })));
    assert!(matches!(chips[0].deliver(&a0), Err(ChipError::Frame(FrameError::Field { .. }))));
    for byte in 0..a1.len() {
        let mut flipped = a1.clone();
        flipped[byte] ^= 1;
        assert!(chips[0].deliver(&flipped).is_err(), "byte {byte}");
    }
    for wrong in [&a1[..a1.len() - 1], &[&a1[..], &[0]].concat(), &[], &a1[..20]] {
        assert!(chips[0].deliver(wrong).is_err());
    }
    assert!(chips[0].drain().unwrap().is_none());
    chips[0].deliver(&a1).unwrap();
    // Repeated.
    assert!(matches!(chips[0].deliver(&a1), Err(ChipError::NotPending { expected: Some(2), .. })));
    chips[0].deliver(&b1).unwrap();
    assert!(matches!(chips[0].deliver(&b1), Err(ChipError::NotPending { expected: None, .. })));
    chips[1].deliver(&a0).unwrap();
    chips[1].deliver(&b0).unwrap();
    let keys: Vec<KeyBatch> = chips
        .iter_mut()
        .map(|chip| {
            let party = chip.party();
            KeyBatch::from_bytes(spec(), party, key_bytes(&drain_keys(chip))).unwrap()
        })
        .collect();
    let points = [339, 340, 0, 65_535];
    let shares: Vec<Vec<u128>> = keys.into_iter().map(|k| k.evaluate(&points).unwrap()).collect();
    let group = Group::ring(32).unwrap();
    let y: Vec<u128> = shares[0].iter().zip(&shares[1]).map(|(a, b)| group.add(*a, *b)).collect();
    assert_eq!(y, [11, 0, 11, 0]);
}

#[test]
fn a_frame_for_another_descriptor_or_session_is_refused() {
    let mut chips = active(Tier::Mac);
    let ours = Job::Keys(request(2));
    let other = KeySpec::dcf(16, Predicate::Gt, Group::ring(32).unwrap()).unwrap();
    let theirs = Job::Keys(Arc::new(Request::keys(2, other).unwrap()));
    submit(&mut chips[0], &ours, 2);
    let frame = submit(&mut chips[1], &theirs, 2).frame.unwrap();
    let refused = chips[0].deliver(&frame).unwrap_err();
    assert!(matches!(refused, ChipError::Frame(FrameError::AuthFailed { .. })), "{refused:?}");

    let stale = submit(&mut chips[1], &ours, 2).frame.unwrap();
    handshake(&mut chips, PairStep::StartSession(Tier::Mac)).unwrap();
    submit(&mut chips[0], &ours, 2);
    let refused = chips[0].deliver(&stale).unwrap_err();
    assert!(matches!(refused, ChipError::Frame(FrameError::OtherSession { .. })), "{refused:?}");
    // The new session starts above every counter of the old one.
    let label = submit(&mut chips[1], &ours, 2).label;
    assert!(label.first >= 4, "{label:?}");
}

#[test]
fn what_a_chip_cannot_do_is_refused_by_name() {
    let mut chips = active(Tier::Mac);
    let job = Job::Keys(request(1 << 20));
    let most = crate::chip::frame_elements(&request(1));
    let too_long = chips[0].submit(&job, most + 1, shares(Party::P0, most as usize + 1)).unwrap_err();
    assert!(matches!(too_long, ChipError::FrameTooLong { .. }));
    assert!(matches!(chips[0].submit(&job, 0, ShareChunk::default()), Err(ChipError::FrameTooLong { .. })));
    let wrong = chips[0].submit(&job, 2, shares(Party::P0, 3)).unwrap_err();
    assert!(matches!(wrong, ChipError::Shares(_)));
    let window = chips[0].capabilities().window;
    for _ in 0..window {
        submit(&mut chips[0], &job, 1);
    }
    let busy = chips[0].submit(&job, 1, shares(Party::P0, 1)).unwrap_err();
    assert!(matches!(busy, ChipError::Busy { waiting } if waiting == window));
    // Nothing that was refused consumed a counter.
    let label = submit(&mut chips[1], &job, 1).label;
    assert_eq!(label.first, 0);
}

#[test]
fn derived_requests_and_correlations_need_no_frame_and_agree() {
    let mut chips = active(Tier::Mac);
    let part = Part::Key(KeyPart { spec: spec(), payload: Payload::One });
    let derived = Arc::new(Request::new(10, Mask::derived(16), vec![part]).unwrap());
    let job = Job::Keys(derived);
    let keys = chips.each_mut().map(|chip| {
        let submission = chip.submit(&job, 10, ShareChunk::default()).unwrap();
        assert!(submission.frame.is_none());
        let chunks = drain_keys(chip);
        (chunks[0].mask_shares.to_vec(), key_bytes(&chunks))
    });
    let [(mask0, key0), (mask1, key1)] = keys;
    let alphas: Vec<u64> = mask0.iter().zip(&mask1).map(|(a, b)| (a + b) & 0xffff).collect();
    let keys0 = KeyBatch::from_bytes(spec(), Party::P0, key0).unwrap().into_reusable();
    let keys1 = KeyBatch::from_bytes(spec(), Party::P1, key1).unwrap().into_reusable();
    for (points, want) in [(alphas.clone(), 0), (alphas.iter().map(|a| a.saturating_sub(1)).collect(), 1)] {
        let (y0, y1) = (keys0.evaluate(&points).unwrap(), keys1.evaluate(&points).unwrap());
        for j in 0..10 {
            let want = if alphas[j] == 0 { 0 } else { want };
            assert_eq!((y0[j] + y1[j]) & 0xffff_ffff, want);
        }
    }

    let group = Group::ring(64).unwrap();
    let kind = Correlation::BeaverTriples(group);
    let triples = chips.each_mut().map(|chip| {
        assert_eq!(chip.position(kind.stream()).unwrap(), 0);
        chip.submit(&Job::Skip { stream: kind.stream() }, 7, ShareChunk::default()).unwrap();
        let label = chip.submit(&Job::Correlations(kind), 5, ShareChunk::default()).unwrap().label;
        assert_eq!((label.first, chip.position(kind.stream()).unwrap()), (7, 12));
        match chip.drain().unwrap() {
            Some(Output::Correlations(chunk)) => chunk.shares.to_vec(),
            _ => panic!("correlations were asked"),
        }
    });
    let values: Vec<u128> = triples[0].iter().zip(&triples[1]).map(|(a, b)| group.add(*a, *b)).collect();
    for t in values.chunks(3) {
        assert_eq!(t[2], group.mul(t[0], t[1]));
    }
}

/// The root seeds in a batch's keys. Two keys with one root and different alphas give both alphas
/// away, so whether roots repeat is what an attacker asks.
fn roots(bytes: &[u8]) -> Vec<[u8; 16]> {
    bytes.chunks(spec().key_bytes()).map(|key| key[..16].try_into().unwrap()).collect()
}

#[test]
fn a_restored_store_and_a_replayed_frame_give_unrelated_keys() {
    // Party 0's host copies its chip's store, makes a batch, and records party 1's frame.
    let mut chips = paired();
    handshake(&mut chips, PairStep::StartSession(Tier::Mac)).unwrap();
    let job = Job::Keys(request(3));
    let recorded = submit(&mut chips[1], &job, 3).frame.unwrap();
    let honest = submit(&mut chips[0], &job, 3);
    chips[0].deliver(&recorded).unwrap();
    let first = key_bytes(&drain_keys(&mut chips[0]));

    // It restores the store: same pairing secret, same counters, a session of its own making
    // with the same number. Party 1's chip takes no part, so the session's other half is forged.
    let copy = chips[0].store.pairing().unwrap().unwrap();
    let mut restored = SoftChip::development_pair().unwrap();
    for chip in &mut restored {
        chip.store.set_pairing(&copy).unwrap();
        chip.pairing = chip.store.pairing().unwrap();
    }
    handshake(&mut restored, PairStep::StartSession(Tier::Mac)).unwrap();
    let again = restored[0].submit(&job, 3, {
        let mut other = shares(Party::P0, 3);
        other.masks.iter_mut().for_each(|mask| *mask += 1);
        other
    });
    // Same session number and counter as the recorded frame, other working keys: the recorded
    // frame does not open, and roots do not repeat.
    assert_eq!(again.unwrap().label, honest.label);
    let refused = restored[0].deliver(&recorded).unwrap_err();
    assert!(matches!(refused, ChipError::Frame(FrameError::AuthFailed { .. })), "{refused:?}");
    let forged = submit(&mut restored[1], &job, 3).frame.unwrap();
    restored[0].deliver(&forged).unwrap();
    let second = key_bytes(&drain_keys(&mut restored[0]));
    for (a, b) in roots(&first).iter().zip(roots(&second)) {
        assert_ne!(*a, b);
    }
}
