package device

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// A directory of state belongs to its first device, even if an older version made it without the
// device's id.
func TestOwnStore(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := ownStore(dir, "d0"); err != nil {
			t.Fatal(err)
		}
	}
	err := ownStore(dir, "d9")
	if !errors.As(err, new(cli.UsageError)) || !strings.Contains(err.Error(), "device d0, not of d9") {
		t.Errorf("another device: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, idFile)); err != nil {
		t.Fatal(err)
	}
	if err := ownStore(dir, "d9"); err != nil {
		t.Errorf("the remedy: %v", err)
	}
}
