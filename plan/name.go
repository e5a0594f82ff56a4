package plan

import "fmt"

// CheckName returns nil if s can name a run, a device, a segment or a metric. A name has 1 to
// MaxName characters of A-Z, a-z, 0-9, '-' and '_', so a name is one token of a NATS subject.
func CheckName(s string) error {
	if len(s) == 0 || len(s) > MaxName {
		return fmt.Errorf("%q has %d characters, not 1..%d", s, len(s), MaxName)
	}
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '_') {
			return fmt.Errorf("%q: character %q is not one of A-Z a-z 0-9 - _", s, c)
		}
	}
	return nil
}
