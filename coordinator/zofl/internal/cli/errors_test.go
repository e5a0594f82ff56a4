package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
)

// Nobody answers: the command may be given again.
func TestClassifyUnavailable(t *testing.T) {
	err := Classify(fmt.Errorf("stream ZO_r_LOG: %w", runlog.ErrUnavailable))
	if !errors.As(err, new(AbsentError)) {
		t.Errorf("got %T, want exit code 3", err)
	}
	if errors.As(Classify(runlog.ErrCorrupt), new(AbsentError)) {
		t.Error("a damaged log counts as absent")
	}
}
