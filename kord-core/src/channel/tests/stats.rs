//! The definition of flights, rounds and phases.

use super::*;

#[test]
fn a_flight_is_a_maximal_run() {
    let mut stats = Stats::new();
    for _ in 0..3 {
        stats.record_sent(1, 4);
    }
    for _ in 0..2 {
        stats.record_received(1, 4);
    }
    stats.record_sent(1, 4);
    let total = stats.total();
    assert_eq!((total.sent.flights, total.received.flights, total.rounds()), (2, 1, 2));
}

#[test]
fn consecutive_exchanges_are_a_round_each() {
    let mut stats = Stats::new();
    for _ in 0..5 {
        stats.record_sent(8, 4);
        stats.record_received(8, 4);
    }
    assert_eq!(stats.total().rounds(), 5);
}

#[test]
fn a_flight_over_a_phase_boundary_counts_where_it_begins() {
    let mut stats = Stats::new();
    stats.begin_phase("first");
    stats.record_sent(1, 4);
    stats.begin_phase("second");
    stats.record_sent(2, 4);
    stats.record_received(3, 4);
    assert_eq!(stats.phase("first").sent.flights, 1);
    assert_eq!(stats.phase("second").sent, Flow { messages: 1, payload_bytes: 2, wire_bytes: 6, flights: 0 });
    assert_eq!(stats.total().sent.flights, 1);
    assert_eq!(stats.total().rounds(), 1);
}

#[test]
fn a_phase_resumes_under_its_name() {
    let mut stats = Stats::new();
    stats.record_sent(1, 0);
    for (name, bytes) in [("offline", 10), ("online", 20), ("offline", 30)] {
        stats.begin_phase(name);
        stats.record_sent(bytes, 0);
    }
    let bytes: Vec<_> = stats.phases().map(|(name, traffic)| (name, traffic.sent.payload_bytes)).collect();
    assert_eq!(bytes, [(Stats::FIRST_PHASE, 1), ("offline", 40), ("online", 20)]);
    assert_eq!(stats.phase("never"), Traffic::default());
}
