package coordinator

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A remembering log knows the last record that it held.
type remembering struct {
	runlog.Memory
	seen uint64
}

func (r *remembering) Seen(context.Context) (uint64, error) { return r.seen, nil }
func (r *remembering) Forget(context.Context) error         { r.seen = r.Last(); return nil }
func (r *remembering) Left(context.Context) (string, error) { return "", nil }

// If an operator accepts a loss that the log does not have, the coordinator warns about what that
// waives.
func TestAcceptedLossOfNothing(t *testing.T) {
	for accepted, want := range map[uint64]string{0: "", 50: "accepts what devices say"} {
		var said bytes.Buffer
		log := &remembering{}
		err := checkMemories(t.Context(), log, accepted, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got := said.String(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("with %d accepted it says %q, want %q", accepted, got, want)
		}
	}
}
