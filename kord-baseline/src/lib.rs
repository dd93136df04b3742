//! kord-baseline
