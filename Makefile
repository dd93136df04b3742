# Two commands: `make demo` shows KORD doing its job, `make test` passes all tests.
# Both use the release profile, so nothing is compiled twice.

CARGO ?= cargo
OUT ?= out/demo

.PHONY: demo test lint bench clean

demo:
	$(CARGO) run --locked --release -p kord-cli -- demo --out $(OUT)

test:
	$(CARGO) test --locked --release --workspace --all-features

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --release --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --release --workspace --all-features --no-deps

bench:
	$(CARGO) run --locked --release -p kord-cli -- bench

clean:
	$(CARGO) clean
	rm -rf out
