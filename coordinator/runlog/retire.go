package runlog

import (
	"fmt"
	"slices"
)

// MayRetire helps implementations of [Log.Retire]: it says whether the retirement of id still has
// to be stored. The error matches [ErrNoMember].
func MayRetire(members, retired []string, id string) (due bool, err error) {
	if !slices.Contains(members, id) {
		return false, fmt.Errorf("log: retire %q: %w", id, ErrNoMember)
	}
	return !slices.Contains(retired, id), nil
}
