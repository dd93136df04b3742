//! Files of primitives: PRGs and payload rules on single blocks.

use super::compare::Comparison;
use super::node::Node;
use super::{Report, VectorError, Verdict};
use crate::block::Block;
use crate::convert::Convert;
use crate::format::KeyFormat;
use crate::format::llama::LlamaConvert;
use crate::format::llama_fss::DcfSpec;
use crate::prg::{ChaChaXor, FixedKeyMmo, Prg, PrgKeys, SeedKeyedAes, mmo};
use crate::tree::Tree;

/// Runs one case: (its section, the case).
type RunCase = fn(&Node<'_>, &Node<'_>, &mut Comparison) -> Result<(), VectorError>;

/// One line a section: its name and what its cases check.
const SECTIONS: [(&str, RunCase); 5] = [
    ("llama_seedkey", seed_keyed),
    ("llama_convert", llama_convert),
    ("mmo", fixed_key),
    ("mAesFixedKey_mmo", one_fixed_key),
    ("myl7_chacha", chacha),
];

pub(super) fn check(file: &Node<'_>) -> Result<Report, VectorError> {
    let mut report = Report::new("prg-kats");
    let sections = file.fields()?;
    if !sections.iter().any(|(name, _)| SECTIONS.iter().any(|(known, _)| known == name)) {
        // Neither primitives nor a scheme: report what a vector file has first.
        file.get("scheme")?;
    }
    for (name, section) in sections {
        let Some((_, run)) = SECTIONS.iter().find(|(known, _)| *known == name) else {
            report.skipped += count(&section)?;
            continue;
        };
        let list = if section.is_list() { section.clone() } else { section.get("cases")? };
        for case in list.cases()? {
            report.run(&case, |comparison| {
                run(&section, &case, comparison)?;
                Ok(Verdict::Compared)
            })?;
        }
    }
    Ok(report)
}

/// Cases of a section that is not implemented: lists of objects, at any depth.
fn count(section: &Node<'_>) -> Result<u64, VectorError> {
    if section.is_list() {
        let objects = section.items()?.iter().filter(|item| item.is_object()).count();
        return Ok(objects as u64);
    }
    if !section.is_object() {
        return Ok(0);
    }
    section.fields()?.iter().map(|(_, field)| count(field)).sum()
}

/// `AES_s(i)`, i = 0 … 3, with two seed bits cleared (LLAMA's DCF) and with one (its DPF).
fn seed_keyed(_: &Node<'_>, case: &Node<'_>, comparison: &mut Comparison) -> Result<(), VectorError> {
    let seed = case.get("seed")?.block()?;
    let prg = SeedKeyedAes;
    let masks = [("mask3", Tree::clamped_at_bits_0_and_1(&prg)), ("mask1", Tree::clamped_at_bit_0(&prg))];
    for (name, tree) in masks {
        let [seed_l, value_l, seed_r, value_r] = four(&prg, tree.seed(seed));
        comparison.list(&case.get(name)?, [seed_l, seed_r, value_l, value_r], Comparison::block)?;
    }
    Ok(())
}

fn llama_convert(_: &Node<'_>, case: &Node<'_>, comparison: &mut Comparison) -> Result<(), VectorError> {
    let bits = case.get("bout")?.small()?;
    let elements: u32 = case.get("m")?.small()?;
    let group = DcfSpec::new(1, bits, elements).map_err(case.spec_error())?.group();
    let mut out = vec![0; elements as usize];
    LlamaConvert::new(bits, elements, group).convert(case.get("block")?.block()?, &mut out);
    comparison.list(&case.get("out")?, out, Comparison::integer)
}

/// Fixed-key MMO under four keys, in the order of a DCF's outputs.
fn fixed_key(section: &Node<'_>, case: &Node<'_>, comparison: &mut Comparison) -> Result<(), VectorError> {
    let list = section.get("keys")?;
    let keys = list.items()?.iter().map(Node::array).collect::<Result<Vec<[u8; 16]>, _>>()?;
    let [seed_left, value_left, seed_right, value_right] = keys[..] else {
        return Err(list.error("must be 4 keys"));
    };
    let prg = FixedKeyMmo::new(&PrgKeys { seed_left, seed_right, value_left, value_right, expand: [0; 16] });
    let out = four(&prg, case.get("seed")?.block()?);
    comparison.list(&case.get("out")?, out, Comparison::block)
}

/// Fixed-key MMO under one key.
fn one_fixed_key(
    section: &Node<'_>,
    case: &Node<'_>,
    comparison: &mut Comparison,
) -> Result<(), VectorError> {
    let key = section.get("key")?.array()?;
    let prg = FixedKeyMmo::new(&PrgKeys { expand: key, ..PrgKeys::KORD_V1 });
    let mut out = [Block::ZERO];
    mmo(&prg.expand, &[case.get("x")?.block()?], &mut out);
    comparison.block(&case.get("out")?, out[0])
}

fn chacha(section: &Node<'_>, case: &Node<'_>, comparison: &mut Comparison) -> Result<(), VectorError> {
    let prg = ChaChaXor::new(section.get("nonce")?.array()?);
    let seed = case.get("seed")?.block()?;
    let (mut left, mut right) = ([Block::ZERO], [Block::ZERO]);
    prg.expand2(&[seed], &mut left, &mut right);
    // With one output the library takes the row that is the right child of two.
    comparison.list(&case.get("mul1")?, right, Comparison::block)?;
    comparison.list(&case.get("mul2")?, [left[0], right[0]], Comparison::block)?;
    comparison.list(&case.get("mul4")?, four(&prg, seed), Comparison::block)
}

/// s_L, v_L, s_R, v_R.
fn four(prg: &dyn Prg, seed: Block) -> [Block; 4] {
    let mut out = [[Block::ZERO]; 4];
    prg.expand4(&[seed], out.each_mut().map(|block| &mut block[..]));
    out.map(|[block]| block)
}
