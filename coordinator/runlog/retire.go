package runlog

import (
	"fmt"
	"slices"
)

// MayRetire is for implementations of [Log.Retire]: it says whether the retirement of id has yet to
// be stored. The error matches [ErrNoMember].
func MayRetire(members, retired []string, id string) (due bool, err error) {
	if !slices.Contains(members, id) {
		return false, fmt.Errorf("log: retire %q: %w", id, ErrNoMember)
	}
	return !slices.Contains(retired, id), nil
}
