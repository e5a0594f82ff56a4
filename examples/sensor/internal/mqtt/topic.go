package mqtt

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckTopic returns nil if a message can have this topic (MQTT 3.1.1, section 4.7).
func CheckTopic(s string) error {
	switch {
	case s == "":
		return errors.New("the topic is empty: give at least one character")
	case len(s) > 1024:
		return fmt.Errorf("%d bytes: give at most 1024", len(s))
	case strings.ContainsAny(s, "+#"):
		return fmt.Errorf("%q: + and # stand for many topics: name one", s)
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return fmt.Errorf("%q is no text", s)
	}
	return nil
}

// Status returns the topic that says whether a device's agent is online.
func Status(prefix, id string) string { return prefix + "/" + id + "/status" }
