package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
	"github.com/zofl/zofl/plan"
)

// TestPrivateRun: devices and a witness with the run key train. The coordinator leads them without
// the key. export needs the key, and verify needs it for digests.
func TestPrivateRun(t *testing.T) {
	dir, address := t.TempDir(), freeport.Address(t)
	p, key, log, url := filepath.Join(dir, "plan.json"), filepath.Join(dir, "key"),
		filepath.Join(dir, "log"), "nats://"+address
	if _, err := zofl(t, "plan", "--run", "quiet", "--dim", "20", "--write", p, "--secret", key,
		"--set", "members=2", "--set", "target=2",
		"--set", "quorum=2", "--set", "rounds=5", "--set", "reannounce=100", "--set",
		"digest_every=1"); err != nil {
		t.Fatal(err)
	}
	lead := background(t, "serve", p, "--store", log, "--listen", address, "--json",
		"--witness", "w")
	join := func(command, id string, args ...string) *service {
		return background(t, append([]string{command, "--url", url, "--run", "quiet", "--id", id,
			"--json", "--secret", key}, args...)...)
	}
	join("follow", "w", "--store", filepath.Join(dir, "w"))
	join("client", "a", "--objective", "bowl", "--dim", "20")
	b := join("client", "b", "--objective", "bowl", "--dim", "20")
	waitFor(t, b, `"event":"stopped"`)
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, cli.SecretLen), 0o600); err != nil {
		t.Fatal(err)
	}
	for remedy, args := range map[string][]string{
		"--secret is missing: wrong run key: ":    {"--dim", "20"},
		"--secret " + other + ": wrong run key: ": {"--dim", "20", "--secret", other},
		"--dim 21": {"--dim", "21", "--secret", key}} {
		out, err := zofl(t, append([]string{"client", "--url", url, "--run", "quiet", "--id",
			"late", "--objective", "bowl"}, args...)...)
		if !errors.As(err, &cli.UsageError{}) || !strings.Contains(err.Error(), remedy) ||
			strings.Contains(err.Error(), "Config.") || out != "" {
			t.Errorf("a device with %v: %v, %q; want %q, no field of a config and no state", args, err,
				out, remedy)
		}
	}
	if err := lead.stop(); err != nil {
		t.Fatal(err)
	}

	var v logs.Verdict
	out, err := zofl(t, "verify", "--store", log, "--secret", key, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(out), &v)
	}
	if err != nil || v.Rounds != 5 || v.Ended != "rounds" {
		t.Errorf("verify says %+v, %v", v, err)
	}
	if err := b.stop(); err != nil || !strings.Contains(b.out.String(), v.Digest) {
		t.Errorf("the device ended with %v and without the digest %s:\n%s", err, v.Digest,
			b.out.String())
	}
	model := filepath.Join(dir, "model.npy")
	if _, err := zofl(t, "export", "--store", log, "--secret", key, "--out", model); err != nil {
		t.Error(err)
	}
	chain := v
	chain.Digest, chain.Without = "", "give the run key with --secret"
	var got logs.Verdict
	out, err = zofl(t, "verify", "--store", log, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(out), &got)
	}
	if err != nil || !reflect.DeepEqual(got, chain) {
		t.Errorf("verify without the run key says %+v, %v, want %+v", got, err, chain)
	}
	none := filepath.Join(dir, "none.npy")
	for _, args := range [][]string{{"verify", "--secret", other}, {"export", "--out", none},
		{"export", "--out", none, "--secret", other}} {
		_, err := zofl(t, append(args, "--store", log)...)
		if !errors.Is(err, plan.ErrRunKey) || !errors.As(err, &cli.UsageError{}) ||
			!strings.Contains(err.Error(), "--secret") {
			t.Errorf("%v without the run key: %v", args, err)
		}
	}
}

// TestSecretNeedsAPlace: the flag at fault is named, and nothing is written.
func TestSecretNeedsAPlace(t *testing.T) {
	dir := t.TempDir()
	plan, key := filepath.Join(dir, "plan.json"), filepath.Join(dir, "none", "key")
	_, err := zofl(t, "plan", "--dim", "20", "--secret", key, "--write", plan)
	if !errors.As(err, &cli.UsageError{}) || !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "--secret") {
		t.Errorf("a key in a directory that is not there: %v", err)
	}
	if _, err := os.Stat(plan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the plan was written: %v", err)
	}
}
