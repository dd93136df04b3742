//! `llama-gpumpc-dpf`.

use super::compare::Comparison;
use super::node::Node;
use super::{VectorError, Verdict};
use crate::format::llama_gpumpc::{DpfSpec, control_words};
use crate::format::{Keys, ReusableKeys, deterministic};

/// The largest domain that is evaluated as a whole; larger ones point by point.
const FULL_DOMAIN_BITS: u8 = 16;

pub(super) fn run(
    _file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    let n = case.get("n")?.small()?;
    let spec = DpfSpec::new(n, case.get("bout")?.small()?).map_err(case.spec_error())?;
    let alpha = case.get("alpha")?.integer()?;
    let beta = case.get("beta")?.integer()?;
    let roots = [case.get("seed0")?.block()?, case.get("seed1")?.block()?];
    let pair = deterministic::generate_from_roots(&spec, &[alpha], &[beta], [&roots[..1], &roots[1..]]);
    let pair = pair.map_err(case.spec_error())?;
    let mut decoded = Vec::new();
    for (name, keys) in ["key0", "key1"].into_iter().zip(&pair) {
        let field = case.get(name)?;
        compare_tree(comparison, &field, n, keys)?;
        comparison.integer(&field.get("payload")?, keys.words().key(0).last[0])?;
        decoded.extend(comparison.wire(&field.get("wire")?, keys)?.map(Keys::into_reusable));
    }
    let [key0, key1] = &decoded[..] else {
        return Ok(Verdict::Compared);
    };
    let evals = case.get("evals")?.items()?;
    for eval in &evals {
        let x = [eval.get("x")?.integer()?];
        type Evaluate = fn(&ReusableKeys<DpfSpec>, &[u128]) -> Result<Vec<u128>, crate::SpecError>;
        let kinds: [(&str, Evaluate); 3] = [
            ("eq", ReusableKeys::<DpfSpec>::evaluate_eq),
            ("gt", ReusableKeys::<DpfSpec>::evaluate_gt),
            ("lt", ReusableKeys::<DpfSpec>::evaluate_lt),
        ];
        for (name, evaluate) in kinds {
            let mut shares = Vec::new();
            for key in [key0, key1] {
                shares.extend(evaluate(key, &x).map_err(case.spec_error())?);
            }
            comparison.list(&eval.get(name)?, shares, Comparison::integer)?;
        }
    }
    if let Some(all) = case.get_optional("evals_all")? {
        let all = all.items()?;
        let points = all.iter().map(|e| e.get("x")?.integer()).collect::<Result<Vec<_>, _>>()?;
        for (name, key) in [("y0", key0), ("y1", key1)] {
            let shares = everywhere(key, n, &points).map_err(case.spec_error())?;
            for (eval, share) in all.iter().zip(shares) {
                comparison.integer(&eval.get(name)?, share)?;
            }
        }
    }
    Ok(Verdict::Compared)
}

/// s, tLcw and tRcw of a key.
pub(super) fn compare_tree<F: crate::format::KeyFormat>(
    comparison: &mut Comparison,
    field: &Node<'_>,
    domain_bits: u8,
    keys: &Keys<F>,
) -> Result<(), VectorError> {
    let key = keys.words().key(0);
    let seeds = core::iter::once(key.root).chain(key.seeds.iter().copied());
    comparison.list(&field.get("s")?, seeds, Comparison::block)?;
    let [left, right] = control_words(&key, domain_bits);
    comparison.integer(&field.get("tLcw")?, left.into())?;
    comparison.integer(&field.get("tRcw")?, right.into())
}

/// Shares at `points`, by evaluating the whole domain where that is small.
fn everywhere(key: &ReusableKeys<DpfSpec>, n: u8, points: &[u128]) -> Result<Vec<u128>, crate::SpecError> {
    let at_points = key.evaluate(points)?;
    if n > FULL_DOMAIN_BITS {
        return Ok(at_points);
    }
    let mut shares = Vec::new();
    key.evaluate_all(|_, _, some| shares.extend_from_slice(some))?;
    Ok(points.iter().map(|x| shares[*x as usize]).collect())
}
