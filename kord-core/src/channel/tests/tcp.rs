//! Sockets: limits, timeouts, dead and lying peers, and the exchange that must not deadlock.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;

fn impatient() -> TcpConfig {
    let short = Duration::from_millis(50);
    TcpConfig::default().with_connect_timeout(short).with_idle_timeout(Some(short))
}

/// A channel and, at its other end, a bare socket.
fn channel_and_socket(config: TcpConfig) -> (TcpChannel, TcpStream) {
    let acceptor = TcpChannel::listen("127.0.0.1:0", config).unwrap();
    let socket = TcpStream::connect(acceptor.local_addr()).unwrap();
    (acceptor.accept().unwrap(), socket)
}

/// After a failure the channel is shut down: it says so, and the peer sees the end.
fn assert_broken(channel: &mut TcpChannel) {
    assert!(matches!(channel.send(b"x"), Err(ChannelError::Broken { .. })));
    assert!(matches!(channel.recv(), Err(ChannelError::Broken { .. })));
    assert!(matches!(channel.exchange(b"x"), Err(ChannelError::Broken { .. })));
}

#[test]
fn the_wire_is_length_then_bytes() {
    let (mut channel, mut socket) = channel_and_socket(TcpConfig::default());
    channel.send(b"abc").unwrap();
    channel.send(b"").unwrap();
    let mut bytes = [0; 11];
    socket.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"\x03\0\0\0abc\0\0\0\0");
    socket.write_all(b"\x02\0\0\0hi").unwrap();
    assert_eq!(channel.recv().unwrap(), b"hi");
}

#[test]
fn large_simultaneous_messages_do_not_deadlock() {
    const LEN: usize = 64 << 20;
    let (mut a, mut b) = tcp_pair(TcpConfig::default().with_idle_timeout(Some(Duration::from_secs(20))));
    let pattern = |seed: u8| -> Vec<u8> { (0..LEN).map(|i| (i / 7) as u8 ^ seed).collect() };
    let (from_a, from_b) = (pattern(1), pattern(2));
    thread::scope(|scope| {
        scope.spawn(|| assert!(a.exchange(&from_a).unwrap() == from_b, "a received something else"));
        assert!(b.exchange_exact(&from_b, "half", LEN).unwrap() == from_a, "b received something else");
    });
    for channel in [&a, &b] {
        let total = channel.stats().total();
        assert_eq!(total.sent, total.received);
        assert_eq!((total.sent.wire_bytes, total.rounds()), (LEN as u64 + 4, 1));
    }
    // And the sockets still block as they should.
    a.send(b"after").unwrap();
    assert_eq!(b.recv().unwrap(), b"after");
}

#[test]
fn an_announced_length_is_checked_before_the_message_is_read() {
    let (mut channel, mut socket) = channel_and_socket(impatient().with_max_message(1000));
    // Nothing follows the prefix: a channel that read on would time out instead.
    socket.write_all(&1001_u32.to_le_bytes()).unwrap();
    let error = channel.recv().unwrap_err();
    assert!(
        matches!(
            error,
            ChannelError::TooLong { operation: Operation::Receive, bytes: 1001, limit: 1000, .. }
        ),
        "{error}"
    );
    assert!(error.to_string().contains(&socket.local_addr().unwrap().to_string()), "{error}");
    assert_broken(&mut channel);

    let (mut channel, mut socket) = channel_and_socket(impatient());
    socket.write_all(&200_000_000_u32.to_le_bytes()).unwrap();
    let error = channel.recv_exact("tag", 16).unwrap_err();
    assert!(matches!(error, ChannelError::WrongLength { have: 200_000_000, want: 16, .. }), "{error}");
    assert_broken(&mut channel);

    let (mut channel, mut socket) = channel_and_socket(impatient());
    socket.write_all(&u32::MAX.to_le_bytes()).unwrap();
    assert!(matches!(channel.exchange(b"x"), Err(ChannelError::TooLong { .. })));
    assert_broken(&mut channel);
}

#[test]
fn a_message_too_long_to_send_leaves_the_channel_whole() {
    let (mut a, mut b) = tcp_pair(TcpConfig::default().with_max_message(10));
    assert!(matches!(a.send(&[0; 11]), Err(ChannelError::TooLong { operation: Operation::Send, .. })));
    assert!(matches!(a.exchange(&[0; 11]), Err(ChannelError::TooLong { .. })));
    a.send(&[7; 10]).unwrap();
    assert_eq!(b.recv().unwrap(), [7; 10]);
    assert_eq!(a.stats().total().sent.messages, 1);
}

#[test]
fn a_silent_peer_times_out() {
    let (mut channel, _socket) = channel_and_socket(impatient());
    let error = channel.recv().unwrap_err();
    assert!(matches!(error, ChannelError::TimedOut { operation: Operation::Receive, .. }), "{error}");
    assert_broken(&mut channel);

    // In the middle of a message as well.
    let (mut channel, mut socket) = channel_and_socket(impatient());
    socket.write_all(&[10, 0, 0, 0, 1, 2]).unwrap();
    assert!(matches!(channel.recv(), Err(ChannelError::TimedOut { .. })));
    assert_broken(&mut channel);
}

#[test]
fn a_peer_that_does_not_read_times_out() {
    let long = vec![0; 64 << 20];
    let (mut channel, _socket) = channel_and_socket(impatient());
    let error = channel.send(&long).unwrap_err();
    assert!(matches!(error, ChannelError::TimedOut { operation: Operation::Send, .. }), "{error}");
    assert_broken(&mut channel);

    // In an exchange the reading side must not wait on once the writing side has failed: the
    // peer trickles bytes, so reading alone would go on for ever.
    let (mut channel, mut socket) = channel_and_socket(impatient());
    let trickle = thread::spawn(move || {
        let mut sent = socket.write_all(&1_000_000_u32.to_le_bytes());
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(5));
            sent = socket.write_all(&[0]);
        }
    });
    let error = channel.exchange(&long).unwrap_err();
    assert!(matches!(error, ChannelError::TimedOut { operation: Operation::Send, .. }), "{error}");
    assert_broken(&mut channel);
    trickle.join().unwrap();
}

#[test]
fn a_refused_message_ends_the_sending_half_of_an_exchange() {
    // The peer announces too much and never reads: the writer must not wait for its timeout.
    let config =
        TcpConfig::default().with_idle_timeout(Some(Duration::from_secs(20))).with_max_message(1 << 27);
    let (mut channel, mut socket) = channel_and_socket(config);
    socket.write_all(&u32::MAX.to_le_bytes()).unwrap();
    let start = Instant::now();
    let error = channel.exchange(&vec![0; 64 << 20]).unwrap_err();
    assert!(matches!(error, ChannelError::TooLong { operation: Operation::Receive, .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_peer_that_dies_within_a_message_has_closed() {
    let (mut channel, mut socket) = channel_and_socket(TcpConfig::default());
    socket.write_all(&[10, 0, 0, 0, 1, 2, 3]).unwrap();
    drop(socket);
    let error = channel.recv().unwrap_err();
    assert!(matches!(error, ChannelError::Closed { operation: Operation::Receive, .. }), "{error}");
    assert_broken(&mut channel);
    assert_eq!(channel.stats().total(), Traffic::default());
}

#[test]
fn nobody_at_either_end_is_said_so() {
    let acceptor = TcpChannel::listen("127.0.0.1:0", impatient()).unwrap();
    let local = acceptor.local_addr();
    let error = acceptor.accept().unwrap_err();
    assert!(matches!(error, ChannelError::NobodyConnected { .. }), "{error}");
    assert!(error.to_string().contains(&local.to_string()), "{error}");

    let error = TcpChannel::listen(local, impatient()).unwrap_err();
    assert!(matches!(error, ChannelError::Listen { .. }), "{error}");

    drop(acceptor);
    let error = TcpChannel::connect(local, impatient()).unwrap_err();
    assert!(matches!(error, ChannelError::Refused { .. }), "{error}");
    assert!(error.to_string().contains(&local.to_string()), "{error}");

    let error = TcpChannel::connect("127.0.0.1", impatient()).unwrap_err();
    assert!(matches!(error, ChannelError::Resolve { .. }), "{error}");
}

#[test]
fn the_connecting_party_may_start_first() {
    // A port that was free a moment ago.
    let address = TcpChannel::listen("127.0.0.1:0", impatient()).unwrap().local_addr();
    let early = thread::spawn(move || TcpChannel::connect(address, TcpConfig::default()));
    thread::sleep(Duration::from_millis(30));
    let acceptor = TcpChannel::listen(address, TcpConfig::default()).unwrap();
    let mut late = acceptor.accept().unwrap();
    early.join().unwrap().unwrap().send(b"here").unwrap();
    assert_eq!(late.recv().unwrap(), b"here");
}
