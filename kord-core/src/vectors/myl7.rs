//! `myl7-dpf` and `myl7-dcf`.

use super::compare::Comparison;
use super::node::Node;
use super::{VectorError, Verdict};
use crate::format::deterministic;
use crate::format::myl7::{Output, Prg, Spec};
use crate::spec::{Predicate, Scheme};

pub(super) fn run_dpf(
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    run(Scheme::Dpf, file, case, comparison)
}

pub(super) fn run_dcf(
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    let pred = case.get("pred")?;
    let predicate = match pred.text()? {
        "x<alpha" => Predicate::Lt,
        "x>alpha" => Predicate::Gt,
        _ => return Err(pred.error("must be x<alpha or x>alpha")),
    };
    run(Scheme::Dcf(predicate), file, case, comparison)
}

fn run(
    scheme: Scheme,
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    let output = output(&case.get("group")?)?;
    let prg = prg(scheme, file, &case.get("prg")?)?;
    let spec = Spec::new(scheme, case.get("n")?.small()?, output, prg).map_err(case.spec_error())?;
    let alpha = case.get("alpha")?.integer()?;
    let beta = output.element(case.get("beta")?.block()?);
    let roots = [case.get("seed0")?.block()?, case.get("seed1")?.block()?];
    let pair = deterministic::generate_from_roots(&spec, &[alpha], &[beta], [&roots[..1], &roots[1..]]);
    let pair = pair.map_err(case.spec_error())?;
    let evals = case.get("evals")?.items()?;
    let points = evals.iter().map(|e| e.get("x")?.integer()).collect::<Result<Vec<_>, _>>()?;
    // The seeds are the case's own; both parties' words are one list in the file.
    let cws = case.get("cws")?;
    for keys in &pair {
        let bytes = keys.encode();
        comparison.list(&cws, bytes[16..].chunks_exact(32), Comparison::bytes)?;
    }
    for (name, keys) in ["y0", "y1"].into_iter().zip(&pair) {
        let Some(keys) = comparison.decoded("cws", keys) else { continue };
        let shares = keys.evaluate(&points).map_err(case.spec_error())?;
        for (eval, share) in evals.iter().zip(shares) {
            comparison.block(&eval.get(name)?, output.block(share))?;
        }
    }
    Ok(Verdict::Compared)
}

/// `bytes`, or `u8` … `u128` with an optional `mod`, decimal or `2^k`.
fn output(field: &Node<'_>) -> Result<Output, VectorError> {
    let name = field.text()?;
    if name == "bytes" {
        return Ok(Output::BYTES);
    }
    let problem = "must be bytes, or u8 … u128 with an optional mod";
    let parse = |text: &str| -> Option<(u8, u128)> {
        let text = text.strip_prefix('u')?;
        let Some((bits, modulus)) = text.split_once("mod") else {
            return Some((text.parse().ok()?, 0));
        };
        let modulus = match modulus.strip_prefix("2^") {
            Some(power) => 1_u128.checked_shl(power.parse().ok()?)?,
            None => modulus.parse().ok()?,
        };
        Some((bits.parse().ok()?, modulus))
    };
    let (bits, modulus) = parse(name).ok_or_else(|| field.error(problem))?;
    Output::uint(bits, modulus).map_err(field.spec_error())
}

fn prg(scheme: Scheme, file: &Node<'_>, field: &Node<'_>) -> Result<Prg, VectorError> {
    match field.text()? {
        "aes128-mmo" => {
            let list = file.get("aes_keys")?;
            let given = list.items()?;
            let used = if scheme == Scheme::Dpf { 2 } else { 4 };
            if !(used..=4).contains(&given.len()) {
                return Err(list.error("must be 4 keys, of which a DPF uses 2"));
            }
            let mut keys = [[0; 16]; 4];
            for (key, given) in keys.iter_mut().zip(&given) {
                *key = given.array()?;
            }
            Ok(Prg::Aes128Mmo(keys))
        }
        "chacha20" => Ok(Prg::ChaCha20(file.get("chacha_nonce")?.array()?)),
        _ => Err(field.error("must be aes128-mmo or chacha20")),
    }
}
