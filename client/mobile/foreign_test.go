package mobile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// A StateDir with the model of another run, or with another number of parameters, makes the client
// fail with a code, and the client does not change the files.
func TestForeignStateDir(t *testing.T) {
	dir := t.TempDir()
	file := checkpointOf(t, "digits", 7)
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	client := func(run string, dim int) *Client {
		cfg := config()
		cfg.StateDir, cfg.Run, cfg.Dim = dir, run, dim
		return made(t, cfg)
	}
	for _, tt := range []struct {
		run  string
		dim  int
		code string
	}{{"digits", 8, CodeDim}, {"letters", 7, CodeStore}} {
		c := client(tt.run, tt.dim)
		hasCode(t, "Load", c.Load(), tt.code)
		hasCode(t, "RunFor", c.RunFor(60_000), tt.code)
		if got, err := os.ReadFile(filepath.Join(dir, "checkpoint")); !bytes.Equal(got, file) {
			t.Errorf("the checkpoint has %d bytes, %v, want the %d that it had", len(got), err,
				len(file))
		}
		if aside, _ := filepath.Glob(filepath.Join(dir, "*.bad")); len(aside) > 0 {
			t.Errorf("%v were set aside", aside)
		}
	}
	c := client("digits", 7)
	if err := c.Load(); err != nil || c.Record() != 1 {
		t.Errorf("with the right ones: %v, record %d, want 1", err, c.Record())
	}
}

// checkpointOf returns the state file of a run after its first record.
func checkpointOf(t *testing.T, run string, dim uint64) []byte {
	t.Helper()
	p, err := preset.Unbound("decomfl", run, dim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	r := replica.New(replica.Config{Run: run})
	first := wire.Record{
		N: 1, Prev: wire.Genesis(run), Epoch: 1, Kind: wire.KindPlan, Plan: p,
	}
	if err := r.Apply(first.Append(nil)); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.Save(&file, replica.History{}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
