//go:build !race

package main

import (
	"os"
	"os/exec"
	"testing"
)

// need skips a test where a tool of Debian is missing.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is missing: apt-get install -y dpkg systemd unzip", tool)
	}
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to install and to change root")
	}
}
