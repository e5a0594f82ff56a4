package runlog

import (
	"fmt"
	"slices"
)

// MayRetire is for implementations of [Log.Retire]: due says whether they still have to store the
// retirement of id. The error matches [ErrNoMember].
func MayRetire(members, retired []string, id string) (due bool, err error) {
	if !slices.Contains(members, id) {
		return false, fmt.Errorf("log: retire %q: %w", id, ErrNoMember)
	}
	return !slices.Contains(retired, id), nil
}
