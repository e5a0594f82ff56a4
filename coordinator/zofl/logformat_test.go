package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestLogFormat: with --log-format json, every log message of coordinators and devices is a JSON
// object.
func TestLogFormat(t *testing.T) {
	dir, address := t.TempDir(), freeport.Address(t)
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", fmt.Sprint(kitchenDim), "--write", plan,
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1", "--set", "rounds=5"); err != nil {
		t.Fatal(err)
	}
	serve := start(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--listen", address,
		"--log-format", "json", "--linger", "1ms")
	serve.says(&serve.stderr, `"msg":"leading"`, `"run":"kitchen"`)
	device := start(t, "client", "--url", "nats://"+address, "--run", "kitchen", "--id", "a",
		"--objective", "bowl", "--dim", fmt.Sprint(kitchenDim), "--log-format", "json")
	serve.says(&serve.stderr, `"msg":"ended"`, `"level":"INFO"`)
	if code := serve.exited(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
	device.interrupt()
	for name, text := range map[string]string{"serve": serve.stderr.String(),
		"client": device.stderr.String()} {
		for line := range strings.Lines(text) {
			var m struct{ Time, Level, Msg string }
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Time == "" || m.Msg == "" {
				t.Errorf("%s wrote %q: %v", name, line, err)
			}
		}
	}
	if code, _, stderr := runs(t, "serve", plan, "--store", dir, "--log-format", "xml"); code != 2 ||
		!strings.Contains(stderr, "text or json") {
		t.Errorf("--log-format xml: exit code %d: %s", code, stderr)
	}
}
