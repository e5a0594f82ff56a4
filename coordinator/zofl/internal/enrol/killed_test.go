package enrol

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// If a command that enrols a user is killed before it writes the credentials, AddTo can enrol the
// name again. It cannot once somebody may have the credentials.
func TestAddIsKilled(t *testing.T) {
	d := make1(t, t.TempDir())
	defer d.Close()
	file := filepath.Join(t.TempDir(), "pi.creds")
	for i, content := range []string{"", "", "creds"} {
		if _, err := d.AddTo(grant.Device, "pi", file, 0); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
		if i == 0 {
			continue // killed before it made the file
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.Interrupted("pi", file); got != (content == "") || d.Interrupted("pi", "other") {
			t.Errorf("attempt %d: interrupted is %v", i, got)
		}
	}
	if _, err := d.AddTo(grant.Device, "pi", file, 0); err == nil {
		t.Error("a name whose credentials are written is enrolled twice")
	}
	if err := d.Written("pi"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AddTo(grant.Device, "pi", file, 0); err == nil {
		t.Error("a name is enrolled twice because its file was moved")
	}
}
