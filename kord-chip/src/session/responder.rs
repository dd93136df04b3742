//! Party 1.

use kord_core::Party;

use super::initiator::{agree, rolled_back};
use super::keys::Derived;
use super::msgs::{self, FINISH_BYTES, HELLO_BYTES, Hello, Verdict};
use super::{Fresh, SessionConfig, SessionError, Side, Verified};
use crate::SessionStart;
use crate::kdf::MAC_BYTES;

/// Party 1 after message 2.
pub struct Responder {
    derived: Derived,
    confirm: [u8; MAC_BYTES],
    rolled_back: Option<Side>,
    start: SessionStart,
}

impl Responder {
    /// Answers message 1; returns message 2.
    ///
    /// # Errors
    /// Any [`SessionError`] but `AuthFailed` and `RolledBack`: message 1 is not authenticated
    /// until message 3.
    pub fn start(config: &SessionConfig<'_>, message: &[u8]) -> Result<(Self, Vec<u8>), SessionError> {
        Self::with_fresh(config, message, Fresh::random()?)
    }

    pub(super) fn with_fresh(
        config: &SessionConfig<'_>,
        message: &[u8],
        fresh: Fresh,
    ) -> Result<(Self, Vec<u8>), SessionError> {
        config.check()?;
        let Ok(message) = message.try_into() else {
            return Err(SessionError::Malformed { what: "wrong length" });
        };
        let peer = Hello::parse(message, Party::P0)?;
        let hello = Hello {
            party: Party::P1,
            tier: config.tier,
            pairing_id: config.pairing_id,
            nonce: fresh.nonce,
            ephemeral: fresh.public(),
            marks: config.marks,
        };
        agree(&hello, &peer)?;
        let own: [u8; HELLO_BYTES] = hello.encode();
        let derived = Derived::new(config.secret, &fresh, Party::P1, [&peer, &hello], [message, &own])?;
        let confirm = derived.confirm(Party::P1, &[], &[]);
        // Party 0 stores the session before it sends message 3, so all of it may be expected of it.
        let peer_mark = derived.start.max(hello.marks.peer);
        let start = SessionStart { own: derived.start, peer: peer_mark };
        let reply = msgs::with_mac(&own, &confirm);
        Ok((Self { rolled_back: rolled_back(&hello, &peer), start, derived, confirm }, reply))
    }

    /// Takes message 3.
    ///
    /// # Errors
    /// [`SessionError::AuthFailed`], [`SessionError::RolledBack`], [`SessionError::Malformed`] or
    /// [`SessionError::Version`].
    pub fn receive(self, message: &[u8]) -> Result<Verified, SessionError> {
        let (finish, mac) = msgs::split_mac::<FINISH_BYTES>(message)?;
        let verdict = msgs::parse_finish(finish)?;
        if !self.derived.confirms(Party::P0, &finish, &self.confirm, &mac) {
            return Err(SessionError::AuthFailed);
        }
        let told = match verdict {
            Verdict::GoOn => None,
            Verdict::RolledBack(Party::P0) => Some(Side::Peer),
            Verdict::RolledBack(Party::P1) => Some(Side::This),
        };
        if let Some(side) = told.or(self.rolled_back) {
            return Err(SessionError::RolledBack { side });
        }
        Ok(Verified { keys: self.derived.working_keys(Party::P1), start: self.start, reply: None })
    }
}
