//! `llama-gpumpc-dpfet`.

use super::compare::Comparison;
use super::llama_dpf::compare_tree;
use super::node::Node;
use super::{VectorError, Verdict};
use crate::format::llama_gpumpc::{EarlyDpfSpec, leaf};
use crate::format::{Keys, deterministic};

pub(super) fn run(
    _file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    let n = case.get("n")?.small()?;
    let spec = EarlyDpfSpec::new(n).map_err(case.spec_error())?;
    let alpha = case.get("alpha")?.integer()?;
    let roots = [case.get("seed0")?.block()?, case.get("seed1")?.block()?];
    let pair = deterministic::generate_from_roots(&spec, &[alpha], &[], [&roots[..1], &roots[1..]]);
    let pair = pair.map_err(case.spec_error())?;
    let mut decoded = Vec::new();
    for (name, keys) in ["key0", "key1"].into_iter().zip(&pair) {
        let field = case.get(name)?;
        compare_tree(comparison, &field, n, keys)?;
        comparison.block(&field.get("leaf")?, leaf(&keys.words().key(0)))?;
        decoded.extend(comparison.wire(&field.get("wire")?, keys)?.map(Keys::into_reusable));
    }
    let [key0, key1] = &decoded[..] else {
        return Ok(Verdict::Compared);
    };
    for eval in case.get("evals")?.items()? {
        let x = [eval.get("x")?.integer()?];
        let mut shares = Vec::new();
        for key in [key0, key1] {
            shares.extend(key.evaluate_lt(&x).map_err(case.spec_error())?);
        }
        comparison.list(&eval.get("lt")?, shares, Comparison::integer)?;
    }
    Ok(Verdict::Compared)
}
