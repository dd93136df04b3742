//! Emulated latency and bandwidth. Lower bounds are what is promised; upper bounds are loose,
//! because the machine may be busy.

use std::time::Instant;

use super::*;

fn pair(link: Link) -> (Delayed<MemoryChannel>, Delayed<MemoryChannel>) {
    let (a, b) = MemoryChannel::pair();
    (Delayed::new(a, link), Delayed::new(b, link))
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

const fn latency(rtt_ms: u64) -> Link {
    Link { rtt: Duration::from_millis(rtt_ms), bits_per_second: None }
}

#[test]
fn request_and_reply_take_a_round_trip() {
    let (mut a, mut b) = pair(latency(40));
    let elapsed = timed(|| {
        a.send(b"request").unwrap();
        b.recv().unwrap();
        b.send(b"reply").unwrap();
        a.recv().unwrap();
    });
    assert!(elapsed >= Duration::from_millis(39), "{elapsed:?}");
}

#[test]
fn simultaneous_messages_take_half_a_round_trip() {
    let (mut a, mut b) = pair(latency(200));
    let elapsed = timed(|| {
        thread::scope(|scope| {
            scope.spawn(|| a.exchange(b"a").unwrap());
            b.exchange(b"b").unwrap();
        });
    });
    assert!((Duration::from_millis(99)..Duration::from_millis(190)).contains(&elapsed), "{elapsed:?}");
}

#[test]
fn a_flight_pays_the_latency_once() {
    let (mut a, mut b) = pair(latency(100));
    let elapsed = timed(|| {
        for _ in 0..20 {
            a.send(b"part").unwrap();
        }
        for _ in 0..20 {
            b.recv().unwrap();
        }
    });
    assert!((Duration::from_millis(49)..Duration::from_millis(500)).contains(&elapsed), "{elapsed:?}");
}

#[test]
fn computation_overlaps_with_transmission() {
    let (mut a, mut b) = pair(latency(100));
    a.send(b"early").unwrap();
    thread::sleep(Duration::from_millis(60));
    let elapsed = timed(|| {
        b.recv().unwrap();
    });
    assert!(elapsed < Duration::from_millis(45), "it had already arrived, yet took {elapsed:?}");
}

#[test]
fn bandwidth_is_shared_by_the_messages_of_a_flight() {
    let link = Link { rtt: Duration::ZERO, bits_per_second: Some(8_000_000) };
    assert_eq!(link.transmission_time(1_000_000), Duration::from_secs(1));
    let (mut a, mut b) = pair(link);
    let elapsed = timed(|| {
        for _ in 0..5 {
            a.send(&[0; 9_996]).unwrap();
        }
        for _ in 0..5 {
            b.recv().unwrap();
        }
    });
    assert!((Duration::from_millis(49)..Duration::from_millis(250)).contains(&elapsed), "{elapsed:?}");
}

#[test]
fn a_false_stamp_delays_no_longer_than_the_link() {
    let (mut a, b) = MemoryChannel::pair();
    let mut b = Delayed::new(b, latency(20));
    let far_future = u64::MAX.to_le_bytes();
    a.send(&[b"payload".as_slice(), &far_future].concat()).unwrap();
    let elapsed = timed(|| assert_eq!(b.recv().unwrap(), b"payload"));
    assert!(elapsed < Duration::from_millis(500), "{elapsed:?}");

    a.send(b"short").unwrap();
    assert!(matches!(b.recv(), Err(ChannelError::WrongLength { have: 5, .. })));
}

#[test]
fn stamps_are_not_counted() {
    let (mut a, mut b) = pair(latency(0));
    a.phase("stamped");
    a.send(&[0; 12]).unwrap();
    b.recv().unwrap();
    let counted = a.stats().phase("stamped").sent;
    assert_eq!((counted.payload_bytes, counted.wire_bytes), (12, 16));
    assert_eq!(a.inner().stats().phase("stamped").sent.payload_bytes, 20);
    assert_eq!(b.stats().total().received, counted);
}
