package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentialsExpire: credentials of `device add --valid` expire during a run. The device says
// so, and how to renew them, waits, and goes on with new ones. Revoking it shuts out both.
func TestCredentialsExpire(t *testing.T) {
	k := newEnrolled(t)
	file, renewed := filepath.Join(k.dir, "a.creds"), filepath.Join(k.dir, "renewed.creds")
	add := func(valid, file, says string) {
		t.Helper()
		out, err := zofl(t, "device", "add", "a", "--auth", k.auth, "--valid", valid, "--out", file)
		if err != nil || !strings.Contains(out, says) {
			t.Fatalf("add --valid %s: %v: %s, want %q", valid, err, out, says)
		}
	}
	listed := func(says string) {
		t.Helper()
		out, err := zofl(t, "device", "list", "--auth", k.auth)
		if err != nil || !strings.Contains(out, says) {
			t.Errorf("list: %v: %s, want %q", err, out, says)
		}
	}
	k.member("b", k.add("b", "device"))
	add("4s", file, ", until 20")
	thief := k.connect(file)
	listed("until 20")
	a := start(t, "client", "--id", "a", "--json", "--objective", "bowl", "--dim",
		fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, "a"), "--run", "kitchen", "--url", k.url,
		"--creds", file)
	<-thief.closed // by the broker, when the credentials expired
	a.says(&a.stderr, "write new credentials to the same file")
	listed("expired on 20")
	listed("do not expire") // b's

	add("1h", renewed, ", until 20")
	if err := os.Rename(renewed, file); err != nil {
		t.Fatal(err)
	}
	before := len(a.out.String())
	if !a.out.Until(func(text string) bool {
		return strings.Contains(text[before:], `"loss":`)
	}) {
		t.Fatalf("the renewed device takes no part:\n%s", a.out.String()[before:])
	}
	second := k.connect(file)
	add("2h", renewed, ", until 20") // before the others expire
	if _, err := zofl(t, "device", "revoke", "a", "--auth", k.auth); err != nil {
		t.Fatal(err)
	}
	<-second.closed
	k.shutOut([]string{"--url", k.url, "--creds", renewed, "--run", "kitchen"})
	listed("revoked")
}

// TestValidRefused: a time that is no time ahead is refused.
func TestValidRefused(t *testing.T) {
	for _, valid := range []string{"0", "-1h", "10ms", "soon"} {
		if _, err := zofl(t, "device", "add", "a", "--auth", t.TempDir(), "--valid", valid); err == nil {
			t.Errorf("--valid %s was taken", valid)
		}
	}
}
