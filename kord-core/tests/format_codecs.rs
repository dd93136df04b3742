//! Decoders of other libraries' formats, what they refuse, and conversion to the native format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::format::llama_gpumpc::{DcfSpec, DpfSpec, EarlyDpfSpec};
use kord_core::format::myl7::{Output, Prg, Spec};
use kord_core::format::{self, KeyFormat, Keys, deterministic, llama_fss};
use kord_core::keygen;
use kord_core::{Block, DecodeError, Group, KeyBatch, KeySpec, Party, Predicate, PrgKeys, Scheme, SpecError};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

const LT: Scheme = Scheme::Dcf(Predicate::Lt);
const GT: Scheme = Scheme::Dcf(Predicate::Gt);
const MMO: Prg = Prg::Aes128Mmo([[1; 16], [2; 16], [3; 16], [4; 16]]);
const CHACHA: Prg = Prg::ChaCha20([5; 8]);

/// Native shapes that the myl7 format carries.
fn shared_specs() -> impl Strategy<Value = KeySpec> {
    let scheme = prop_oneof![Just(Scheme::Dpf), Just(LT), Just(GT)];
    (scheme, 1..=64_u8, 1..=64_u8, any::<[[u8; 16]; 5]>()).prop_map(|(scheme, n, bits, keys)| {
        let [seed_left, seed_right, value_left, value_right, expand] = keys;
        KeySpec::new(scheme, n, Group::ring(bits).unwrap()).unwrap().with_prg_keys(PrgKeys {
            seed_left,
            seed_right,
            value_left,
            value_right,
            expand,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn native_and_myl7_keys_are_the_same_key(spec in shared_specs(), seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        let alphas: Vec<u64> = (0..3).map(|_| rng.random::<u64>() & spec.max_alpha()).collect();
        let betas: Vec<u128> = (0..3).map(|_| spec.group().reduce(rng.random())).collect();
        let roots: [Vec<Block>; 2] =
            core::array::from_fn(|_| (0..3).map(|_| Block::from_u128(rng.random())).collect());
        let roots = [&roots[0][..], &roots[1][..]];
        let native = keygen::deterministic::generate_from_roots(&spec, &alphas, &betas, roots).unwrap();

        // Gen in the other format from the same roots makes the same keys.
        let foreign = Spec::of_native(&spec).unwrap();
        prop_assert_eq!(&foreign.to_native(spec.prg_keys()).unwrap(), &spec);
        let wide: Vec<u128> = alphas.iter().map(|a| u128::from(*a)).collect();
        let myl7 = deterministic::generate_from_roots(&foreign, &wide, &betas, roots).unwrap();
        for (native, myl7) in native.into_iter().zip(myl7) {
            let native_bytes = native.as_bytes().to_vec();
            let copy = KeyBatch::from_bytes(spec, native.party(), native_bytes.clone()).unwrap();
            let converted = Keys::from_native(copy).unwrap();
            prop_assert_eq!(converted.party(), native.party());
            // Seeds are stored as given there; everything behind them is equal.
            let (there, here) = (myl7.encode(), converted.encode());
            for (there, here) in there.chunks(foreign.key_bytes()).zip(here.chunks(foreign.key_bytes())) {
                prop_assert_eq!(&there[16..], &here[16..]);
            }
            let points: Vec<u64> = alphas.iter().flat_map(|a| [*a, rng.random::<u64>() & spec.max_alpha()]).collect();
            let wide: Vec<u128> = points.iter().map(|x| u128::from(*x)).collect();
            let myl7 = myl7.into_reusable();
            let shares = native.evaluate(&points).unwrap();
            prop_assert_eq!(&myl7.evaluate(&wide).unwrap(), &shares);
            let back = Keys::decode(foreign, converted.party(), &there).unwrap();
            let back = back.into_native(spec.prg_keys()).unwrap();
            prop_assert_eq!(back.as_bytes(), &native_bytes[..]);
            let back = converted.into_native(spec.prg_keys()).unwrap();
            prop_assert_eq!(back.as_bytes(), &native_bytes[..]);
            prop_assert_eq!(back.spec(), &spec);
            KeyBatch::from_bytes(spec, back.party(), native_bytes).unwrap();
        }
    }

    #[test]
    fn damaged_keys_are_refused_or_encode_to_the_same_bytes(
        which in 0..formats().len(),
        seed: u64,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        formats()[which].damage(seed, &damage);
    }

    #[test]
    fn random_bytes_are_never_a_panic(which in 0..formats().len(), seed: u64, length in 0..5000_usize) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        let format = &formats()[which];
        format.decode(&bytes);
        let whole = length / format.stride() * format.stride();
        format.decode(&bytes[..whole]);
    }
}

/// A format whose type does not matter.
trait AnyFormat {
    fn stride(&self) -> usize;
    /// Decodes; a success must encode to the same bytes and evaluate.
    fn decode(&self, bytes: &[u8]);
    /// Damages a good key's bytes, then decodes.
    fn damage(&self, seed: u64, damage: &[(prop::sample::Index, u8)]);
}

impl<F: KeyFormat> AnyFormat for F {
    fn stride(&self) -> usize {
        self.key_bytes()
    }

    fn decode(&self, bytes: &[u8]) {
        let Ok(keys) = Keys::decode(*self, Party::P0, bytes) else { return };
        assert_eq!(&keys.encode()[..], bytes);
        let points = vec![0; keys.len()];
        let shares = keys.evaluate(&points).unwrap();
        assert!(shares.iter().all(|y| self.group().contains(*y)));
    }

    fn damage(&self, seed: u64, damage: &[(prop::sample::Index, u8)]) {
        let mut rng = StdRng::seed_from_u64(seed);
        let alphas = [rng.random::<u128>() & self.max_alpha(), 0];
        let betas = vec![1; 2 * self.beta_elements() as usize];
        let [keys, _] = format::generate(self, &alphas, &betas, &mut rng).unwrap();
        let mut bytes = keys.encode().to_vec();
        self.decode(&bytes);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        self.decode(&bytes);
        bytes.push(0);
        assert!(matches!(Keys::decode(*self, Party::P0, &bytes), Err(DecodeError::Length { .. })));
    }
}

fn formats() -> Vec<Box<dyn AnyFormat>> {
    let mut all: Vec<Box<dyn AnyFormat>> = Vec::new();
    let uints = [(8, 2), (8, 200), (64, 0), (64, (1 << 61) - 1), (128, 1 << 127)];
    let uints = uints.map(|(bits, modulus)| Output::uint(bits, modulus).unwrap());
    for output in uints.into_iter().chain([Output::BYTES]) {
        all.push(Box::new(Spec::new(Scheme::Dpf, 3, output, MMO).unwrap()));
        all.push(Box::new(Spec::new(LT, 3, output, CHACHA).unwrap()));
    }
    for bits in [1, 8, 13, 64] {
        all.push(Box::new(llama_fss::DcfSpec::new(5, bits, 2).unwrap()));
        all.push(Box::new(DcfSpec::new(5, bits).unwrap()));
        all.push(Box::new(DpfSpec::new(5, bits).unwrap()));
        all.push(Box::new(EarlyDpfSpec::new(8 + bits % 57).unwrap()));
    }
    all
}

/// The refusal of a good key's bytes after a change.
fn refusal<F: KeyFormat>(format: F, change: impl Fn(&mut Vec<u8>)) -> String {
    let mut rng = StdRng::seed_from_u64(8);
    let betas = vec![0; format.beta_elements() as usize];
    let [keys, _] = format::generate(&format, &[1], &betas, &mut rng).unwrap();
    let mut bytes = keys.encode().to_vec();
    change(&mut bytes);
    Keys::decode(format, Party::P0, &bytes).unwrap_err().to_string()
}

#[test]
fn decoders_name_the_field_they_refuse() {
    let dcf = DcfSpec::new(8, 8).unwrap();
    assert_eq!(refusal(dcf, |b| b.truncate(10)), "GPU-MPC DCF: 10 bytes, 161 needed");
    let sentinel = "sentinel: not 42, so the parameters are not this key's";
    assert_eq!(refusal(dcf, |b| b[153] = 41), sentinel);
    let dpf = DpfSpec::new(5, 8).unwrap();
    assert_eq!(refusal(dpf, |b| b[0] |= 1), "s[0]: lowest bit is set");
    assert_eq!(refusal(dpf, |b| b[32] |= 1), "s: lowest bit is set");
    assert_eq!(refusal(dpf, |b| b[96] |= 0x20), "tLcw: bits of no level are set");
    assert_eq!(refusal(dpf, |b| b[97] |= 0x80), "tRcw: bits of no level are set");
    assert_eq!(refusal(dpf, |b| *b.last_mut().unwrap() = 1), sentinel);
    let early = EarlyDpfSpec::new(9).unwrap();
    assert_eq!(refusal(early, |b| b[48] |= 1), "tLcw: bits of no level are set");
    assert_eq!(refusal(early, |b| b[51] |= 2), "tRcw: bits of no level are set");
    let fss = llama_fss::DcfSpec::new(8, 3, 2).unwrap();
    assert_eq!(refusal(fss, |b| b[144] |= 8), "g: not reduced modulo 2^bout");
    assert_eq!(refusal(fss, |b| b[146] |= 8), "v: not reduced modulo 2^bout");
    let output = Output::uint(8, 200).unwrap();
    let dpf = Spec::new(Scheme::Dpf, 2, output, MMO).unwrap();
    assert_eq!(refusal(dpf, |b| b[32] = 2), "tr: neither 0 nor 1, or padding set");
    assert_eq!(refusal(dpf, |b| b[40] = 1), "tr: neither 0 nor 1, or padding set");
    assert_eq!(refusal(dpf, |b| b[80] = 200), "last cw: not the block of a group element");
    assert_eq!(refusal(dpf, |b| b[111] = 1), "last cw: unused half is not zero");
    let dcf = Spec::new(GT, 2, output, MMO).unwrap();
    assert_eq!(refusal(dcf, |b| b[33] = 1), "v: not the block of a group element");
    assert_eq!(refusal(dcf, |b| b[80] = 1), "last cw: unused half is not zero");
    assert_eq!(refusal(dcf, |b| b[108] = 1), "last cw: not the block of a group element");
}

#[test]
fn parameters_that_describe_no_key_are_refused() {
    let text = |error: SpecError| error.to_string();
    assert_eq!(text(Spec::new(LT, 129, Output::BYTES, MMO).unwrap_err()), "domain bits 129 outside 1..=128");
    assert_eq!(text(llama_fss::DcfSpec::new(65, 8, 1).unwrap_err()), "domain bits 65 outside 1..=64");
    assert_eq!(
        text(llama_fss::DcfSpec::new(8, 8, 0).unwrap_err()),
        "payload of 0 elements, must be 1..=65536"
    );
    assert_eq!(
        text(DcfSpec::new(8, 65).unwrap_err()),
        "GPU-MPC DCF cannot carry elements of more than 64 bits"
    );
    assert_eq!(text(DpfSpec::new(8, 0).unwrap_err()), "element bits 0 outside 1..=128");
    assert_eq!(text(EarlyDpfSpec::new(7).unwrap_err()), "domain bits 7 outside 8..=64");
    assert!(Output::uint(12, 0).is_err());
    assert!(Output::uint(8, 256).is_err());
    assert!(Output::uint(8, 1).is_err());
    assert!(Output::uint(128, 0).is_err());
    assert!(Output::uint(128, (1 << 127) + 1).is_err());

    let mut rng = StdRng::seed_from_u64(9);
    let bytes = Spec::new(Scheme::Dpf, 100, Output::BYTES, MMO).unwrap();
    let mut refuse = |alphas: &[u128], betas: &[u128]| {
        format::generate(&bytes, alphas, betas, &mut rng).unwrap_err().to_string()
    };
    assert_eq!(refuse(&[1, 1 << 100], &[0, 0]), "alpha at index 1 is outside its domain");
    assert_eq!(refuse(&[1, 2], &[1, 1 << 96]), "beta at index 1 is outside its domain");
    assert_eq!(refuse(&[1, 2], &[1]), "betas: 1 given, 2 needed");
    let [keys, _] = format::generate(&bytes, &[1, 2], &[3, 4], &mut rng).unwrap();
    assert_eq!(format!("{keys:?}").split(" (").next(), Some("2 keys of party 0"));
    let keys = keys.into_reusable();
    assert_eq!(text(keys.evaluate(&[1, 2, 3]).unwrap_err()), "points: 3 given, 4 needed");
    assert_eq!(text(keys.evaluate(&[1, 1 << 100]).unwrap_err()), "point at index 1 is outside its domain");
    let all = keys.evaluate_all(|_, _, _| ()).unwrap_err();
    assert_eq!(text(all), "full evaluation of 100 domain bits, at most 64 can be");
    let [none, _] = format::generate(&bytes, &[], &[], &mut rng).unwrap();
    assert!(none.is_empty() && none.encode().is_empty());
    assert_eq!(none.evaluate(&[]).unwrap(), []);
}

#[test]
fn conversion_refuses_what_the_formats_read_differently() {
    let of = |group: Result<Group, SpecError>, arity| {
        let spec = KeySpec::dpf(8, group.unwrap()).unwrap().with_arity(arity).unwrap();
        Spec::of_native(&spec).unwrap_err().to_string()
    };
    let several = "myl7/fss cannot carry payloads of several native elements";
    assert_eq!(of(Group::ring(8), 2), several);
    let other = "myl7/fss cannot carry native elements other than integers modulo 2^k";
    assert_eq!(of(Group::xor(8), 1), other);
    assert_eq!(of(Group::modular(7), 1), other);
    assert_eq!(of(Group::ring(65), 1), "myl7/fss cannot carry native elements of more than 64 bits");

    let keys = PrgKeys::KORD_V1;
    let own = Spec::of_native(&KeySpec::dcf(8, Predicate::Gt, Group::ring(8).unwrap()).unwrap()).unwrap();
    let to = |scheme, n, output, prg, keys: &PrgKeys| {
        Spec::new(scheme, n, output, prg).unwrap().to_native(keys).unwrap_err().to_string()
    };
    let prg = own.prg();
    let what = "the native format cannot carry keys of another PRG than AES-128 MMO";
    assert_eq!(to(GT, 8, own.output(), CHACHA, &keys), what);
    let what = "the native format cannot carry keys made under other PRG keys than those given";
    assert_eq!(to(GT, 8, own.output(), MMO, &keys), what);
    assert_eq!(to(GT, 8, own.output(), prg, &PrgKeys { value_right: [0; 16], ..keys }), what);
    let what = "the native format cannot carry myl7/fss outputs other than integers modulo 2^k, k at most 64";
    for output in [Output::BYTES, Output::uint(8, 7).unwrap(), Output::uint(128, 1 << 65).unwrap()] {
        assert_eq!(to(GT, 8, output, prg, &keys), what);
    }
    assert_eq!(to(GT, 65, own.output(), prg, &keys), "domain bits 65 outside 1..=64");
    // What a key does not use does not matter.
    let dpf = Spec::of_native(&KeySpec::dpf(8, Group::ring(8).unwrap()).unwrap()).unwrap();
    assert!(dpf.to_native(&PrgKeys { value_left: [0; 16], expand: [0; 16], ..keys }).is_ok());
    assert!(own.to_native(&PrgKeys { expand: [0; 16], ..keys }).is_ok());
}
