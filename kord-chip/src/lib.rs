//! kord-chip
