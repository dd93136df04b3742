//! From both parties' measurements to figures.

use super::event::PartyReport;
use crate::figures::{Figure, Value};

/// The figures of the demo. Of two parties' times and counts the larger is taken, of their
/// utilisations the smaller.
#[must_use]
pub fn figures(parties: &[PartyReport; 2], wrong_pixels: u64) -> Vec<Figure> {
    let longest = |of: fn(&PartyReport) -> f64| of(&parties[0]).max(of(&parties[1]));
    let most = |of: fn(&PartyReport) -> u64| of(&parties[0]).max(of(&parties[1]));
    let ms = |seconds: f64| Value::Real(seconds * 1e3);
    let keys = most(|p| p.keys);
    let per_key = |bytes: u64| Value::Real(bytes as f64 / keys as f64);
    let keygen = longest(|p| p.keygen_seconds);
    let utilisation = |p: &PartyReport| p.aes_blocks as f64 / p.keygen_seconds / p.bare_blocks_per_second;
    let least = utilisation(&parties[0]).min(utilisation(&parties[1]));
    vec![
        Figure::measured("demo_pair_ms", ms(longest(|p| p.pair_seconds)), "ms"),
        Figure::measured("demo_session_ms", ms(longest(|p| p.session_seconds)), "ms"),
        Figure::measured("demo_keys", keys, "keys"),
        Figure::measured("demo_keygen_ms", ms(keygen), "ms"),
        Figure::measured("demo_keys_per_s", keys as f64 / keygen, "keys/s"),
        Figure::measured("demo_payload_bytes_per_key", per_key(most(|p| p.payload_bytes)), "bytes each way"),
        Figure::measured("demo_envelope_bytes_per_key", per_key(most(|p| p.frame_bytes)), "bytes each way"),
        Figure::measured("demo_frames_each_way", most(|p| p.frames), "frames"),
        Figure::measured("demo_rounds", most(|p| p.rounds), "rounds"),
        Figure::measured("demo_aes_lane_utilisation", least, "1"),
        Figure::measured("demo_online_ms", ms(longest(|p| p.online_seconds)), "ms"),
        Figure::measured("demo_evaluation_ms", ms(longest(|p| p.evaluation_seconds)), "ms"),
        Figure::measured("demo_online_bytes", most(|p| p.online_bytes), "bytes each way"),
        Figure::measured("demo_online_rounds", most(|p| p.online_rounds), "rounds"),
        Figure::measured("demo_wrong_pixels", wrong_pixels, "pixels"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_party_sets_the_figures() {
        let fast = PartyReport {
            pair_seconds: 0.25,
            keys: 1000,
            keygen_seconds: 0.5,
            aes_blocks: 8000,
            bare_blocks_per_second: 32_000.0,
            payload_bytes: 1000,
            frame_bytes: 1036,
            frames: 1,
            rounds: 1,
            ..PartyReport::default()
        };
        let slow = PartyReport { keygen_seconds: 1.0, pair_seconds: 0.5, ..fast };
        let all = figures(&[fast, slow], 0);
        let value = |name: &str| all.iter().find(|f| f.name == name).map(|f| f.value);
        for (name, want) in [
            ("demo_pair_ms", Value::Real(500.0)),
            ("demo_keys", Value::Count(1000)),
            ("demo_keys_per_s", Value::Real(1000.0)),
            ("demo_payload_bytes_per_key", Value::Real(1.0)),
            ("demo_envelope_bytes_per_key", Value::Real(1.036)),
            ("demo_frames_each_way", Value::Count(1)),
            ("demo_rounds", Value::Count(1)),
            ("demo_aes_lane_utilisation", Value::Real(0.25)),
            ("demo_wrong_pixels", Value::Count(0)),
        ] {
            assert_eq!(value(name), Some(want), "{name}");
        }
    }
}
