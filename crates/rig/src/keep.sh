# Runs one program until the pipe on standard input ends, then ends the program: TERM first, KILL after five seconds.
# The other end of the pipe closes with the parent, however the parent goes, so nothing started here outlives it.
# Usage: sh keep.sh PROGRAM [ARGUMENT...]
trap '' INT HUP
exec 3<&0
"$@" 3<&- </dev/null &
program=$!
(
	cat <&3 >/dev/null
	kill -TERM "$program"
	tenths=0
	while [ "$tenths" -lt 50 ]; do
		kill -0 "$program" || exit 0
		sleep 0.1
		tenths=$((tenths + 1))
	done
	kill -KILL "$program"
) 2>/dev/null &
ender=$!
exec 3<&-
wait "$program"
status=$?
kill "$ender" 2>/dev/null
exit "$status"
