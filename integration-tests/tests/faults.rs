//! What hosts do when the other side is absent, wrong, silent, gone, or tampered with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use integration_tests::{both, loopback, paired_chips};
use kord_chip::SoftChip;
use kord_chip::host::{self, ChipHost, HostConfig, HostError, Link};
use kord_core::request::{Request, Shares};
use kord_core::source::{Collected, KeyChunk, SourceError};
use kord_core::{Group, KeySource, KeySpec, Party};

fn spec() -> KeySpec {
    KeySpec::dpf(16, Group::ring(16).unwrap()).unwrap()
}

/// One batch of `count` keys with constant shares.
fn ask(host: &mut ChipHost<SoftChip>, count: usize) -> Result<Collected, SourceError> {
    let request = Request::keys(count as u64, spec()).unwrap();
    let mut sink = Collected::new(&request, KeySource::party(host));
    let (masks, payloads) = (vec![1; count], vec![1; count]);
    host.generate(&request, Shares::Slices { masks: &masks, payloads: &payloads }, &mut sink)?;
    Ok(sink)
}

/// An error with everything beneath it, as a user would see it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn impatient(config: HostConfig) -> HostConfig {
    let connect_timeout = Duration::from_millis(300);
    HostConfig { connect_timeout, reply_timeout: Duration::from_millis(500), ..config }
}

fn connect((chip, config): (SoftChip, HostConfig)) -> ChipHost<SoftChip> {
    ChipHost::connect(chip, config).unwrap()
}

fn refused((chip, config): (SoftChip, HostConfig)) -> HostError {
    ChipHost::connect(chip, config).err().expect("no session")
}

fn ends(chips: [SoftChip; 2], configs: [HostConfig; 2]) -> [(SoftChip, HostConfig); 2] {
    let ([chip0, chip1], [config0, config1]) = (chips, configs);
    [(chip0, config0), (chip1, config1)]
}

/// Forwards one connection, changing the bytes from the connecting side with `change`, which
/// gets their position in the stream.
fn proxy(
    to: SocketAddr,
    change: impl Fn(usize, &mut [u8]) + Send + 'static,
) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handle = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _ = std::io::copy(&mut back_from, &mut back_to);
            let _ = back_to.shutdown(Shutdown::Both);
        });
        let mut buffer = [0; 4096];
        let mut position = 0;
        while let Ok(n @ 1..) = client.read(&mut buffer) {
            change(position, &mut buffer[..n]);
            position += n;
            if server.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
        back.join().unwrap();
    });
    (address, handle)
}

#[test]
fn an_absent_peer_is_named_with_its_address() {
    let [chip0, chip1] = paired_chips();
    let [listen, to_nobody] = loopback().map(impatient);
    let address = listen.link.address().unwrap();
    let waiting = refused((chip1, listen));
    assert!(matches!(waiting, HostError::PeerAbsent { .. }), "{waiting:?}");
    assert!(waiting.to_string().contains(&address.to_string()), "{waiting}");
    // The listener is gone now.
    let nobody = refused((chip0, to_nobody));
    assert!(matches!(nobody, HostError::PeerAbsent { .. }), "{nobody:?}");
}

#[test]
fn the_wrong_party_and_another_pairing_are_told_apart() {
    let [a0, a1] = paired_chips();
    let [b0, b1] = paired_chips();
    for error in both(ends([a0, b0], loopback()), refused) {
        assert!(matches!(error, HostError::SameParty { party: Party::P0, .. }), "{error:?}");
    }
    let [c0, _] = paired_chips();
    for error in both(ends([c0, a1], loopback()), refused) {
        assert!(matches!(error, HostError::OtherPairing { .. }), "{error:?}");
    }
    let [unpaired, _] = SoftChip::development_pair().unwrap();
    let [own, _] = both(ends([unpaired, b1], loopback()), refused);
    assert!(matches!(own, HostError::NotPaired), "{own:?}");
}

#[test]
fn one_side_pairing_and_the_other_working_is_named() {
    let ([mut chip0, chip1], [c0, c1]) = (paired_chips(), loopback());
    let errors = thread::scope(|scope| {
        let pairing = scope.spawn(move || host::pair(&mut chip0, &c0).unwrap_err());
        [refused((chip1, c1)), pairing.join().unwrap()]
    });
    for error in errors {
        assert!(matches!(error, HostError::Purpose { .. }), "{error:?}");
    }
}

#[test]
fn chips_of_different_roots_do_not_pair() {
    let [chip0, _] = SoftChip::development_pair().unwrap();
    let [_, chip1] = SoftChip::development_pair().unwrap();
    let [own, _] = both(ends([chip0, chip1], loopback()), |(mut chip, config)| {
        let error = host::pair(&mut chip, &config).unwrap_err();
        assert!(chip.pairing().is_none());
        error
    });
    assert!(chain(&own).contains("certificate chain is refused"), "{}", chain(&own));
}

#[test]
fn garbage_is_named_as_garbage() {
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &[1, 0, 0, 0, 99]] {
        let ([chip, _], [listen, _]) = (paired_chips(), loopback());
        let address = listen.link.address().unwrap();
        let talker = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(garbage).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let error = refused((chip, listen));
        assert!(matches!(error, HostError::Message { .. }), "{error:?}");
        talker.join().unwrap();
    }
}

#[test]
fn a_peer_that_leaves_is_noticed_and_the_next_batch_gets_a_new_session() {
    let configs = loopback();
    let again = configs[1].clone();
    let [mut host0, host1] = both(ends(paired_chips(), configs), connect);
    let chip1 = host1.close();
    let error = ask(&mut host0, 10).err().unwrap();
    assert!(chain(&error).contains("it is done"), "{}", chain(&error));

    // Both come back: a fresh session, and counters above all that were used.
    let (keys0, keys1) = thread::scope(|scope| {
        let peer = scope.spawn(move || {
            let mut host1 = connect((chip1, again));
            ask(&mut host1, 10).unwrap().take_keys(0).unwrap()
        });
        (ask(&mut host0, 10).unwrap().take_keys(0).unwrap(), peer.join().unwrap())
    });
    let (y0, y1) = (keys0.evaluate(&[2; 10]).unwrap(), keys1.evaluate(&[2; 10]).unwrap());
    assert!(y0.iter().zip(&y1).all(|(a, b)| (a + b) & 0xffff == 2));
}

#[test]
fn a_peer_that_vanishes_without_a_word_is_noticed() {
    let [mut host0, host1] = both(ends(paired_chips(), loopback()), connect);
    // What the kernel does for a killed process: it closes the socket.
    drop(host1);
    let error = ask(&mut host0, 10).err().unwrap();
    let text = chain(&error);
    assert!(text.contains("closed the connection") || text.contains("failed"), "{text}");
}

#[test]
fn a_silent_peer_times_out() {
    let configs = loopback().map(|config| HostConfig { reply_timeout: Duration::from_millis(500), ..config });
    let [mut host0, host1] = both(ends(paired_chips(), configs), connect);
    let error = ask(&mut host0, 10).err().unwrap();
    assert!(chain(&error).contains("sent nothing for"), "{}", chain(&error));
    drop(host1);
}

#[test]
fn parties_that_ask_for_different_batches_are_told_the_field() {
    let hosts = both(ends(paired_chips(), loopback()), connect);
    let errors = both(hosts, |mut host| {
        let count = 10 + usize::from(KeySource::party(&host) == Party::P1);
        ask(&mut host, count).err().unwrap().to_string()
    });
    // The second to read may find that the first has left because of it.
    assert!(errors.iter().any(|e| e.contains("disagree on count")), "{errors:?}");
}

#[test]
fn a_tampered_frame_is_refused_and_no_key_comes_out() {
    // How long the connecting side's stream is before its first frame: counted on a clean run.
    let mut before_batch = 0;
    for target in [None, Some(50), Some(75), Some(90), Some(100), Some(300), Some(1000)] {
        let [listen, through] = loopback();
        let start = before_batch;
        let (address, handle) = proxy(listen.link.address().unwrap(), move |position, bytes| {
            let at = start + target.unwrap_or(0);
            if target.is_some() && (position..position + bytes.len()).contains(&at) {
                bytes[at - position] ^= 0x10;
            }
        });
        let through = HostConfig { link: Link::Connect(address), ..through };
        let [(own, _), (_, sent)] = both(ends(paired_chips(), [listen, through]), |end| {
            let mut host = connect(end);
            let handshake = host.stats().sent.wire_bytes;
            let mut keys = 0;
            let mut sink = |chunk: KeyChunk| {
                keys += chunk.label.count;
                Ok(())
            };
            let request = Request::keys(500, spec()).unwrap();
            let shares = Shares::Slices { masks: &[1; 500], payloads: &[1; 500] };
            let result = host.generate(&request, shares, &mut sink);
            (result.map(|_| keys).map_err(|e| (keys, chain(&e))), handshake)
        });
        handle.join().unwrap();
        if target.is_none() {
            assert_eq!(own, Ok(500));
            before_batch = sent as usize;
        } else {
            let (keys, text) = own.unwrap_err();
            assert_eq!(keys, 0, "byte {target:?}: keys came out of a tampered batch: {text}");
        }
    }
}

#[test]
fn a_sink_that_fails_ends_the_batch_and_not_the_source() {
    let hosts = both(ends(paired_chips(), loopback()), connect);
    both(hosts, |mut host| {
        let request = Request::keys(3000, spec()).unwrap();
        let mut full = |_: KeyChunk| Err(SourceError::Sink("disk full".into()));
        let shares = Shares::Slices { masks: &[1; 3000], payloads: &[1; 3000] };
        let error = host.generate(&request, shares, &mut full).unwrap_err();
        assert!(chain(&error).contains("disk full"), "{}", chain(&error));
        // Wrong shares are refused before anything is sent, so only this side need notice.
        let short = Shares::Slices { masks: &[1], payloads: &[1] };
        let error = host.generate(&request, short, &mut full).unwrap_err();
        assert!(matches!(error, SourceError::Shares(_)), "{error:?}");
        ask(&mut host, 100).unwrap();
    });
}
