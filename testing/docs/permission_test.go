package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// guarded starts the nats-server of the security page.
func (s *session) guarded() {
	s.t.Helper()
	page, err := Read(filepath.Join(root, "docs/security.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := page.Only("conf")
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.dir, "nats.conf")
	text := strings.ReplaceAll(b.Text, "127.0.0.1:4222", s.address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog = true, true
	broker, err := server.NewServer(opts)
	if err != nil {
		s.t.Fatal(err)
	}
	broker.Start()
	s.t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
	if !broker.ReadyForConnections(patience) {
		s.t.Fatal("the server is not ready")
	}
}

// TestPermissionsPrinted checks that the commands in docs/security.md print the blocks of the
// page's configuration.
func TestPermissionsPrinted(t *testing.T) {
	t.Parallel()
	zofl := built(t)
	page, err := Read(filepath.Join(root, "docs/security.md"))
	if err != nil {
		t.Fatal(err)
	}
	conf, err := page.Only("conf")
	if err != nil {
		t.Fatal(err)
	}
	bare := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	printed := 0
	for _, b := range page.Blocks {
		for line := range strings.Lines(b.Text) {
			words := strings.Fields(line)
			if b.Kind != "sh" || len(words) < 2 || words[1] != "permissions" {
				continue
			}
			out, err := exec.Command(zofl, words[1:]...).Output()
			if printed++; err != nil || !strings.Contains(bare(conf.Text), bare(string(out))) {
				t.Errorf("%sprints %v what the configuration lacks:\n%s", line, err, out)
			}
		}
	}
	const limits = 1 // command
	if users := strings.Count(conf.Text, "permissions:"); printed != users+limits {
		t.Errorf("%d commands for %d users and their limits", printed, users)
	}
}

// TestPermissions leads a run under the permissions in docs/security.md. Every part does its work
// with its permissions, and a device with another device's id gets an error.
func TestPermissions(t *testing.T) {
	t.Parallel()
	zofl := built(t)
	page, err := Read(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	device, err := page.Only("go")
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, zofl)
	s.guarded()
	s.url = "nats://operator:change-me-4@" + s.address
	const users = `
zofl plan --run kitchen --dim 2 --set members=1 --set target=1 --set quorum=1 --set step=1e-6 \
  --set digest_every=8 --write kitchen.json
zofl serve kitchen.json --store kitchen.log --witness w \
  --url nats://coordinator:change-me-1@127.0.0.1:4222 &
zofl follow --run kitchen --id w --store w.state --snapshot-every 8 \
  --url nats://witness:change-me-3@127.0.0.1:4222 > w.out 2>&1 &
`
	s.typed(Block{Line: 1, Kind: "sh", Text: users})
	as := func(name, id string) *program {
		user := strings.NewReplacer("nats://127", "nats://pi-1:change-me-2@127", `"pi-1"`, id)
		return s.start(s.compile(name, user.Replace(device.Text)))
	}
	as("device", `"pi-1"`)
	s.contributed("kitchen")
	s.until("the witness's digest is no reference", func() bool {
		return s.status("kitchen").Reference.N > 0 // one device is no plurality
	})
	if p := as("impostor", `"pi-2"`); s.wait(p) || !strings.Contains(p.said(), "permission") {
		t.Errorf("a device with another's id said\n%swant an error of permission", p.said())
	}
}
