package signed

import (
	"fmt"
	"strings"
)

// credsLine begins the line of a creds file that holds the coordinator's keys. The libraries of
// NATS and TLS, which read the rest of the file, skip this line.
const credsLine = "zofl coordinator "

// CredsLine returns the line of a creds file that names the keys: "zofl coordinator", and the text
// of the keys.
func (k Keys) CredsLine() string { return credsLine + k.String() }

// KeysIn returns the keys that a creds file names, or nil if the file names no key. The error
// matches [ErrKey]. What follows a # in that line is a comment.
func KeysIn(creds string) (Keys, error) {
	for line := range strings.Lines(strings.TrimPrefix(creds, "\ufeff")) {
		if text, ok := strings.CutPrefix(line, credsLine); ok {
			text, _, _ = strings.Cut(text, "#")
			keys, err := ParseKeys(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", credsLine, err)
			}
			return keys, nil
		}
	}
	return nil, nil
}
