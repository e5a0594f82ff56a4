package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newKey makes an SSH key, and returns its file.
func newKey(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen")
	}
	key := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return key
}

// shown returns the commands with which docs/release.md checks a release.
func shown(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/release.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(page), "```sh\n")[1:] {
		if block, _, _ := strings.Cut(part, "```"); strings.Contains(block, "ssh-keygen -Y verify") {
			return block
		}
	}
	t.Fatal("docs/release.md does not say how to check a signature")
	return ""
}

// TestSign: the commands of docs/release.md accept a signed release, and refuse it if a file, the
// hashes, the key or the signature's purpose is another.
func TestSign(t *testing.T) {
	key, commands := newKey(t), shown(t)
	for name, tt := range map[string]struct {
		spoil func(dir string) error
		good  bool
	}{
		"as it was signed": {func(string) error { return nil }, true},
		"another file": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "zofl_1_linux_amd64.tar.gz"), []byte("evil"), 0o644)
		}, false},
		"another file, with its hash": {func(dir string) error {
			file := filepath.Join(dir, "zofl_1_linux_amd64.tar.gz")
			if err := os.WriteFile(file, []byte("evil"), 0o644); err != nil {
				return err
			}
			sum, err := sumOf(file)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "SHA256SUMS"),
				[]byte(sum+"  zofl_1_linux_amd64.tar.gz\n"), 0o644)
		}, false},
		"another key": {func(dir string) error {
			_, err := sign(t.Context(), dir, newKey(t))
			return err
		}, false},
		"another purpose": {func(dir string) error {
			return exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "git",
				filepath.Join(dir, "SHA256SUMS")).Run()
		}, false},
		"no signature": {func(dir string) error {
			return os.Remove(filepath.Join(dir, "SHA256SUMS.sig"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &build{work: t.TempDir()}
			dir := b.in("dist")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			err := os.WriteFile(b.dist("zofl_1_linux_amd64.tar.gz"), []byte("program"), 0o644)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.sums(); err != nil {
				t.Fatal(err)
			}
			line, err := sign(t.Context(), dir, key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(b.dist("allowed_signers"), []byte(line), 0o644); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "another key") || strings.HasPrefix(name, "another purpose") {
				if err := os.Remove(b.dist("SHA256SUMS.sig")); err != nil { // ssh-keygen asks otherwise
					t.Fatal(err)
				}
			}
			if err := tt.spoil(dir); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-ec", commands)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); (err == nil) != tt.good {
				t.Errorf("the check ends with %v:\n%s", err, out)
			}
		})
	}
}

// TestSignRefuses: a key that is not there, or is no key, is named.
func TestSignRefuses(t *testing.T) {
	newKey(t)
	none := filepath.Join(t.TempDir(), "none")
	if _, err := sign(t.Context(), t.TempDir(), none); err == nil ||
		!strings.Contains(err.Error(), none) {
		t.Errorf("got %v, want an error that names the key", err)
	}
}
