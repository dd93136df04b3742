//! Party 0.

use kord_core::Party;
use zeroize::Zeroizing;

use super::keys::Derived;
use super::msgs::{self, HELLO_BYTES, Hello, Verdict};
use super::{Fresh, SessionConfig, SessionError, SessionRefusal, Side, Verified};
use crate::SessionStart;

/// Party 0 after message 1.
pub struct Initiator {
    secret: Zeroizing<[u8; 32]>,
    fresh: Fresh,
    hello: Hello,
}

impl Initiator {
    /// Starts a handshake; returns message 1.
    ///
    /// # Errors
    /// [`SessionError::TierNotPaired`] or [`SessionError::Random`].
    pub fn start(config: &SessionConfig<'_>) -> Result<(Self, Vec<u8>), SessionError> {
        Self::with_fresh(config, Fresh::random()?)
    }

    pub(super) fn with_fresh(
        config: &SessionConfig<'_>,
        fresh: Fresh,
    ) -> Result<(Self, Vec<u8>), SessionError> {
        config.check()?;
        let hello = Hello {
            party: Party::P0,
            tier: config.tier,
            pairing_id: config.pairing_id,
            nonce: fresh.nonce,
            ephemeral: fresh.public(),
            marks: config.marks,
        };
        let message = hello.encode().to_vec();
        Ok((Self { secret: Zeroizing::new(*config.secret), fresh, hello }, message))
    }

    /// Takes message 2. The result holds message 3, to be sent once the session is stored.
    ///
    /// # Errors
    /// Any [`SessionError`]; on a rollback the refusal carries a message that tells the peer.
    pub fn receive(self, message: &[u8]) -> Result<Verified, SessionRefusal> {
        let (body, mac) = msgs::split_mac::<HELLO_BYTES>(message)?;
        let peer = Hello::parse(&body, Party::P1)?;
        agree(&self.hello, &peer)?;
        let own = self.hello.encode();
        let hellos = [&self.hello, &peer];
        let derived = Derived::new(&self.secret, &self.fresh, Party::P0, hellos, [&own, &body])?;
        if !derived.confirms(Party::P1, &[], &[], &mac) {
            return Err(SessionError::AuthFailed.into());
        }
        let last_word = |verdict| {
            let finish = msgs::finish(verdict);
            msgs::with_mac(&finish, &derived.confirm(Party::P0, &finish, &mac))
        };
        if let Some(side) = rolled_back(&self.hello, &peer) {
            let party = match side {
                Side::This => Party::P0,
                Side::Peer => Party::P1,
            };
            let reply = Some(last_word(Verdict::RolledBack(party)));
            return Err(SessionRefusal { error: SessionError::RolledBack { side }, reply });
        }
        // Party 1 stores the session only after message 3, so no more than what it presented may
        // be expected of it.
        let start = SessionStart { own: derived.start, peer: peer.marks.own.max(self.hello.marks.peer) };
        Ok(Verified { keys: derived.working_keys(Party::P0), start, reply: Some(last_word(Verdict::GoOn)) })
    }
}

/// Checks that two hellos are about the same session of the same pairing.
pub(super) fn agree(this: &Hello, peer: &Hello) -> Result<(), SessionError> {
    if this.pairing_id != peer.pairing_id {
        return Err(SessionError::OtherPairing);
    }
    if this.tier != peer.tier {
        return Err(SessionError::Tier { this: this.tier, peer: peer.tier });
    }
    Ok(())
}

/// The side, if any, that presents less than the other remembers of it.
pub(super) const fn rolled_back(this: &Hello, peer: &Hello) -> Option<Side> {
    if this.marks.own.is_behind(peer.marks.peer) {
        Some(Side::This)
    } else if peer.marks.own.is_behind(this.marks.peer) {
        Some(Side::Peer)
    } else {
        None
    }
}
