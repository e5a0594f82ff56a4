package terminal

import (
	"strings"
	"unicode"
)

// Plain returns a text from another program without characters that a terminal would obey.
// Otherwise somebody who sends messages in a run, or writes a log, could change what a person sees
// or types there. Space of any kind becomes a space.
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
