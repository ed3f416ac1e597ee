# Words that the scripts use beside kubectl.

# watching LINES WATCH CHANGE: runs WATCH until it has printed LINES lines, and CHANGE once it has printed the first.
watching() {
	: >watched.txt
	$2 >watched.txt 2>&1 &
	watcher=$!
	printed_lines 1
	sh -c "$3" >/dev/null
	printed_lines "$1"
	kill "$watcher"
	wait "$watcher" 2>/dev/null || true
	cat watched.txt
}

printed_lines() {
	looks=0
	while [ "$(wc -l <watched.txt)" -lt "$1" ]; do
		looks=$((looks + 1))
		if [ "$looks" -gt 300 ]; then
			echo "gave up after 30 s with $(wc -l <watched.txt) of $1 lines" >>watched.txt
			return
		fi
		sleep 0.1
	done
}

# eventually COMMAND: runs COMMAND until it succeeds, and prints what it then says.
eventually() {
	looks=0
	until sh -c "$1" >eventually.txt 2>&1; do
		looks=$((looks + 1))
		if [ "$looks" -gt 300 ]; then
			echo "gave up after 30 s"
			break
		fi
		sleep 0.1
	done
	cat eventually.txt
}
