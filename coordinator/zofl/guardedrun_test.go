package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A guardedKitchen is a kitchen whose broker is guarded.
type guardedKitchen struct {
	*kitchen
	g *guarded
}

// everyone are the users of a run.
func everyone(extra map[string][]string) (members []member) {
	for name, role := range map[string]string{"a": "device", "b": "device", "c": "device",
		"w": "witness", "v": "witness", "liar": "witness"} {
		members = append(members, member{name, append([]string{"--role", role, "--device", name},
			extra[role]...)})
	}
	members = append(members, member{"spy", nil})
	for _, role := range []string{"coordinator", "operator"} {
		members = append(members, member{role, append([]string{"--role", role}, extra[role]...)})
	}
	return members
}

func (k *guardedKitchen) newPlan(flags ...string) {
	k.t.Helper()
	if _, err := zofl(k.t, append([]string{"plan", "--preset", "zofl", "--run", "kitchen", "--dim",
		fmt.Sprint(kitchenDim), "--write", k.plan, "--set", "members=2", "--set", "target=2", "--set",
		"quorum=1", "--set", "reannounce=100", "--set", "deadline=500", "--set",
		"max_attempts=1000", "--set", "digest_every=4"}, flags...)...); err != nil {
		k.t.Fatal(err)
	}
}

// as runs a command as a user until the test ends.
func (k *guardedKitchen) as(user string, args ...string) *service {
	k.t.Helper()
	return background(k.t, append(args, k.g.login[user]...)...)
}

func (k *guardedKitchen) device(id string, more ...string) *service {
	k.t.Helper()
	return k.as(id, append([]string{"client", "--run", "kitchen", "--id", id, "--json", "--objective",
		"bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, id)}, more...)...)
}

// command runs a command of an operator.
func (k *guardedKitchen) command(args ...string) string {
	k.t.Helper()
	out, err := zofl(k.t, append(append(args, "--run", "kitchen"), k.g.login["operator"]...)...)
	if err != nil {
		k.t.Fatalf("zofl %v: %v", args, err)
	}
	return out
}

// recordsReach asks until the log has record n.
func (k *guardedKitchen) recordsReach(n uint64) (last uint64) {
	k.t.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		out, err := zofl(k.t, append([]string{"status", "--json", "--run", "kitchen"},
			k.g.login["operator"]...)...)
		if errors.As(err, new(cli.AbsentError)) {
			continue // it has just begun
		}
		if err != nil {
			k.t.Fatal(err)
		}
		var s struct{ N uint64 }
		if decode(k.t, out, &s); s.N >= n {
			return s.N
		}
		last = s.N
	}
	k.t.Fatalf("no record %d in %v: the last one is %d", n, patience, last)
	return 0
}

// TestRunUnderPermissions leads a run that uses every feature of the protocol. The server denies
// nothing, and the run needs every permission.
func TestRunUnderPermissions(t *testing.T) {
	for way := range setUps {
		for _, dense := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dense %v", way, dense), func(t *testing.T) {
				t.Parallel()
				runUnderPermissions(t, way, dense)
			})
		}
	}
}

func runUnderPermissions(t *testing.T, way string, dense bool) {
	dir, plan, extra := t.TempDir(), []string(nil), map[string][]string{}
	if dense {
		plan = []string{"--preset", "fzoos", "--set", "features=40", "--set", "window=30", "--set",
			"steps=2", "--set", "dense_keep=64"}
		for _, role := range grant.Roles {
			extra[string(role)] = []string{"--dense"}
		}
	}
	k := &guardedKitchen{g: newGuarded(t, way, false, everyone(extra)...), kitchen: &kitchen{t: t,
		dir: dir, plan: filepath.Join(dir, "plan.json"), log: filepath.Join(dir, "log")}}
	k.newPlan(plan...)
	lead := k.as("coordinator", "serve", k.plan, "--store", k.log, "--json",
		"--witness", "liar", "--witness", "w")
	k.recordsReach(1)
	s := k.g.spyAs("spy")
	k.follower("w", "--snapshot-every", "4")
	a, b := k.device("a"), k.device("b")
	k.recordsReach(10)
	if err := b.stop(); err != nil { // to catch up later
		t.Fatal(err)
	}
	n := k.recordsReach(20)
	k.command("pause")
	head := k.recordsReach(0)
	k.device("b")
	c := k.device("c", "--horizon", "1")
	if !dense { // vectors that are still there are proven by their records
		s.saw(subjects.Snapshot("kitchen", "c"))
	}
	waitFor(t, c, fmt.Sprintf(`"n":%d,`, head)) // later it might run after the head for ever
	k.follower("v")
	k.command("resume")
	s.saw(k.g.granted(dense, grant.Device, grant.Witness)...)
	if err := c.stop(); err != nil { // it is retired now
		t.Fatal(err)
	}
	k.commands(n, dense)
	k.lie(a)
	k.recordsReach(k.recordsReach(0) + 8)
	s.saw(k.g.granted(dense, grant.Coordinator, grant.Operator)...)
	s.stop()
	if err := lead.stop(); err != nil {
		t.Error(err)
	}
	k.as("coordinator", "serve", "--store", k.log, "--json") // without its plan
	k.recordsReach(n + 20)
	k.command("stop")
	waitFor(t, a, `"event":"stopped"`)
	if denied := k.g.denied(); len(denied) > 0 {
		t.Errorf("the broker denied:\n%s", strings.Join(denied, "\n"))
	}
}

func (k *guardedKitchen) follower(id string, more ...string) {
	k.t.Helper()
	k.as(id, append([]string{"follow", "--run", "kitchen", "--id", id, "--json", "--store",
		filepath.Join(k.dir, id)}, more...)...)
}

// commands gives each command of an operator. The run has more than n records.
func (k *guardedKitchen) commands(n uint64, dense bool) {
	k.t.Helper()
	for _, args := range [][]string{{"devices"}, {"retire", "c"}, {"verify"},
		{"log", "--to", "3"}, {"export", "--out", filepath.Join(k.dir, "x.npy")}} {
		k.command(args...)
	}
	if dense {
		k.command("change", "dense_keep=80")
		return
	}
	k.command("change", "step=1e-5")
	k.command("rollback", fmt.Sprint(n))
}

// granted are the subjects that the roles of the run may publish, without subjects that a run of
// this length does not need.
func (g *guarded) granted(dense bool, roles ...grant.Role) (patterns []string) {
	g.t.Helper()
	for _, role := range roles {
		use := grant.Use{Run: "kitchen", Dense: dense,
			ID: map[grant.Role]string{grant.Device: "c", grant.Witness: "v"}[role]}
		p, err := grant.For(role, use)
		if err != nil {
			g.t.Fatal(err)
		}
		patterns = append(patterns, p.Pub.Allow...)
	}
	return slices.DeleteFunc(patterns, func(p string) bool {
		// A run needs these subjects if vectors are gone, if its log begins with a state, or if its log
		// lost records.
		return p == subjects.Snapshot("kitchen", "v") || p == subjects.Join("kitchen", "v") ||
			dense && p == subjects.Snapshot("kitchen", "c")
	})
}

// lie reports wrong digests as a witness, until a device finds that its state differs.
func (k *guardedKitchen) lie(device *service) {
	k.t.Helper()
	nc := k.g.connectAs("liar")
	log := source.Live(nc, "kitchen", "liar", nil)
	for !strings.Contains(device.out.String(), client.ErrDiverged.Error()) {
		n := k.recordsReach(0) / 4 * 4
		err := log.Read(k.t.Context(), n, func(n uint64, record []byte) bool {
			reply := wire.Reply{Kind: wire.DigestReport, N: n, Tip: wire.HashRecord(record).Tip(),
				Digest: [8]byte{1}}
			if err := nc.Publish(subjects.Reply("kitchen", 0, "liar"), reply.Append(nil)); err != nil {
				k.t.Error(err)
			}
			return false
		})
		if err != nil {
			k.t.Fatal(err)
		}
	}
}

// connectAs returns a connection of a device or witness, with the inbox of that role.
func (g *guarded) connectAs(id string) *nats.Conn {
	g.t.Helper()
	c := connect.Connection{URL: g.login[id][len(g.login[id])-1]}
	if g.login[id][0] == "--creds" {
		c.Creds = g.login[id][1]
	}
	nc, err := c.Dial(id, subjects.Inbox(id))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(nc.Close)
	return nc
}

// TestPermissionsRefuse: zofl permissions refuses combinations of flags that make no sense, and
// names the flags.
func TestPermissionsRefuse(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"--run", "r"}, []string{"name of the device"}},
		{[]string{"--device", "a"}, []string{"run"}},
		{[]string{"--run", "r", "--device", "a", "--format", "xml"}, []string{"xml", "conf or jwt"}},
		{[]string{"--run", "r", "--role", "king"}, []string{"king", grant.Names()}},
		{[]string{"--run", "r", "--role", "operator", "--jetstream"}, []string{"coordinator"}},
		{[]string{"--run", "r", "--device", grant.OperatorID}, []string{grant.OperatorID}},
	} {
		_, err := zofl(t, append([]string{"permissions"}, c.args...)...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}

// TestJetStreamUnderPermissions: a coordinator may use its log in JetStream, vectors included.
func TestJetStreamUnderPermissions(t *testing.T) {
	for way := range setUps {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			members := everyone(map[string][]string{"coordinator": {"--jetstream", "--dense"},
				"device": {"--dense"}})
			k := &guardedKitchen{g: newGuarded(t, way, true, members...), kitchen: &kitchen{t: t,
				dir: dir, plan: filepath.Join(dir, "plan.json")}}
			k.newPlan("--preset", "fzoos", "--set", "features=40", "--set", "window=30", "--set",
				"steps=2", "--set", "dense_keep=4")
			lead := k.as("coordinator", "serve", k.plan, "--jetstream", "--allow-unsynced")
			k.recordsReach(1)
			k.device("a")
			k.device("b")
			k.recordsReach(20)
			login := append([]string{"--run", "kitchen"}, k.g.login["operator"]...)
			if len(historyOf(t, login...).Points) == 0 {
				t.Error("the coordinator has no history")
			}
			if err := lead.stop(); err != nil {
				t.Error(err)
			}
			login = append([]string{"--jetstream", "--run", "kitchen"}, k.g.login["coordinator"]...)
			if len(historyOf(t, login...).Points) == 0 {
				t.Error("JetStream has no history")
			}
			// The commands that read and move the log have the coordinator's permissions.
			for _, args := range [][]string{{"verify", "--jetstream"},
				{"log", "move", "--from", "jetstream", "--to", filepath.Join(dir, "moved")}} {
				if _, err := zofl(t, append(append(args, "--run", "kitchen"),
					k.g.login["coordinator"]...)...); err != nil {
					t.Errorf("zofl %v: %v", args, err)
				}
			}
			if denied := k.g.denied(); len(denied) > 0 {
				t.Errorf("the broker denied:\n%s", strings.Join(denied, "\n"))
			}
		})
	}
}
