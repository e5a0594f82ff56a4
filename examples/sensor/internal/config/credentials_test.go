package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
	"github.com/zofl/zofl/examples/sensor/internal/mqtttest"
)

// TestModes: a file with a secret that others can read is refused, and says what to do. One of
// certificates alone is public, and systemd sees to its own.
func TestModes(t *testing.T) {
	_, file, seed := configtest.Given(t)
	public, err := os.ReadFile(mqtttest.NewAuthority(t).CA)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field, text string
		secret      bool
	}{
		{"creds = ", file, true},
		{"secret = ", strings.Repeat("k", runKeyLen), true},
		{"mqtt = mqtts://x user=u password=", "pw", true},
		{"creds = ", string(public), false},
	} {
		path := configtest.File(t, c.text)
		lines := []string{"id = a", "state = /s", "source = csv f", "channel = x", c.field + path}
		if _, err := Parse(lines); err != nil {
			t.Errorf("%sa file of mode 0600: %v", c.field, err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		_, err := Parse(lines)
		refused := err != nil && strings.Contains(err.Error(), "chmod 600 "+path)
		if refused != c.secret {
			t.Errorf("%sa file of mode 0640: %v, want it refused: %t", c.field, err, c.secret)
		}
		if err != nil && strings.Contains(err.Error(), seed) {
			t.Errorf("the seed is told: %v", err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(path))
		if _, err := Parse(lines); err != nil {
			t.Errorf("%sa file of systemd's: %v", c.field, err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", "")
	}
}
