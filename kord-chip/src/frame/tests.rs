#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::Party;
use proptest::prelude::*;

use super::*;
use crate::Tier;

const KEY: [u8; 16] = *b"sixteen byte key";
const DESCRIPTORS: [DescriptorBytes; 2] = [[3; 64], [4; 64]];

fn pair(tier: Tier) -> (Sealer, Opener) {
    (Sealer::new(tier, Party::P0, 9, &KEY), Opener::new(tier, Party::P0, 9, &KEY))
}

fn open(opener: &Opener, frame: &[u8]) -> Result<Vec<u8>, FrameError> {
    Ok(opener.open(opener.receive(frame)?, &DESCRIPTORS)?.to_vec())
}

/// Made with Python's `cryptography` 48.0 (AESGCM; AES in CTR mode from block 2).
#[test]
fn known_answers() {
    let body: Vec<u8> = (0..40).collect();
    // Party 0 sends: the direction byte is 2 at tier mac, 0 at tier plain.
    let header = "010009000000000100000000000002000000";
    let (mut sealer, _) = pair(Tier::Mac);
    let mut frame = Vec::new();
    sealer.seal(FrameKind::Keys, 256, 2, &DESCRIPTORS, &body, &mut frame).unwrap();
    assert_eq!(hex::encode(&frame[..20]), format!("0102{header}"));
    assert_eq!(hex::encode(&frame[20..36]), "a4314be39ac28ba3333b01a835d26264");
    assert_eq!(
        hex::encode(&frame[36..]),
        "d5e025c030e45dfb2f314dd33c5d54d46c6b949f3274c03fb1b821e5714c86fd06c2ac6be41e0d70"
    );

    let (mut sealer, _) = pair(Tier::Plain);
    let mut plain = Vec::new();
    sealer.seal(FrameKind::Keys, 256, 2, &DESCRIPTORS, &body, &mut plain).unwrap();
    assert_eq!(hex::encode(&plain[..20]), format!("0100{header}"));
    // The plain tier has the ciphertext of GCM and nothing else.
    assert_eq!(plain[20..], frame[36..]);
}

#[test]
fn plain_keystream_is_that_of_gcm_for_long_bodies() {
    for len in [0, 1, 15, 16, 17, 511, 512, 513, MAX_BODY_BYTES] {
        let body = vec![0x5a; len];
        let (mut mac, _) = pair(Tier::Mac);
        let (mut plain, opener) = pair(Tier::Plain);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        mac.seal(FrameKind::Keys, 1, 1, &DESCRIPTORS, &body, &mut a).unwrap();
        plain.seal(FrameKind::Keys, 1, 1, &DESCRIPTORS, &body, &mut b).unwrap();
        assert_eq!(a.len(), ENVELOPE_BYTES + len);
        assert_eq!(b.len(), HEADER_BYTES + len);
        assert_eq!(a[ENVELOPE_BYTES..], b[HEADER_BYTES..]);
        assert_eq!(open(&opener, &b).unwrap(), body);
    }
}

#[test]
fn round_trip_back_to_back() {
    for tier in [Tier::Mac, Tier::Plain] {
        let (mut sealer, opener) = pair(tier);
        let mut out = Vec::new();
        sealer.seal(FrameKind::Keys, 5, 10, &DESCRIPTORS, b"first", &mut out).unwrap();
        let split = out.len();
        let header = sealer.seal(FrameKind::Keys, 15, 1, &DESCRIPTORS, b"second", &mut out).unwrap();
        assert_eq!(header.end(), 16);
        let received = opener.receive(&out[split..]).unwrap();
        assert_eq!(received.header(), &header);
        assert_eq!(received.body_len(), 6);
        assert_eq!(open(&opener, &out[..split]).unwrap(), b"first");
        assert_eq!(opener.open(received, &DESCRIPTORS).unwrap()[..], *b"second");
    }
}

#[test]
fn control_frames_are_bound_to_the_zero_descriptor() {
    let (mut sealer, opener) = pair(Tier::Mac);
    let mut frame = Vec::new();
    sealer.seal(FrameKind::Resync, 7, 1, &[], &9u64.to_le_bytes(), &mut frame).unwrap();
    let received = opener.receive(&frame).unwrap();
    assert_eq!(received.header().kind(), FrameKind::Resync);
    assert!(matches!(opener.open(received, &DESCRIPTORS), Err(FrameError::Descriptors { .. })));
    let received = opener.receive(&frame).unwrap();
    assert_eq!(opener.open(received, &[]).unwrap()[..], 9u64.to_le_bytes());
    // The same bytes read as keys under a zero descriptor differ in the header's kind.
    frame[2] = FrameKind::Keys.number();
    let received = opener.receive(&frame).unwrap();
    assert!(matches!(opener.open(received, &[[0; 64]]), Err(FrameError::AuthFailed { .. })));
    assert!(matches!(
        sealer.seal(FrameKind::Abandon, 8, 1, &DESCRIPTORS, b"", &mut frame),
        Err(FrameError::Descriptors { .. })
    ));
    assert!(matches!(
        sealer.seal(FrameKind::Abandon, 8, 2, &[], b"", &mut frame),
        Err(FrameError::Field { field: "count", .. })
    ));
}

#[test]
fn every_flipped_byte_is_refused() {
    let (mut sealer, opener) = pair(Tier::Mac);
    let mut frame = Vec::new();
    sealer.seal(FrameKind::Keys, 1000, 3, &DESCRIPTORS, b"alpha and beta", &mut frame).unwrap();
    for at in 0..frame.len() {
        for bit in 0..8 {
            let mut wrong = frame.clone();
            wrong[at] ^= 1 << bit;
            let error = open(&opener, &wrong).unwrap_err();
            let expected = match at {
                0..4 => matches!(error, FrameError::Field { .. } | FrameError::AuthFailed { .. }),
                4..8 => matches!(error, FrameError::OtherSession { open: 9, .. }),
                _ => matches!(error, FrameError::AuthFailed { .. }),
            };
            assert!(expected, "byte {at}, bit {bit}: {error:?}");
        }
    }
    for len in 0..frame.len() {
        assert!(open(&opener, &frame[..len]).is_err(), "truncated to {len}");
    }
    frame.push(0);
    assert!(matches!(open(&opener, &frame), Err(FrameError::AuthFailed { .. })));
    frame.pop();
    // Nothing that failed has changed the opener.
    assert_eq!(open(&opener, &frame).unwrap(), b"alpha and beta");
}

#[test]
fn descriptors_key_and_direction_are_bound() {
    let (mut sealer, opener) = pair(Tier::Mac);
    let mut frame = Vec::new();
    let header = sealer.seal(FrameKind::Keys, 1, 3, &DESCRIPTORS, b"x", &mut frame).unwrap();
    let failed = Err(FrameError::AuthFailed { header });
    for descriptors in [&DESCRIPTORS[..1], &[DESCRIPTORS[1], DESCRIPTORS[0]], &[[3; 64], [5; 64]]] {
        let received = opener.receive(&frame).unwrap();
        assert_eq!(opener.open(received, descriptors).map(|_| ()), failed);
    }
    let other = Opener::new(Tier::Mac, Party::P0, 9, &[1; 16]);
    assert_eq!(open(&other, &frame).map(|_| ()), failed);
    // Reflected to its sender, who expects party 1.
    let own = Opener::new(Tier::Mac, Party::P1, 9, &KEY);
    assert!(matches!(open(&own, &frame), Err(FrameError::Field { field: "direction", .. })));
    let plain = Opener::new(Tier::Plain, Party::P0, 9, &KEY);
    assert!(matches!(open(&plain, &frame), Err(FrameError::Field { field: "tier", .. })));
}

#[test]
fn a_counter_is_sealed_once() {
    let (mut sealer, _) = pair(Tier::Mac);
    let mut out = Vec::new();
    sealer.seal(FrameKind::Keys, 10, 5, &DESCRIPTORS, b"", &mut out).unwrap();
    let len = out.len();
    for first in [0, 10, 14] {
        assert_eq!(
            sealer.seal(FrameKind::Keys, first, 1, &DESCRIPTORS, b"", &mut out),
            Err(FrameError::CounterReused { first, next: 15 })
        );
    }
    assert_eq!(out.len(), len, "a refused frame leaves nothing behind");
    assert!(matches!(
        sealer.seal(FrameKind::Keys, 15, 0, &DESCRIPTORS, b"", &mut out),
        Err(FrameError::Field { field: "count", .. })
    ));
    assert!(matches!(
        sealer.seal(FrameKind::Keys, u64::MAX, 1, &DESCRIPTORS, b"", &mut out),
        Err(FrameError::Field { field: "first counter", .. })
    ));
    assert!(matches!(
        sealer.seal(FrameKind::Keys, 15, 1, &[], b"", &mut out),
        Err(FrameError::Descriptors { .. })
    ));
    assert!(matches!(
        sealer.seal(FrameKind::Keys, 15, 1, &DESCRIPTORS, &vec![0; MAX_BODY_BYTES + 1], &mut out),
        Err(FrameError::Length { .. })
    ));
    sealer.seal(FrameKind::Keys, 15, 1, &DESCRIPTORS, b"", &mut out).unwrap();
    assert_eq!(out.len(), 2 * len);
}

/// What the plain tier gives up: a flipped bit goes through, and so does another descriptor.
#[test]
fn plain_tier_is_malleable() {
    let (mut sealer, opener) = pair(Tier::Plain);
    let mut frame = Vec::new();
    sealer.seal(FrameKind::Keys, 1, 1, &DESCRIPTORS, &[0b1010], &mut frame).unwrap();
    frame[20] ^= 1;
    let received = opener.receive(&frame).unwrap();
    assert_eq!(opener.open(received, &[[0; 64]]).unwrap()[..], [0b1011]);
    assert!(matches!(opener.receive(&frame[..19]), Err(FrameError::Length { .. })));
    assert!(matches!(
        opener.receive(&vec![0; HEADER_BYTES + MAX_BODY_BYTES + 1]),
        Err(FrameError::Length { .. })
    ));
}

#[test]
fn each_header_field_is_checked() {
    let good = Header::new(Tier::Mac, Party::P1, FrameKind::Keys, 1, 2, 3).unwrap().encode();
    assert_eq!(good, [1, 3, 1, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
    let with = |at: usize, value: u8| {
        let mut bytes = good;
        bytes[at] = value;
        Header::parse(&bytes)
    };
    for (at, value, name) in [
        (0, 0, "version"),
        (0, 2, "version"),
        (1, 4, "tier"),
        (1, 255, "tier"),
        (2, 0, "kind"),
        (2, 5, "kind"),
        (3, 1, "flags"),
        (16, 0, "count"),
    ] {
        let error = with(at, value).unwrap_err();
        assert!(matches!(error, FrameError::Field { field, .. } if field == name), "{error}");
    }
    let mut overflow = good;
    overflow[8..16].fill(255);
    assert!(matches!(Header::parse(&overflow), Err(FrameError::Field { field: "first counter", .. })));
    assert!(matches!(Header::parse(&good[..19]), Err(FrameError::Length { have: 19, .. })));
}

proptest! {
    #[test]
    fn header_parser_takes_only_what_it_would_write(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(header) = Header::parse(&bytes) {
            prop_assert_eq!(&header.encode()[..], &bytes[..HEADER_BYTES]);
        }
    }

    /// Mostly valid headers, so that the parser's later checks are reached.
    #[test]
    fn header_round_trip(
        direction in 0u8..6, kind in 0u8..6, flags in 0u8..2,
        session in any::<u32>(), first in any::<u64>(), count in any::<u32>(),
    ) {
        let mut bytes = vec![1, direction, kind, flags];
        bytes.extend(session.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        let valid = direction < 4 && (kind == 1 || (2..5).contains(&kind) && count == 1)
            && flags == 0 && count > 0 && first.checked_add(u64::from(count)).is_some();
        let header = Header::parse(&bytes);
        prop_assert_eq!(header.is_ok(), valid);
        if let Ok(header) = header {
            prop_assert_eq!(&header.encode()[..], &bytes[..]);
        }
    }

    #[test]
    fn opener_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for tier in [Tier::Mac, Tier::Plain] {
            let (_, opener) = pair(tier);
            if let Ok(received) = opener.receive(&bytes) {
                let _ = opener.open(received, &DESCRIPTORS);
            }
        }
    }
}
