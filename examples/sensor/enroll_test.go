package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
)

// TestEnroll: the line and the file become the one that the service reads, whole, for root alone.
func TestEnroll(t *testing.T) {
	line, file, seed := configtest.Given(t)
	to := filepath.Join(t.TempDir(), "etc", "user.creds")
	for name, c := range map[string]struct{ arg, says, want string }{
		"line":               {" " + line + "\n", "as pi, in run hall at tls://broker:4222", line + "\n"},
		"file":               {configtest.File(t, file), "may take part", file},
		"a file with a line": {configtest.File(t, line), "as pi, in run hall", line + "\n"},
	} {
		var out strings.Builder
		if err := run(t.Context(), []string{"enroll", c.arg, to}, &out, quiet); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := os.ReadFile(to)
		if err != nil || string(b) != c.want || !strings.Contains(out.String(), c.says) ||
			strings.Contains(out.String(), seed) {
			t.Errorf("%s: wrote %q, %v, said %s", name, b, err, &out)
		}
		info, err := os.Stat(to)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		got, err := config.ReadCredentials(b)
		if err != nil || got.JWT != "eyJ.x" || got.Seed != seed {
			t.Errorf("%s: read %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestEnrollRefuses: what zofl device add did not make changes nothing, and no secret is told.
func TestEnrollRefuses(t *testing.T) {
	line, file, seed := configtest.Given(t)
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	account, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	to := configtest.File(t, "as it was")
	for name, arg := range map[string]string{
		"nothing": "", "no file": "/nowhere", "an empty file": configtest.File(t, ""),
		"half a line":    line[:len(line)-10],
		"no user's seed": strings.Replace(line, seed, string(account), 1)[:20],
		"half a file":    configtest.File(t, file[:len(file)/2]),
		"an account":     configtest.File(t, strings.Replace(file, seed, string(account), 1)),
		"a damaged key":  configtest.File(t, file+"zofl coordinator ed25519:x\n"),
		"something else": configtest.File(t, "a = b\n"),
	} {
		var out strings.Builder
		err := run(t.Context(), []string{"enroll", arg, to}, &out, quiet)
		var bad *config.FieldError
		if !errors.As(err, &bad) || exitCode(err) != exitUsage ||
			strings.Contains(err.Error(), seed[:20]) || out.Len() > 0 {
			t.Errorf("%s: %v, said %q", name, err, out.String())
		}
		if b, err := os.ReadFile(to); err != nil || string(b) != "as it was" {
			t.Errorf("%s: wrote %q, %v", name, b, err)
		}
	}
}
