//! Two hosts that agree on a batch, or are told why not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use kord_cli::rendezvous::{accept, must_equal, propose};
use kord_core::channel::{Channel, TcpChannel, TcpConfig};
use kord_core::request::{KeyPart, Mask, Part, Payload, Request};
use kord_core::{Group, KeySpec, Predicate};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn request(count: u64, spec: KeySpec) -> Request {
    Request::new(count, Mask::derived(16), vec![Part::Key(KeyPart { spec, payload: Payload::One })]).unwrap()
}

fn dpf(group: Group) -> KeySpec {
    KeySpec::dpf(16, group).unwrap()
}

#[test]
fn an_accepted_request_arrives_as_it_was_and_frees_the_address() {
    let wide = Group::modular(u128::MAX).unwrap();
    let ours = request(u64::MAX, dpf(wide)).on_stream(u64::MAX).in_epoch(3);
    let address = free_address();
    thread::scope(|s| {
        let proposer = s.spawn(|| propose(address, &ours, PATIENCE));
        let accepted = accept(address, PATIENCE, |theirs| must_equal(&ours, theirs)).unwrap();
        assert_eq!(accepted, Some(ours.clone()));
        TcpListener::bind(address).unwrap();
        proposer.join().unwrap().unwrap();
    });
}

#[test]
fn a_refusal_tells_both_sides_the_reason() {
    let ours = request(1, dpf(Group::ring(8).unwrap()));
    let address = free_address();
    thread::scope(|s| {
        let proposer = s.spawn(|| propose(address, &ours, PATIENCE));
        let error = accept(address, PATIENCE, |_| Err("no room".to_owned())).unwrap_err().to_string();
        assert!(error.contains("refused a proposed batch: no room"), "{error}");
        let error = proposer.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("the other party refuses the batch: no room"), "{error}");
    });
}

#[test]
fn requests_that_differ_are_told_the_field() {
    let ring = Group::ring(8).unwrap();
    let ours = request(5, dpf(ring));
    let dcf = KeySpec::dcf(16, Predicate::Lt, ring).unwrap();
    for (theirs, field) in [
        (request(6, dpf(ring)), "count"),
        (request(5, dcf), "scheme"),
        (request(5, KeySpec::dpf(15, ring).unwrap()), "domain bits"),
        (request(5, dpf(Group::ring(9).unwrap())), "element bits"),
        (request(5, dpf(ring)).on_stream(1), "stream"),
        (request(5, dpf(ring)).in_epoch(1), "epoch"),
        (Request::new(5, *ours.mask(), vec![ours.parts()[0]; 2]).unwrap(), "number of parts"),
    ] {
        let reason = must_equal(&ours, &theirs).unwrap_err();
        assert!(reason.contains(field), "{field}: {reason}");
    }
    assert_eq!(must_equal(&ours, &ours.clone()), Ok(()));
}

/// What `accept` answers to these bytes.
fn answer(bytes: &[u8]) -> String {
    let address = free_address();
    thread::scope(|s| {
        let listener = s.spawn(|| accept(address, PATIENCE, |_| Ok(())));
        let mut channel = TcpChannel::connect(address, TcpConfig::default()).unwrap();
        channel.send(bytes).unwrap();
        let answer: Value = serde_json::from_slice(&channel.recv().unwrap()).unwrap();
        assert!(listener.join().unwrap().is_err());
        answer["refused"].as_str().unwrap().to_owned()
    })
}

#[test]
fn what_is_no_proposal_is_refused() {
    let request = serde_json::to_value(request(1, dpf(Group::ring(8).unwrap()))).unwrap();
    let proposal = |version: u32, request: &Value| {
        serde_json::to_vec(&json!({"kord": "batch", "version": version, "request": request})).unwrap()
    };
    assert!(answer(b"GET / HTTP/1.1").contains("not a proposal"));
    assert!(answer(&proposal(2, &request)).contains("proposal version 2, here it is 1"));
    let mut empty = request;
    empty["count"] = json!(0);
    assert!(answer(&proposal(1, &empty)).contains("at least one element"));
}

#[test]
fn an_absent_peer_is_no_endless_wait() {
    let short = Duration::from_millis(50);
    assert!(accept(free_address(), short, |_| Ok(())).unwrap().is_none());
    let request = request(1, dpf(Group::ring(8).unwrap()));
    let error = format!("{:#}", propose(free_address(), &request, short).unwrap_err());
    assert!(error.contains("is the other party's host running"), "{error}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(accept(taken.local_addr().unwrap(), short, |_| Ok(())).is_err());
}
