//! The life of a chip's pairing.

use core::fmt;

/// Where a chip stands. `Provisioned → Paired → Active → Revoked`; after a restart an active
/// chip is paired again, and a revoked chip may be paired anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifecycle {
    /// It has an identity and no peer.
    Provisioned,
    /// It holds a pairing secret and no session keys.
    Paired,
    /// It holds the keys of a session, in memory only.
    Active,
    /// Its pairing was destroyed. Nothing but pairing anew leads on.
    Revoked,
}

impl Lifecycle {
    /// Whether a chip may go from `self` to `next`.
    ///
    /// `Active → Active` is the next session replacing this one; `Active → Paired` is a restart
    /// or the end of a session; `Revoked → Paired` and `Provisioned → Paired` are a pairing.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        use Lifecycle::{Active, Paired, Provisioned, Revoked};
        matches!((self, next), (Provisioned | Active | Revoked, Paired) | (Paired | Active, Active | Revoked))
    }
}

impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Provisioned => "provisioned",
            Self::Paired => "paired",
            Self::Active => "active",
            Self::Revoked => "revoked",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Lifecycle::{Active, Paired, Provisioned, Revoked};

    #[test]
    fn only_the_listed_steps() {
        let allowed = [
            (Provisioned, Paired),
            (Paired, Active),
            (Paired, Revoked),
            (Active, Active),
            (Active, Paired),
            (Active, Revoked),
            (Revoked, Paired),
        ];
        let all = [Provisioned, Paired, Active, Revoked];
        for from in all {
            for to in all {
                assert_eq!(from.may_become(to), allowed.contains(&(from, to)), "{from} to {to}");
            }
        }
    }
}
