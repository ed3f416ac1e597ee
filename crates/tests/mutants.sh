#!/usr/bin/env bash
# Would a test fail if the code that decides, or the code that carries decisions out, were wrong? Changes it, one place at a time, and
# runs the tests that exercise it.
#
#   crates/tests/mutants.sh                                    what decides (core), and what carries it out (runtime)
#   crates/tests/mutants.sh crates/core/src/pool/master.rs     other files of crates/core and crates/runtime
#
# Takes four seconds of a processor for each change of core, and fifteen for each of runtime. It goes on where it was interrupted: what was
# caught is not tried again, until FRESH=1 asks for it or its line moves. docs/reference/mutants.md tells of those that no test can notice.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly version=27.1.0
readonly enough=95
readonly tools=${XDG_CACHE_HOME:-$HOME/.cache}/tidegate/tools/cargo-mutants-$version
readonly all=$PWD/target/mutants
readonly tree=$all/tree

files=("$@")
[ ${#files[@]} -gt 0 ] || files=(
  crates/core/src/gate.rs crates/core/src/gate/{permit,what_if}.rs crates/core/src/policy/{seen,stanza}.rs
  crates/core/src/pool/{target,ledger,consent,begun,update,rollout}.rs crates/core/src/cluster/decide/writes.rs
  crates/runtime/src/reconcile.rs 'crates/runtime/src/reconcile/*.rs'
)

if [ ! -x "$tools/bin/cargo-mutants" ]; then
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_TARGET_DIR=$tools/build cargo install --locked --root "$tools" --version "=$version" cargo-mutants
  rm -rf "$tools/build"
fi
export PATH=$tools/bin:$PATH CARGO_TARGET_DIR=$all/build

# A copy is changed, so that this tree is clean however the run ends. It stands in one place, so that the next run builds little.
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$tree"
# The copy has the times of the originals, so cargo would take what it last built from a changed file for fresh.
touch "$tree"/crates/{core,runtime}/src/lib.rs

# Which tests exercise a crate. What is compiled with each change is not optimised, and the slowest tests are asked only about what the
# others did not notice: the linker and they take most of the time. A loop that turns without end is a test that takes too long.
settle() {
  run=(--cargo-arg=--locked --cargo-arg=--lib --cargo-arg=--config=profile.dev.debug=0)
  run+=(--timeout-multiplier 4 --minimum-test-timeout 30)
  case $1 in
  core)
    run+=(--cargo-arg=--config=profile.dev.package.tidegate-core.opt-level=0)
    slow=(pool::tests::laws thousand_machines)
    ;;
  runtime)
    # The loop is tried by the operator that runs it.
    run+=(--cargo-arg=--package=tidegate-operator)
    run+=(--cargo-arg=--test=calls --cargo-arg=--test=traps --cargo-arg=--test=suite)
    run+=(--cargo-arg=--config=profile.dev.package.tidegate-runtime.opt-level=0)
    run+=(--cargo-arg=--config=profile.dev.package.tidegate-operator.opt-level=0)
    slow=(
      a_mark_that_travels_too_long a_policy_that_goes_or_is_weakened budget_and_window_are_kept statuses_come_right_after
      statuses_follow_the_windows editing_a_policy_writes a_freeze_goes_a_day_after after_a_hold_at_most a_mark_takes_two_round_trips
      a_machine_that_is_refused_keeps conflicts_and_refusals another_takes_over_within
    )
    ;;
  *)
    echo "no tests are known for crates/$1" >&2
    exit 1
    ;;
  esac
}

# What did not compile: `--iterate` counts it among what was caught before, so it is remembered here. What took too long was caught.
remember() {
  local last=$out/mutants.out
  touch "$out/unviable.txt"
  [ -d "$last" ] || return 0
  touch "$last"/{unviable,timeout,caught}.txt
  sort -u -o "$out/unviable.txt" "$out/unviable.txt" "$last/unviable.txt"
  sort -u -o "$last/caught.txt" "$last/caught.txt" "$last/timeout.txt"
}

of_run() { (cd "$out/mutants.out" && cat "$@" 2>/dev/null || true) | sort -u; }
listed() { comm -12 - "$out/list.txt"; }

# Tries all changes of a crate with its quick tests, and then what survived with all of them.
try() {
  local crate=$1 status skip
  shift
  out=$all/$crate
  mkdir -p "$out"
  if [ "${FRESH:-}" = 1 ]; then rm -rf "$out"/{mutants.out,mutants.out.old,unviable.txt}; fi
  settle "$crate"
  which=(--dir "$tree" --package "tidegate-$crate" --colors never)
  for file in "$@"; do which+=(--file "$file"); done
  for round in quick all; do
    remember
    skip=()
    if [ "$round" = quick ]; then for test in "${slow[@]}"; do skip+=(--skip "$test"); done; fi
    status=0
    cargo mutants "${which[@]}" --output "$out" --in-place --iterate --no-times "${run[@]}" -- -- "${skip[@]}" || status=$?
    # 2: some survived, 3: some took too long; both are counted below. Anything else is trouble.
    case $status in 0) break ;; 2 | 3) ;; *) exit "$status" ;; esac
  done
  cargo mutants "${which[@]}" --list | sort -u >"$out/list.txt"
  remember
  caught=$(of_run caught.txt previously_caught.txt | comm -23 - "$out/unviable.txt" | listed | wc -l)
  missed=$(of_run missed.txt | listed | tee "$out/survived.txt" | wc -l)
  total=$((caught + missed))
  [ "$total" -gt 0 ] || { echo "no place to change was found in $*"; exit 1; }
  echo "$crate: $caught of $total changes were caught ($((caught * 100 / total)) of 100);" \
    "$(listed <"$out/unviable.txt" | wc -l) more do not compile"
  [ "$missed" = 0 ] || { echo "survived:"; sed 's/^/  /' "$out/survived.txt"; }
  # Those that no test can notice stand in the page, each with its reason, and without its place, because lines move.
  while IFS= read -r survivor; do
    grep -qF -- "\`$survivor\`" docs/reference/mutants.md || { bad=1; echo "not explained in docs/reference/mutants.md: $survivor"; }
  done < <(sed -E 's/:[0-9]+:[0-9]+: /: /' "$out/survived.txt")
  [ $((caught * 100)) -ge $((total * enough)) ] || bad=1
}

bad=0
for crate in core runtime; do
  of=()
  for file in "${files[@]}"; do [[ $file != crates/$crate/* ]] || of+=("$file"); done
  [ ${#of[@]} = 0 ] || try "$crate" "${of[@]}"
done
[ "$bad" = 0 ]
