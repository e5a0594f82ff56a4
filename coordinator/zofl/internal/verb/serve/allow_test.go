package serve

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
)

// An allowList reads its file, and reads it again when it changes. If the file is damaged later,
// the list stays as it was.
func TestAllowList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids")
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	if _, err := allowed(t.Context(), path, quiet); !errors.As(err, new(cli.UsageError)) {
		t.Errorf("no file: %v", err)
	}
	write("pi-1\nbad id\n", time.Hour)
	if _, err := allowed(t.Context(), path, nil); err == nil ||
		!strings.Contains(err.Error(), "ids:2: ") {
		t.Errorf("a bad id: %v", err)
	}
	write("\ufeff# the kitchen\npi-1\n\n  pi-2  # by the door\n", time.Hour)
	l := &allowList{path: path, logger: slog.New(slog.DiscardHandler)}
	check := func(want string) {
		t.Helper()
		l.looked = time.Time{}
		var got []string
		for _, id := range []string{"pi-1", "pi-2", "pi-3"} {
			if l.has(id) {
				got = append(got, id)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q may join, want %q", text, want)
		}
	}
	check("pi-1 pi-2")
	write("\xff\xfep\x00i\x00-\x003\x00\r\x00\n\x00", time.Minute)
	check("pi-3")
	write("bad id\n", time.Second)
	check("pi-3")
	if f, err := allowed(t.Context(), "", nil); f != nil || err != nil {
		t.Errorf("no list: %v", err)
	}
}

// FuzzAllowList: every id of a list that is read is a name, and the list has it.
func FuzzAllowList(f *testing.F) {
	f.Add([]byte("# the kitchen\npi-1\n\n  pi-2  # by the door\r\n"))
	f.Add([]byte("pi-1\nbad id\n"))
	f.Add([]byte("a.b\n#"))
	path := filepath.Join(f.TempDir(), "ids")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := &allowList{path: path, logger: slog.New(slog.DiscardHandler)}
		if err := l.read(); err != nil {
			if l.ids != nil {
				t.Errorf("%d ids of a list that is refused: %v", len(l.ids), err)
			}
			return
		}
		for id := range l.ids {
			if plan.CheckName(id) != nil || !bytes.Contains(data, []byte(id)) {
				t.Errorf("%q is on the list", id)
			}
		}
	})
}
