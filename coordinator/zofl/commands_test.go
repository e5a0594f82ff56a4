package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
)

// TestIgnoredFlags: a command refuses a flag or an argument that would have no effect, and names
// it.
func TestIgnoredFlags(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "7", "--write", good); err != nil {
		t.Fatal(err)
	}
	url := "nats://127.0.0.1:1"
	for _, c := range []struct{ args, want []string }{
		{[]string{"plan", good, "--preset", "mezo", "--dim", "7"},
			[]string{"good.json", "--preset", "--dim", "--set"}},
		{[]string{"plan", good, "--run", "other"}, []string{"good.json", "--run"}},
		{[]string{"plan", good, good}, []string{"2 files"}},
		{[]string{"plan", "--fields", good}, []string{"good.json", "--fields"}},
		{[]string{"plan", "--fields", "--set", "steps=2"}, []string{"--set", "--fields"}},
		{[]string{"plan", "--dim", "7", "--id-length", "0"}, []string{"--id-length 0", "32"}},
		{[]string{"plan", "--dim", "7", "--write", good}, []string{"--write", "good.json", "new file"}},
		{[]string{"serve", good, "--store", dir, "--url", url, "--listen", "127.0.0.1:4222"},
			[]string{"--listen", "--url"}},
		{[]string{"serve", good, "--store", dir, "--creds", "x"}, []string{"--creds", "--url"}},
		{[]string{"serve", good, "--store", dir, "--tls-ca", "x"}, []string{"--tls-ca", "--url"}},
		{[]string{"serve", good, "--store", dir, "--run", "kitchen"}, []string{"--run", "--jetstream"}},
		{[]string{"serve", good, "--store", dir, "--replicas", "1"},
			[]string{"--replicas", "--jetstream"}},
		{[]string{"serve", good, "--store", dir, "--lease", "10s"}, []string{"--lease", "--jetstream"}},
		{[]string{"serve", good, "--store", dir, "--allow-unsynced"},
			[]string{"--allow-unsynced", "--jetstream", "--url"}},
		{[]string{"serve", good, "--store", dir, "--jetstream", "--system-url", url},
			[]string{"--system-url", "--jetstream", "--url"}},
		{[]string{"serve", good, "--store", dir, "--jetstream", "--url", url, "--allow-unsynced"},
			[]string{"--store", "--jetstream"}},
		{[]string{"serve", good, "--jetstream", "--url", url, "--allow-unsynced", "--system-url", url},
			[]string{"--system-url", "--allow-unsynced"}},
		{[]string{"serve", good, "--jetstream", "--store", dir, "--run", "other"},
			[]string{"--run other", "good.json", "kitchen"}},
		{[]string{"serve", good, "--jetstream", "--store", dir, "--lease", "1ms"},
			[]string{"--lease 1ms", "1s"}},
		{[]string{"serve", good, "--store", dir, "--listen", "127.0.0.1:99999"},
			[]string{"--listen", "99999", "65535"}},
		{[]string{"serve", good, "--store", dir, "--listen", "127.0.0.1:0", "--witness", "a b"},
			[]string{"a b", "Witnesses"}},
		{[]string{"serve", good, "--store", dir, "--url", url, "--websocket", "127.0.0.1:0"},
			[]string{"--websocket", "--url"}},
		{[]string{"serve", good, "--store", dir, "--url", url, "--origin", "http://a"},
			[]string{"--origin", "--url"}},
		{[]string{"client", "--url", url, "--run", "r", "--id", "a", "--delay", "-1s"},
			[]string{"--delay -1s"}},
		{[]string{"log", "--store", dir, "--run", "r"}, []string{dir, "--run"}},
		{[]string{"log", "--store", dir, "--jetstream"}, []string{dir, "--jetstream"}},
		{[]string{"verify", "--store", dir, "--creds", "x"}, []string{dir, "connection"}},
		{[]string{"log", "--store", dir, "--from", "9", "--to", "3"}, []string{"--from 9", "--to 3"}},
		{[]string{"export", "--store", dir, "--out", existing(t, "x.npy")}, []string{"--out", "x.npy"}},
		{[]string{"log", "move", "--from", "jetstream", "--to", dir, "--run", "r", "--url", url,
			"--replicas", "3"}, []string{"--replicas", "directory"}},
		{[]string{"log", "move", "--to", "jetstream", "--from", dir, "--run", "r", "--url", url,
			"--replicas", "2"}, []string{"--replicas 2", "1, 3 or 5"}},
		{[]string{"change", "members", "--run", "r", "--url", url}, []string{"members", "FIELD=VALUE"}},
		{[]string{"change", "members=few", "--run", "r", "--url", url}, []string{"members", "few"}},
		{[]string{"change", "dim=3", "--run", "r", "--url", url}, []string{"dim"}},
		{[]string{"demo", "--rounds", "3", "--set", "rounds=4"}, []string{"--rounds", "--set rounds"}},
		{[]string{"demo", "--set", "members=21"}, []string{"members", "21", "20 devices"}},
		{[]string{"demo", "--set", "target=21"}, []string{"target", "21", "20 devices"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}

func existing(t *testing.T, name string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestUsageExits: commands exit with 2 for every error that the user can correct, whichever package
// finds the error.
func TestUsageExits(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"frob"}, []string{"unknown command", "frob", "--help"}},
		{[]string{"dmo"}, []string{"unknown command", "demo"}},
		{[]string{"help", "frob"}, []string{"unknown command", "frob"}},
		{[]string{"help", "log", "frob"}, []string{"unknown command", "frob", "zofl log"}},
		{[]string{"bench", "frob"}, []string{"frob"}},
		{[]string{"completion", "frob"}, []string{"frob"}},
		{[]string{"plan", "nosuch.json"}, []string{"nosuch.json", "no such file"}},
		{[]string{"serve", "nosuch.json", "--store", "x"}, []string{"nosuch.json", "no such file"}},
	} {
		code, out, text := runs(t, c.args...)
		if code != cli.ExitUsage || !hasAll(text, c.want) || lines(text, "zofl:") != 1 || out != "" {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s%s", c.args, code, cli.ExitUsage, c.want, out,
				text)
		}
	}
	for _, args := range [][]string{{}, {"help"}, {"help", "log", "move"}, {"completion", "bash"}} {
		if code, out, text := runs(t, args...); code != 0 || out == "" {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

// TestPlanSyntax: the error about a plan file that is not JSON has the file, the line and the
// column.
func TestPlanSyntax(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"comma.json": {"{\n  \"run\": \"x\",\n  \"dim\": 7,,\n}", "comma.json:3:12: "},
		"open.json":  {"{\"run\": \"x\"", "open.json:1:12: "},
		"empty.json": {"", "empty.json:1:1: "},
		"tail.json":  {"{}\n}\n", "tail.json:2:1: "},
		"wide.json":  {"{\"run\": \"\u00e4\u00f6\" x}", "wide.json:1:14: "},
		"list.json":  {"[]", "list.json: "},
		"field.json": {`{"stepz": 3}`, "field.json: plan: stepz = 3"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"plan", file}, {"serve", file, "--store", dir}} {
			_, err := zofl(t, args...)
			t.Run(args[0]+" "+name, func(t *testing.T) { refused(t, err, []string{c.want}) })
		}
	}
}

// TestPlanFieldsJSON: with --json the list of fields is JSON, too.
func TestPlanFieldsJSON(t *testing.T) {
	out, err := zofl(t, "plan", "--fields", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Fields []struct {
			Name, Doc, Values string
			Changeable        bool
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %.80q", err, out)
	}
	for i, f := range plan.Fields() {
		if i >= len(got.Fields) || got.Fields[i].Name != f.Name || got.Fields[i].Doc != f.Doc ||
			got.Fields[i].Values == "" || got.Fields[i].Changeable != f.Changeable {
			t.Errorf("field %d is not %s in %+v", i, f.Name, got.Fields)
		}
	}
}

// TestFlagsOfALog: commands refuse flags that have no effect on a log, and records that a log does
// not have. serve refuses to continue a log with the plan of another run.
func TestFlagsOfALog(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(5)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	key, start := filepath.Join(k.dir, "key"), filepath.Join(k.dir, "start.f32")
	other := filepath.Join(k.dir, "other.json")
	for file, size := range map[string]int{key: cli.SecretLen, start: 4 * kitchenDim} {
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := zofl(t, "plan", "--run", "other", "--dim", "7", "--write", other); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(k.dir, "x.npy")
	for _, c := range []struct{ args, want []string }{
		{[]string{"verify", "--store", k.log, "--secret", key}, []string{"--secret", "not private"}},
		{[]string{"verify", "--store", k.log, "--initial", start}, []string{"--initial", "kitchen"}},
		{[]string{"verify", "--store", k.log, "--at", "9999999"}, []string{"--at", "9999999"}},
		{[]string{"export", "--store", k.log, "--out", out, "--secret", key}, []string{"--secret"}},
		{[]string{"export", "--store", k.log, "--out", out, "--at", "9999999"}, []string{"--at"}},
		{[]string{"serve", other, "--store", k.log, "--listen", "127.0.0.1:0"},
			[]string{"other", "kitchen"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}

// TestInitialIsMissing: a device whose checkpoint is of a given model hears which flag to give, not
// which field of a Go program. With the flag it goes on.
func TestInitialIsMissing(t *testing.T) {
	start := filepath.Join(t.TempDir(), "start.f32")
	if err := os.WriteFile(start, make([]byte, 4*kitchenDim), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKitchenOf(t, []string{"--initial", start, "--set", "members=1", "--set", "target=1"})
	args := []string{"client", "--url", k.url, "--run", "kitchen", "--id", "a", "--objective", "bowl",
		"--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, "a")}
	whole := append(args, "--initial", start)
	device := background(t, whole...)
	k.reach(5)
	if err := device.stop(); err != nil {
		t.Fatal(err)
	}
	_, err := zofl(t, args...)
	refused(t, err, []string{"--initial is missing", "checkpoint", "that the plan was made with"})
	if err != nil && strings.Contains(err.Error(), "Config") {
		t.Errorf("it names a field of a Go program: %v", err)
	}
	n := k.reach(1).N
	background(t, whole...)
	k.reach(n + 3)
}

// TestRosterIsMadeByHand: the roster of a log is removed under a running serve. The next serve says
// how to make it again, and then goes on.
func TestRosterIsMadeByHand(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	n := k.reach(5).N
	roster := filepath.Join(k.log, "roster")
	was, err := os.ReadFile(roster)
	first, second := "a", "b"
	if strings.Index(string(was), "+b\n") < strings.Index(string(was), "+a\n") {
		first, second = second, first
	}
	if err := errors.Join(err, os.Remove(roster), k.lead.stop()); err != nil {
		t.Fatal(err)
	}
	again := []string{"serve", k.plan, "--store", k.log, "--json", "--listen",
		strings.TrimPrefix(k.url, "nats://")}
	if _, err := zofl(t, again...); err == nil || !strings.Contains(err.Error(), "make it: the line") {
		t.Fatalf("got %v, want what to do about the roster", err)
	}
	text := "zofl roster 1\n" + first + "\n" + second + "\n"
	if err := os.WriteFile(roster, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, again...)
	k.reach(n + 5)
}
