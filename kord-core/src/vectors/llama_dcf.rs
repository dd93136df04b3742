//! `llama-fss-dcf` and `llama-gpumpc-dcf`.

use super::compare::Comparison;
use super::node::Node;
use super::{VectorError, Verdict};
use crate::format::llama::dcf_block;
use crate::format::{KeyFormat, deterministic, llama_fss, llama_gpumpc};
use crate::tree::CorrectionWords;

pub(super) fn run_fss(
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    let group_size = case.get("group_size")?.small()?;
    let spec = llama_fss::DcfSpec::new(case.get("n")?.small()?, case.get("bout")?.small()?, group_size);
    run(spec.map_err(case.spec_error())?, file, case, comparison)
}

pub(super) fn run_gpumpc(
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    if case.get("group_size")?.integer()? != 1 {
        return Ok(Verdict::Unsupported);
    }
    let spec = llama_gpumpc::DcfSpec::new(case.get("n")?.small()?, case.get("bout")?.small()?);
    run(spec.map_err(case.spec_error())?, file, case, comparison)
}

fn run<F: KeyFormat>(
    spec: F,
    file: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<Verdict, VectorError> {
    if let Some(predicate) = file.get_optional("predicate")?
        && predicate.text()? != "x<alpha"
    {
        return Err(predicate.error("must be x<alpha, the only predicate of this scheme"));
    }
    let alpha = case.get("alpha")?.integer()?;
    let beta = case.get("beta")?.integers()?;
    let roots = [case.get("seed0")?.block()?, case.get("seed1")?.block()?];
    let pair = deterministic::generate_from_roots(&spec, &[alpha], &beta, [&roots[..1], &roots[1..]]);
    let pair = pair.map_err(case.spec_error())?;
    let evals = case.get("evals")?.items()?;
    let points = evals.iter().map(|e| e.get("x")?.integer()).collect::<Result<Vec<_>, _>>()?;
    let mut decoded = Vec::new();
    for (name, keys) in ["key0", "key1"].into_iter().zip(&pair) {
        let field = case.get(name)?;
        let key = keys.words().key(0);
        let levels = (0..key.seeds.len()).map(|level| dcf_block(&key.word(level)));
        let blocks = core::iter::once(key.root).chain(levels);
        comparison.list(&field.get("k")?, blocks, Comparison::block)?;
        comparison.list(&field.get("g")?, key.last.iter().copied(), Comparison::integer)?;
        comparison.list(&field.get("v")?, key.values.iter().copied(), Comparison::integer)?;
        decoded.push(comparison.wire(&field.get("wire")?, keys)?);
    }
    for (name, keys) in ["y0", "y1"].into_iter().zip(decoded) {
        let Some(keys) = keys else { continue };
        let shares = keys.evaluate(&points).map_err(case.spec_error())?;
        for (eval, shares) in evals.iter().zip(shares.chunks_exact(spec.arity() as usize)) {
            comparison.list(&eval.get(name)?, shares.iter().copied(), Comparison::integer)?;
        }
    }
    Ok(Verdict::Compared)
}
