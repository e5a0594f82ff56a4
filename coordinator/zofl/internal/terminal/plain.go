package terminal

import (
	"strings"
	"unicode"
)

// Plain returns a text from another program without control characters that a terminal would
// execute. Otherwise somebody who sends messages in a run, or writes a log, could change what the
// terminal shows or what a person types there. Plain replaces every kind of white space by a space.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
}

// PlainLines is [Plain] for a text of several lines.
func PlainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Plain(line)
	}
	return strings.Join(lines, "\n")
}
