package runlog_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
)

// TestLossError: the text counts the records, one or several, and its command takes that number.
func TestLossError(t *testing.T) {
	for _, tt := range []struct {
		e    runlog.LossError
		want []string
	}{
		{runlog.LossError{Last: 9, Seen: 10}, []string{"1 record is missing", "--accept-loss 1`"}},
		{runlog.LossError{Last: 0, Seen: 10}, []string{"10 records are missing", "--accept-loss 10`"}},
	} {
		for _, want := range tt.want {
			if got := tt.e.Error(); !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
