package lab

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/kernelbench"
)

// TestBenchExitCodes: directions that differ by instruction set are damage.
func TestBenchExitCodes(t *testing.T) {
	bits := classifyBench(fmt.Errorf("%w: x", kernelbench.ErrBits))
	if got := cli.ExitCode(bits, false); got != cli.ExitCorrupt ||
		!errors.Is(bits, kernelbench.ErrBits) {
		t.Errorf("%v is exit code %d, want %d", bits, got, cli.ExitCorrupt)
	}
}
