package planfile

// longest is the length of the longest name that Nearest compares, because a file can have a name
// of a megabyte.
const longest = 64

// Nearest returns the one of the names that most resembles name, or "" if none is within about a
// third of the letters of name.
func Nearest(name string, names []string) (like string) {
	if len(name) > longest {
		return ""
	}
	least := (len(name)+1)/3 + 1
	for _, other := range names {
		if n := edits(name, other); n < least {
			like, least = other, n
		}
	}
	return like
}

// edits returns how many letters one must insert, remove or replace to turn a into b. An exchange
// of two neighboring letters counts as one edit.
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // for a, less 1 or 2 letters
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
