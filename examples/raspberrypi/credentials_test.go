package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/examples/raspberrypi/internal/mqtttest"
)

// given returns the line and the file of a user, as zofl device add writes them.
func given(t *testing.T) (line, file, seed string) {
	seed = userSeed(t)
	line = "zofl:?v=1&url=" + url.QueryEscape("tls://broker:4222") + "&run=hall&id=pi&ca=" +
		strings.Repeat("A", 43) + "&jwt=eyJ.x&seed=" + seed
	file = "-----BEGIN NATS USER JWT-----\neyJ.x\n------END NATS USER JWT------\n\n" +
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"
	return line, file, seed
}

// TestEnroll: the line and the file become the one that the service reads, whole, for root alone.
func TestEnroll(t *testing.T) {
	line, file, seed := given(t)
	to := filepath.Join(t.TempDir(), "etc", "user.creds")
	for name, c := range map[string]struct{ arg, says, want string }{
		"line":               {" " + line + "\n", "as pi, in run hall at tls://broker:4222", line + "\n"},
		"file":               {textFile(t, file), "may take part", file},
		"a file with a line": {textFile(t, line), "as pi, in run hall", line + "\n"},
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
		got, err := readCredentials(b)
		if err != nil || got.jwt != "eyJ.x" || got.seed != seed {
			t.Errorf("%s: read %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestEnrollRefuses: what zofl device add did not make changes nothing, and no secret is told.
func TestEnrollRefuses(t *testing.T) {
	line, file, seed := given(t)
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	account, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	to := textFile(t, "as it was")
	for name, arg := range map[string]string{
		"nothing": "", "no file": "/nowhere", "an empty file": textFile(t, ""),
		"half a line":    line[:len(line)-10],
		"no user's seed": strings.Replace(line, seed, string(account), 1)[:20],
		"half a file":    textFile(t, file[:len(file)/2]),
		"an account":     textFile(t, strings.Replace(file, seed, string(account), 1)),
		"a damaged key":  textFile(t, file+"zofl coordinator ed25519:x\n"),
		"something else": textFile(t, "a = b\n"),
	} {
		var out strings.Builder
		err := run(t.Context(), []string{"enroll", arg, to}, &out, quiet)
		var bad *FieldError
		if !errors.As(err, &bad) || exitCode(err) != exitUsage ||
			strings.Contains(err.Error(), seed[:20]) || out.Len() > 0 {
			t.Errorf("%s: %v, said %q", name, err, out.String())
		}
		if b, err := os.ReadFile(to); err != nil || string(b) != "as it was" {
			t.Errorf("%s: wrote %q, %v", name, b, err)
		}
	}
}

// TestModes: a file with a secret that others can read is refused, and says what to do. One of
// certificates alone is public, and systemd sees to its own.
func TestModes(t *testing.T) {
	_, file, seed := given(t)
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
		path := textFile(t, c.text)
		lines := []string{"id = a", "state = /s", "source = csv f", "channel = x", c.field + path}
		if _, err := parseConfig(lines); err != nil {
			t.Errorf("%sa file of mode 0600: %v", c.field, err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		_, err := parseConfig(lines)
		refused := err != nil && strings.Contains(err.Error(), "chmod 600 "+path)
		if refused != c.secret {
			t.Errorf("%sa file of mode 0640: %v, want it refused: %t", c.field, err, c.secret)
		}
		if err != nil && strings.Contains(err.Error(), seed) {
			t.Errorf("the seed is told: %v", err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(path))
		if _, err := parseConfig(lines); err != nil {
			t.Errorf("%sa file of systemd's: %v", c.field, err)
		}
		t.Setenv("CREDENTIALS_DIRECTORY", "")
	}
}
