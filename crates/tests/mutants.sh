#!/usr/bin/env bash
# Would a test fail if the code that decides were wrong? Changes it, one place at a time, and runs the tests of its crate.
#
#   crates/tests/mutants.sh                      what decides: the gate, targets, the ledger, consent
#   crates/tests/mutants.sh 'crates/core/src/gate/permit.rs'   other files
#
# Takes hours on two cores. It goes on where it was interrupted: what was caught is not tried again until FRESH=1 asks for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly version=27.1.0
readonly tools=${XDG_CACHE_HOME:-$HOME/.cache}/tidegate/tools/cargo-mutants-$version
readonly out=$PWD/target/mutants

files=("$@")
[ ${#files[@]} -gt 0 ] || files=(
  crates/core/src/gate.rs 'crates/core/src/gate/*.rs'
  crates/core/src/pool/target.rs crates/core/src/pool/ledger.rs crates/core/src/pool/consent.rs
)

if [ ! -x "$tools/bin/cargo-mutants" ]; then
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_TARGET_DIR=$tools/build cargo install --locked --root "$tools" --version "=$version" cargo-mutants
  rm -rf "$tools/build"
fi
PATH=$tools/bin:$PATH

arguments=(--package tidegate-core --output "$out" --no-shuffle --timeout-multiplier 4 --baseline run)
for file in "${files[@]}"; do arguments+=(--file "$file"); done
# What an earlier run caught, or found that it does not compile, stays so.
if [ -d "$out/mutants.out" ] && [ "${FRESH:-}" != 1 ]; then arguments+=(--iterate); fi

status=0
cargo mutants "${arguments[@]}" -- --lib || status=$?
# 2: some survived, 3: some took too long; both are counted below. Anything else is trouble.
case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac

# Over every run of this tree: `--iterate` keeps what earlier runs caught in previously_caught.txt.
lines() { cat "$@" 2>/dev/null | sort -u | sed '/^$/d' | wc -l; }
caught=$(lines "$out"/mutants.out/{caught,timeout,previously_caught}.txt)
missed=$(lines "$out"/mutants.out/missed.txt)
total=$((caught + missed))
[ "$total" -gt 0 ] || { echo "no place to change was found in ${files[*]}"; exit 1; }
echo "$caught of $total changes were caught ($((caught * 100 / total)) of 100)"
[ "$missed" = 0 ] || { echo "survived:"; sort -u "$out/mutants.out/missed.txt" | sed 's/^/  /'; }
