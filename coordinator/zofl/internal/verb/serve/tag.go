package serve

import (
	"fmt"
	"strings"
	"unicode"
)

// mostTags and longestTag bound the tags of a run, so that a list of runs stays readable.
const (
	mostTags   = 16
	longestTag = 64 // characters
)

// checkTags returns an error unless each tag is a short printable word.
func checkTags(tags []string) error {
	if len(tags) > mostTags {
		return fmt.Errorf("--tag: %d tags: give at most %d", len(tags), mostTags)
	}
	for _, tag := range tags {
		unprintable := strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsPrint(r) })
		if strings.TrimSpace(tag) == "" || unprintable || len([]rune(tag)) > longestTag {
			return fmt.Errorf("--tag %q: give up to %d printable characters, such as rate=0.1", tag,
				longestTag)
		}
	}
	return nil
}
