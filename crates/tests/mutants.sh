#!/usr/bin/env bash
# Would a test fail if the code that decides were wrong? Changes it, one place at a time, and runs the tests of its crate.
#
#   crates/tests/mutants.sh                                    what decides: the gate, targets, the ledger, consent, records
#   crates/tests/mutants.sh crates/core/src/pool/rollout.rs    other files of crates/core
#
# Takes four seconds of a processor for each change. It goes on where it was interrupted: what was caught is not tried again, until
# FRESH=1 asks for it or its line moves. docs/reference/mutants.md tells of those that no test can notice.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly version=27.1.0
readonly enough=95
readonly tools=${XDG_CACHE_HOME:-$HOME/.cache}/tidegate/tools/cargo-mutants-$version
readonly out=$PWD/target/mutants
readonly tree=$out/tree

files=("$@")
[ ${#files[@]} -gt 0 ] || files=(
  crates/core/src/gate.rs crates/core/src/gate/{permit,what_if}.rs crates/core/src/policy/{seen,stanza}.rs
  crates/core/src/pool/{target,ledger,consent,begun,update}.rs
)

if [ ! -x "$tools/bin/cargo-mutants" ]; then
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_TARGET_DIR=$tools/build cargo install --locked --root "$tools" --version "=$version" cargo-mutants
  rm -rf "$tools/build"
fi
export PATH=$tools/bin:$PATH CARGO_TARGET_DIR=$out/build

# A copy is changed, so that this tree is clean however the run ends. It stands in one place, so that the next run builds little.
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$tree"
# The copy has the times of the originals, so cargo would take what it last built from a changed file for fresh.
touch "$tree/crates/core/src/lib.rs"

which=(--dir "$tree" --package tidegate-core)
for file in "${files[@]}"; do which+=(--file "$file"); done

# What did not compile: `--iterate` counts it among what was caught before, so it is remembered here.
remember() {
  touch "$out/unviable.txt"
  local last=$out/mutants.out/unviable.txt
  if [ -e "$last" ]; then sort -u -o "$out/unviable.txt" "$out/unviable.txt" "$last"; fi
}
if [ "${FRESH:-}" = 1 ]; then rm -rf "$out"/{mutants.out,mutants.out.old,unviable.txt}; fi
remember

run=(--output "$out" --in-place --iterate --timeout-multiplier 4 --minimum-test-timeout 60 --no-times --colors never)
# Without optimisation a change is built in two seconds. The tests that are skipped take most of the time; to run fewer can only
# make a change look as if nobody noticed it.
run+=(--cargo-arg=--locked --cargo-arg=--lib)
run+=(--cargo-arg=--config=profile.dev.package.tidegate-core.opt-level=0 --cargo-arg=--config=profile.dev.debug=0)
status=0
cargo mutants "${which[@]}" "${run[@]}" -- -- --skip pool::tests::laws --skip thousand_machines || status=$?
# 2: some survived, 3: some took too long; both are counted below. Anything else is trouble.
case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac

of_run() { (cd "$out/mutants.out" && cat "$@" 2>/dev/null || true) | sort -u; }
listed() { comm -12 - "$out/list.txt"; }
cargo mutants "${which[@]}" --list --colors never | sort -u >"$out/list.txt"
remember
caught=$(of_run caught.txt timeout.txt previously_caught.txt | comm -23 - "$out/unviable.txt" | listed | wc -l)
missed=$(of_run missed.txt | listed | tee "$out/survived.txt" | wc -l)
total=$((caught + missed))
[ "$total" -gt 0 ] || { echo "no place to change was found in ${files[*]}"; exit 1; }
echo "$caught of $total changes were caught ($((caught * 100 / total)) of 100);" \
  "$(listed <"$out/unviable.txt" | wc -l) more do not compile"
[ "$missed" = 0 ] || { echo "survived:"; sed 's/^/  /' "$out/survived.txt"; }

# Those that no test can notice stand in the page, each with its reason, and without its place, because lines move.
unexplained=0
while IFS= read -r survivor; do
  grep -qF -- "\`$survivor\`" docs/reference/mutants.md || { unexplained=1; echo "not explained in docs/reference/mutants.md: $survivor"; }
done < <(sed -E 's/:[0-9]+:[0-9]+: /: /' "$out/survived.txt")
[ "$unexplained" = 0 ] && [ $((caught * 100)) -ge $((total * enough)) ]
