//! The demo's protocol and pictures, over a dealer and an in-memory channel.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::thread;

use kord_cli::demo::photo::Photo;
use kord_cli::demo::protocol::{self, OPENING};
use kord_core::channel::{Channel, MemoryChannel};
use kord_core::dealer::Dealer;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tempfile::TempDir;

/// Every pixel value, many times.
fn gradient() -> Photo {
    Photo { width: 256, height: 20, pixels: (0..256 * 20).map(|i| i as u8).collect() }
}

#[test]
fn two_parties_find_the_bright_pixels_in_one_round() {
    let photo = gradient();
    let count = photo.pixels.len();
    let mut rng = StdRng::seed_from_u64(7);
    for threshold in [0, 1, 128, 255] {
        let shares = photo.split(&mut rng);
        let [end0, end1] = Dealer::pair(&mut rng);
        let (channel0, channel1) = MemoryChannel::pair();
        let party = |mut end: Dealer, mut channel: MemoryChannel, share: &[u8]| {
            let gate = protocol::gate(threshold).unwrap();
            let request = protocol::request(&gate, count as u64).unwrap();
            assert_eq!(request.body_bytes(), 1);
            let mut made = 0;
            let keys = protocol::make_keys(&mut end, &request, &mut |n| made += n).unwrap();
            assert_eq!((made, keys.label().count), (count as u64, count as u64));
            let opened = protocol::open(&mut channel, share, &keys).unwrap();
            let online = channel.stats().phase(OPENING);
            assert_eq!((online.rounds(), online.sent.payload_bytes), (1, count as u64));
            (protocol::evaluate(&gate, keys, &opened).unwrap(), opened)
        };
        let [(y0, opened0), (y1, opened1)] = thread::scope(|s| {
            let peer = s.spawn(|| party(end1, channel1, &shares[1]));
            [party(end0, channel0, &shares[0]), peer.join().unwrap()]
        });
        assert_eq!(opened0, opened1);
        let ones = |y: &[u8]| y.iter().filter(|b| **b == 1).count();
        // Either party's answers alone are coin flips, where the answer is not known beforehand.
        let fair = threshold == 0 || (count * 2 / 5..count * 3 / 5).contains(&ones(&y0));
        assert!(fair, "{} of {count}", ones(&y0));
        for (i, x) in photo.pixels.iter().enumerate() {
            assert_eq!(y0[i] ^ y1[i], u8::from(*x >= threshold), "pixel {i}, {x}, {threshold}");
        }
    }
}

#[test]
fn pixels_without_keys_are_refused() {
    let [mut end0, mut end1] = Dealer::pair(&mut StdRng::seed_from_u64(1));
    let gate = protocol::gate(3).unwrap();
    let request = protocol::request(&gate, 4).unwrap();
    assert!(protocol::request(&gate, 0).is_err());
    thread::scope(|s| {
        s.spawn(|| protocol::make_keys(&mut end1, &request, &mut |_| ()).unwrap());
        let keys = protocol::make_keys(&mut end0, &request, &mut |_| ()).unwrap();
        let (mut channel, _peer) = MemoryChannel::pair();
        let error = protocol::open(&mut channel, &[0; 5], &keys).unwrap_err();
        assert_eq!(error.to_string(), "shares of 5 pixels, but 4 keys");
        assert!(protocol::evaluate(&gate, keys, &[0; 3]).is_err());
    });
}

#[test]
fn the_photograph_is_real_splits_and_survives_a_file() {
    let photo = Photo::builtin().unwrap();
    assert_eq!((photo.width, photo.height, photo.pixels.len()), (512, 512, 512 * 512));
    let bright = photo.pixels.iter().filter(|x| **x >= 128).count();
    assert!((50_000..200_000).contains(&bright), "{bright} pixels of at least 128");
    let [s0, s1] = photo.split(&mut StdRng::seed_from_u64(3));
    assert!(photo.pixels.iter().zip(s0.iter().zip(s1.iter())).all(|(x, (a, b))| *x == a.wrapping_add(*b)));
    for share in [&s0, &s1] {
        let mut histogram = [0_u32; 256];
        share.iter().for_each(|x| histogram[usize::from(*x)] += 1);
        // 1,024 each is expected; five standard deviations are 160.
        assert!(histogram.iter().all(|n| (800..1250).contains(n)), "a share is not uniform");
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("share.png");
    let share = photo.with_pixels(s0.to_vec());
    share.save(&path).unwrap();
    assert_eq!(Photo::open(&path).unwrap(), share);
}

#[test]
fn what_is_no_picture_is_refused_with_its_name() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("notes.png");
    assert!(Photo::open(&path).unwrap_err().to_string().contains("notes.png: cannot read it"));
    std::fs::write(&path, "not a picture").unwrap();
    assert!(Photo::open(&path).unwrap_err().to_string().contains("notes.png: give a PNG file"));
    assert!(gradient().save(&dir.path().join("absent/x.png")).is_err());
}
