//! Gen and batched Eval of DPF-32 and DCF-32 with 64-bit payloads, one core, each back end of
//! this CPU, beside bare AES. Ends with lane utilisation, which is measured against bare AES by
//! turns and so does not suffer from what else the machine does.
//!
//! `cargo bench -p kord-core --bench keygen`
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::unwrap_used)]

use core::hint::black_box;
use core::time::Duration;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kord_core::keygen::deterministic::generate_into_with;
use kord_core::{Backend, Block, Group, KeyBatch, KeySpec, Party, Predicate, utilisation};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Keys of a batch: key material stays in second-level cache, as when it is streamed.
const BATCH: usize = 512;

fn specs() -> [(&'static str, KeySpec); 2] {
    let group = Group::ring(64).unwrap();
    let dcf = KeySpec::dcf(32, Predicate::Lt, group).unwrap();
    [("dpf32", KeySpec::dpf(32, group).unwrap()), ("dcf32", dcf)]
}

fn bare_aes(c: &mut Criterion) {
    let aes = aes::Aes128::new(&Array([7; 16]));
    let mut blocks = vec![Array([0; 16]); 1024];
    let mut group = c.benchmark_group("bare");
    group.throughput(Throughput::Elements(1024));
    group.bench_function("aes crate, 1024 blocks", |b| b.iter(|| aes.encrypt_blocks(black_box(&mut blocks))));
    group.finish();
}

fn gen_and_eval(c: &mut Criterion) {
    let mut rng = StdRng::seed_from_u64(1);
    for (name, spec) in specs() {
        let mut random = || (0..BATCH).map(|_| rng.random::<u64>() & spec.max_alpha()).collect::<Vec<_>>();
        let (alphas, points) = (random(), random());
        let betas: Vec<u128> = random().into_iter().map(u128::from).collect();
        let mut roots = || (0..BATCH).map(|_| Block::from_u128(rng.random())).collect::<Vec<_>>();
        let (root0, root1) = (roots(), roots());
        let roots = [&root0[..], &root1[..]];
        let mut out = vec![0; BATCH * spec.key_bytes()];
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(BATCH as u64));
        for backend in Backend::available() {
            group.bench_function(format!("gen/{backend}"), |b| {
                b.iter(|| {
                    generate_into_with(backend, &spec, &alphas, &betas, roots, Party::P0, black_box(&mut out))
                });
            });
            let keys = KeyBatch::from_bytes(spec, Party::P0, out.clone()).unwrap().into_reusable();
            group.bench_function(format!("eval/{backend}"), |b| {
                b.iter(|| keys.evaluate_with(backend, black_box(&points)));
            });
        }
        group.finish();
    }
}

fn lane_utilisation(_: &mut Criterion) {
    let time = Duration::from_millis(500);
    println!("\nmeasured, one core; utilisation = AES blocks of the scheme / bare AES in the same run");
    for backend in Backend::available() {
        let own = utilisation::bare_aes_blocks_per_s_with(backend) / 1e6;
        match backend {
            Backend::Portable => println!("{backend}"),
            _ => println!("{backend}: bare AES with its own instructions {own:.0} M blocks/s"),
        }
        for (name, spec) in specs() {
            let m = utilisation::generation_with(backend, &spec, time);
            println!(
                "  {name} gen  {:8.3} M keys/s    utilisation {:.3}  (bare {:.0} M blocks/s)",
                m.keys_per_s / 1e6,
                m.utilisation,
                m.aes_blocks_per_s / 1e6
            );
            let m = utilisation::evaluation_with(backend, &spec, time);
            println!(
                "  {name} eval {:8.3} M points/s  utilisation {:.3}  (bare {:.0} M blocks/s)",
                m.points_per_s / 1e6,
                m.utilisation,
                m.aes_blocks_per_s / 1e6
            );
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = bare_aes, gen_and_eval, lane_utilisation
}
criterion_main!(benches);
