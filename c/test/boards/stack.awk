# The deepest stack of a program's functions, from what gcc -fcallgraph-info=su writes: a line for
# each function that nothing else calls, with its chain of calls. Functions without a known frame,
# those of libc, libm and libgcc, count as LIBRARY bytes (-v LIBRARY=n). Exits with 1 where a
# function calls itself, even by others, calls by a pointer, or has a frame of varying size.
/^node/ {
	split($0, part, "\"")
	title = part[2]
	if (part[4] !~ / bytes \(/) {
		frame[title] = LIBRARY
	} else {
		n = part[4]
		sub(/.*\\n/, "", n)
		if (n !~ /\(static\)/)
			refuse(title " has a frame of varying size")
		frame[title] = n + 0
	}
	if (title == "__indirect_call")
		refuse("a call by a pointer")
}
/^edge/ {
	split($0, part, "\"")
	if (part[4] == "__indirect_call")
		refuse(part[2] " calls by a pointer")
	calls[part[2]] = calls[part[2]] "\n" part[4]
	called[part[4]] = 1
}
function refuse(why) {
	print "stack.awk: " why >"/dev/stderr"
	bad = 1
}
function deepest(f,    callee, n, i, d) {
	if (f in depth)
		return depth[f]
	if (f in walking) {
		refuse("recursion through " f)
		return 0
	}
	walking[f] = 1
	n = split(substr(calls[f], 2), callee, "\n")
	for (i = 1; i <= n; i++) {
		d = deepest(callee[i])
		if (!(f in below) || d > below[f]) {
			below[f] = d
			through[f] = callee[i]
		}
	}
	delete walking[f]
	return depth[f] = frame[f] + below[f]
}
END {
	for (f in frame)
		if (!(f in called)) {
			chain = name(f)
			d = deepest(f)
			for (g = f; g in through; g = through[g])
				chain = chain " > " name(through[g])
			print d, chain
		}
	exit bad
}
function name(f) {
	sub(/.*:/, "", f)
	return f
}
