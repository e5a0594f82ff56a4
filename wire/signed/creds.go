package signed

import (
	"fmt"
	"strings"
)

// credsLine begins the line of a creds file that has the coordinator's key. NATS's libraries and
// TLS's, which read the rest of the file, pass over it.
const credsLine = "zofl coordinator "

// CredsLine returns the line that tells the reader of a creds file the keys: "zofl coordinator",
// and their text.
func (k Keys) CredsLine() string { return credsLine + k.String() }

// KeysIn returns the keys that a creds file names; nil: it names none. The error matches [ErrKey].
func KeysIn(creds string) (Keys, error) {
	for line := range strings.Lines(creds) {
		if text, ok := strings.CutPrefix(line, credsLine); ok {
			keys, err := ParseKeys(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", credsLine, err)
			}
			return keys, nil
		}
	}
	return nil, nil
}
