//! What every channel promises, then what each adds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod delayed;
mod stats;
mod tcp;

use std::thread;
use std::time::Duration;

use super::*;

/// Both ends of a TCP connection over loopback.
fn tcp_pair(config: TcpConfig) -> (TcpChannel, TcpChannel) {
    let acceptor = TcpChannel::listen("127.0.0.1:0", config).unwrap();
    let connecting = TcpChannel::connect(acceptor.local_addr(), config).unwrap();
    (connecting, acceptor.accept().unwrap())
}

const fn fast_link() -> Link {
    Link { rtt: Duration::from_millis(2), bits_per_second: Some(1_000_000_000) }
}

/// Runs `test` over every kind of channel, with a timeout so that no failure hangs.
fn over_every_channel(test: impl Fn(Box<dyn Channel>, Box<dyn Channel>)) {
    let patience = Duration::from_secs(20);
    let memory = || {
        let (a, b) = MemoryChannel::pair();
        (a.with_timeout(patience), b.with_timeout(patience))
    };
    let tcp = || tcp_pair(TcpConfig::default().with_idle_timeout(Some(patience)));

    let (a, b) = memory();
    test(Box::new(a), Box::new(b));
    let (a, b) = tcp();
    test(Box::new(a), Box::new(b));
    let (a, b) = memory();
    test(Box::new(Delayed::new(a, fast_link())), Box::new(Delayed::new(b, fast_link())));
    let (a, b) = tcp();
    test(Box::new(Delayed::new(a, fast_link())), Box::new(Delayed::new(b, fast_link())));
}

#[test]
fn messages_arrive_whole_and_in_order() {
    over_every_channel(|mut a, mut b| {
        let messages: Vec<Vec<u8>> = [0, 1, 3, 4, 5, 255, 256, 65_536, 1_000_000]
            .into_iter()
            .map(|len: usize| (0..len).map(|i| (i * i + len) as u8).collect())
            .collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                for message in &messages {
                    a.send(message).unwrap();
                }
                a.flush().unwrap();
            });
            for message in &messages {
                assert!(b.recv().unwrap() == *message, "message of {} bytes differs", message.len());
            }
        });
    });
}

#[test]
fn counters_are_exact_and_mirrored() {
    over_every_channel(|mut a, mut b| {
        // One simultaneous flight of two messages each way.
        a.phase("masks");
        b.phase("masks");
        a.send(&[0; 10]).unwrap();
        a.send(&[0; 7]).unwrap();
        b.send(&[0; 1]).unwrap();
        b.send(&[]).unwrap();
        for len in [1, 0] {
            assert_eq!(a.recv_exact("mask", len).unwrap().len(), len);
        }
        for len in [10, 7] {
            assert_eq!(b.recv_exact("mask", len).unwrap().len(), len);
        }
        // A request and its reply, then an exchange.
        a.phase("opening");
        b.phase("opening");
        a.send(&[0; 100]).unwrap();
        b.recv().unwrap();
        b.send(&[0; 50]).unwrap();
        a.recv().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(a.exchange(&[1; 6]).unwrap(), [2; 5]));
            assert_eq!(b.exchange_exact(&[2; 5], "opening", 6).unwrap(), [1; 6]);
        });

        let flow = |messages, payload_bytes, flights| Flow {
            messages,
            payload_bytes,
            wire_bytes: payload_bytes + 4 * messages,
            flights,
        };
        let masks = Traffic { sent: flow(2, 17, 1), received: flow(2, 1, 1) };
        assert_eq!(a.stats().phase("masks"), masks);
        assert_eq!(masks.rounds(), 1);
        let opening = Traffic { sent: flow(2, 106, 2), received: flow(2, 55, 2) };
        assert_eq!(a.stats().phase("opening"), opening);
        assert_eq!(opening.rounds(), 2);
        let total = Traffic { sent: flow(4, 123, 3), received: flow(4, 56, 3) };
        assert_eq!(a.stats().total(), total);
        assert_eq!((total.payload_bytes(), total.wire_bytes()), (179, 211));

        // Both parties count the same bytes and messages. Flights differ here: masks and request
        // are one flight to party b, which sent nothing between them, and so are its reply and
        // its half of the exchange.
        let mirrored = b.stats().total();
        assert_eq!(mirrored.sent, flow(4, 56, 2));
        assert_eq!(mirrored.received, flow(4, 123, 2));
    });
}

#[test]
fn a_wrong_length_is_refused() {
    over_every_channel(|mut a, mut b| {
        a.send(&[0; 31]).unwrap();
        let error = b.recv_exact("commitment", 32).unwrap_err();
        assert!(
            matches!(error, ChannelError::WrongLength { what: "commitment", have: 31, want: 32, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("commitment from "), "{error}");
    });
}

#[test]
fn a_closed_peer_is_named() {
    over_every_channel(|mut a, b| {
        drop(b);
        let error = a.recv().unwrap_err();
        assert!(matches!(error, ChannelError::Closed { operation: Operation::Receive, .. }), "{error}");
    });
    over_every_channel(|mut a, b| {
        drop(b);
        // The system may take a first message before it learns that nobody reads it.
        let error = (0..1000)
            .find_map(|_| {
                thread::sleep(Duration::from_micros(100));
                a.send(&[0; 1000]).err()
            })
            .expect("sends to a closed peer fail in the end");
        assert!(matches!(error, ChannelError::Closed { operation: Operation::Send, .. }), "{error}");
    });
}

#[test]
fn memory_end_waits_no_longer_than_its_timeout() {
    let (a, _b) = MemoryChannel::pair();
    let error = a.with_timeout(Duration::from_millis(10)).recv().unwrap_err();
    assert!(matches!(error, ChannelError::TimedOut { operation: Operation::Receive, .. }), "{error}");
}

#[test]
fn memory_end_refuses_what_tcp_would() {
    let (mut a, mut b) = MemoryChannel::pair();
    let error = a.send(&vec![0; DEFAULT_MAX_MESSAGE as usize + 1]).unwrap_err();
    assert!(
        matches!(error, ChannelError::TooLong { operation: Operation::Send, limit: DEFAULT_MAX_MESSAGE, .. }),
        "{error}"
    );
    assert_eq!(a.stats().total(), Traffic::default());
    a.send(b"short").unwrap();
    assert_eq!(b.recv().unwrap(), b"short");
}

#[test]
fn borrowed_ends_count_in_the_owner() {
    let (mut a, mut b) = MemoryChannel::pair();
    fn talk(mut channel: impl Channel) {
        channel.phase("borrowed");
        channel.send(b"x").unwrap();
    }
    talk(&mut a);
    talk(&mut a as &mut dyn Channel);
    assert_eq!(a.stats().phase("borrowed").sent.messages, 2);
    assert_eq!(b.recv().unwrap(), b"x");
}
