package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
)

// patience bounds what a test waits for; none waits for it to pass.
const patience = await.Patience

// A service is a command that runs until it is stopped.
type service struct {
	t    *testing.T
	out  await.Text
	stop func() error // ends it as a signal does, once
}

// background runs a command until its test ends.
func background(t *testing.T, args ...string) *service {
	t.Helper()
	s := &service{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		cmd := root()
		cmd.SetOut(&s.out)
		cmd.SetArgs(args)
		done <- cmd.ExecuteContext(ctx)
	}()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("zofl %v: %v", args, err)
		}
	})
	return s
}

// A kitchen is a run of two devices and a coordinator with a broker of its own.
type kitchen struct {
	t         *testing.T
	dir, url  string
	plan, log string
	lead      *service
}

const kitchenDim = 20

func newKitchen(t *testing.T, serve ...string) *kitchen {
	t.Helper()
	return newKitchenOf(t, nil, serve...)
}

// newKitchenOf makes one whose plan has more flags.
func newKitchenOf(t *testing.T, plan []string, serve ...string) *kitchen {
	t.Helper()
	dir := t.TempDir()
	address := freeport.Address(t)
	k := &kitchen{t: t, dir: dir, url: "nats://" + address, plan: filepath.Join(dir, "plan.json"),
		log: filepath.Join(dir, "log")}
	args := append([]string{"plan", "--preset", "zofl", "--run", "kitchen", "--dim",
		fmt.Sprint(kitchenDim), "--write", k.plan, "--set", "members=2", "--set", "target=2",
		"--set", "quorum=1", "--set", "reannounce=100", "--set", "deadline=500", "--set",
		"max_attempts=1000", "--set", "digest_every=4"}, plan...)
	if _, err := zofl(t, args...); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, append([]string{"serve", k.plan, "--store", k.log, "--listen", address,
		"--json"}, serve...)...)
	return k
}

// device starts a device.
func (k *kitchen) device(id string) *service {
	k.t.Helper()
	return background(k.t, "client", "--url", k.url, "--run", "kitchen", "--id", id, "--json",
		"--objective", "bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, id))
}

// ask runs an operator's command and returns the status.
func (k *kitchen) ask(args ...string) (*operate.Status, error) {
	out, err := zofl(k.t, append(args, "--url", k.url, "--run", "kitchen", "--json")...)
	if err != nil {
		return nil, err
	}
	s := &operate.Status{}
	if err := json.Unmarshal([]byte(out), s); err != nil {
		k.t.Fatalf("%v: %v in %q", args, err, out)
	}
	return s, nil
}

// reach asks until the log has record n.
func (k *kitchen) reach(n uint64) *operate.Status {
	k.t.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		if s, err := k.ask("status"); err == nil && s.N >= n {
			return s
		} else if err != nil && !errors.As(err, new(cli.AbsentError)) {
			k.t.Fatal(err)
		}
	}
	k.t.Fatalf("no record %d in %v: %s", n, patience, k.lead.out.String())
	return nil
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

// TestOperateARun goes through an operator's day.
func TestOperateARun(t *testing.T) {
	k := newKitchen(t, "--witness", "w")
	w := background(t, "follow", "--url", k.url, "--run", "kitchen", "--id", "w", "--store",
		filepath.Join(k.dir, "w"), "--snapshot-every", "8", "--json")
	a, b := k.device("a"), k.device("b")
	k.reach(20)
	paused, err := k.ask("pause", "--reason", "lunch")
	if err != nil || paused.State != "paused" || paused.Reason != "lunch" {
		t.Fatalf("pause: %+v, %v", paused, err)
	}

	// The model at a record is the same from wherever it is read.
	live, offline := filepath.Join(k.dir, "live.npy"), filepath.Join(k.dir, "offline.f32")
	if _, err := zofl(t, "export", "--url", k.url, "--run", "kitchen", "--at", "15", "--out",
		live); err != nil {
		t.Fatal(err)
	}
	var verified logs.Verdict
	text, err := zofl(t, "verify", "--url", k.url, "--run", "kitchen", "--every", "5", "--json")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text, &verified)
	if verified.Records != paused.N || len(verified.Digests) != int(paused.N/5) ||
		verified.Run != "kitchen" {
		t.Errorf("verified %+v, want %d records", verified, paused.N)
	}

	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	k.reach(paused.N + 2)
	if rolled, err := k.ask("rollback", "10"); err != nil || rolled.N < paused.N+3 {
		t.Errorf("rollback: %+v, %v", rolled, err)
	}
	k.reach(paused.N + 10)
	ended, err := k.ask("stop", "--reason", "enough")
	if err != nil || ended.State != "ended" {
		t.Fatalf("stop: %+v, %v", ended, err)
	}
	for _, d := range []*service{a, b, w} {
		waitFor(t, d, `"event":"stopped"`)
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := zofl(t, "verify", "--store", k.log); err == nil ||
		!strings.Contains(err.Error(), "--url") {
		t.Errorf("a log in use: %v, want an error that names --url", err)
	}
	if err := k.lead.stop(); err != nil {
		t.Error(err)
	}

	// Nobody runs any more: the log on disk has everything.
	if text, err = zofl(t, "verify", "--store", k.log, "--json"); err != nil {
		t.Fatal(err)
	}
	decode(t, text, &verified)
	for _, d := range []*service{a, b, w} {
		var last struct {
			N      uint64
			Digest string
		}
		lines := strings.Split(strings.TrimSpace(d.out.String()), "\n")
		decode(t, lines[len(lines)-1], &last)
		if last.N != verified.Records || last.Digest != verified.Digest {
			t.Errorf("a device ended with %+v, the log says %d, %s", last, verified.Records,
				verified.Digest)
		}
	}
	if _, err := zofl(t, "export", "--store", k.log, "--at", "15", "--out", offline); err != nil {
		t.Fatal(err)
	}
	x, err := vector.Read(live)
	if err != nil {
		t.Fatal(err)
	}
	y, err := vector.Read(offline)
	if err != nil || len(x) != kitchenDim || fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("exported %v from the coordinator, %v from the log, %v", x, y, err)
	}
	if text, err = zofl(t, "log", "--store", k.log, "--json"); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(text, "\n"); uint64(lines) != verified.Records ||
		!strings.Contains(text, `"kind":"rollback"`) || !strings.Contains(text, `"to":10`) {
		t.Errorf("%d lines of %d records, or no rollback:\n%s", lines, verified.Records, text)
	}
}

// waitFor waits until a command has printed something.
func waitFor(t *testing.T, s *service, text string) {
	t.Helper()
	if !s.out.Says(text) {
		t.Fatalf("%q was not printed in %v: %s", text, patience, s.out.String())
	}
}

// TestServeContinues: after a stop, a coordinator continues its log.
func TestServeContinues(t *testing.T) {
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	before := k.reach(10)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.ask("status"); !errors.As(err, new(cli.AbsentError)) {
		t.Errorf("status without a broker: %v, want nobody to answer", err)
	}
	k.lead = background(t, "serve", "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://"))
	if after := k.reach(before.N + 5); after.Epoch <= before.Epoch {
		t.Errorf("epoch %d after %d", after.Epoch, before.Epoch)
	}
}

func TestServeAndLogsRefuse(t *testing.T) {
	dir := t.TempDir()
	noPlan := filepath.Join(dir, "none.json")
	open := filepath.Join(dir, "open.log")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string // in the message
	}{
		{[]string{"serve"}, []string{"--store"}},
		{[]string{"serve", noPlan, "--store", dir}, []string{"none.json"}},
		{[]string{"serve", "--store", dir, "--listen", freeport.Address(t)}, []string{dir, "PLAN"}},
		{[]string{"serve", "--store", open, "--listen", freeport.Address(t)},
			[]string{"--store", "0777", "chmod 700 " + open, "new directory"}},
		{[]string{"serve", noPlan, noPlan}, []string{"2 files"}},
		{[]string{"serve", "--store", dir, "--listen", "0.0.0.0:4222"},
			[]string{"0.0.0.0:4222", "loopback", "--url"}},
		{[]string{"serve", "--store", dir, "--listen", "4222"}, []string{"--listen", "4222"}},
		{[]string{"serve", "--jetstream", "--url", "nats://127.0.0.1:1"}, []string{"--run"}},
		{[]string{"serve", "--jetstream", "--run", "r", "--url", "nats://127.0.0.1:1"},
			[]string{"--system-url", "--allow-unsynced"}},
		{[]string{"serve", "--jetstream", "--run", "r"}, []string{"--store"}},
		{[]string{"serve", "--jetstream", "--run", "r", "--store", dir, "--replicas", "3"},
			[]string{"--replicas 3", "--url"}},
		{[]string{"serve", "--jetstream", "--run", "r", "--store", dir, "--replicas", "2"},
			[]string{"--replicas 2"}},
		{[]string{"client", "--id", "a", "--url", "nats://127.0.0.1:1"}, []string{"--run"}},
		{[]string{"client", "--run", "r", "--url", "nats://127.0.0.1:1"}, []string{"--id"}},
		{[]string{"client", "--run", "r", "--id", "a"}, []string{"--url"}},
		{[]string{"client", "--run", "r", "--id", "a", "--objective", "hill"},
			[]string{"hill", "bowl"}},
		{[]string{"client", "--run", "r", "--id", "a", "--objective", "bowl"}, []string{"dim"}},
		{[]string{"client", "--run", "r", "--id", "a", "--dim", "3"}, []string{"dim", "7850"}},
		{[]string{"follow", "--run", "r", "--id", "a", "--snapshot-every", "9"},
			[]string{"--store"}},
		{[]string{"status", "--url", "nats://127.0.0.1:1"}, []string{"--run"}},
		{[]string{"status", "--run", "r", "--tls-cert", "x", "--url", "nats://127.0.0.1:1"},
			[]string{"--tls-key"}},
		{[]string{"status", "--run", "a b", "--url", "nats://127.0.0.1:1"},
			[]string{"--run", "a b"}},
		{[]string{"log", "--run", "*", "--url", "nats://127.0.0.1:1"}, []string{"--run", "*"}},
		{[]string{"client", "--run", "a.b", "--id", "a", "--url", "nats://127.0.0.1:1",
			"--objective", "bowl", "--dim", "1"}, []string{"--run", "a.b"}},
		{[]string{"change", "--run", "r"}, []string{"FIELD=VALUE"}},
		{[]string{"rollback", "--run", "r"}, []string{"record"}},
		{[]string{"rollback", "0", "--run", "r"}, []string{"0"}},
		{[]string{"rollback", "x", "--run", "r"}, []string{"x"}},
		{[]string{"log"}, []string{"--store", "--url"}},
		{[]string{"log", "--store", dir, "--url", "nats://127.0.0.1:1"},
			[]string{"--store", "--url"}},
		{[]string{"log", "--store", dir}, []string{dir, "no log"}},
		{[]string{"verify", "--store", dir, "--initial", noPlan},
			[]string{"--initial", "none.json"}},
		{[]string{"export", "--store", dir}, []string{"--out"}},
		{[]string{"export", "--store", dir, "--out", "x.bin"}, []string{"x.bin", ".npy"}},
		{[]string{"log", "move", "--run", "r", "--from", dir, "--to", dir}, []string{"jetstream"}},
		{[]string{"log", "move", "--from", dir, "--to", "jetstream"}, []string{"--run"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}

// Exit codes are part of the program's contract with scripts.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	k := newKitchen(t)
	k.device("a")
	k.device("b")
	k.reach(5)
	for _, command := range []string{"log", "verify", "status"} {
		_, err := zofl(t, command, "--url", k.url, "--run", "nosuch")
		if got := cli.ExitCode(err, false); got != cli.ExitAbsent {
			t.Errorf("%s of a run that nobody serves: exit code %d, want %d: %v", command, got,
				cli.ExitAbsent, err)
		}
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := zofl(t, "verify", "--store", k.log); cli.ExitCode(err, false) != 0 {
		t.Errorf("a good log: %v", err)
	}
	file := filepath.Join(k.log, "log")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{cli.ExitCorrupt, []string{"verify", "--store", k.log}},
		{cli.ExitCorrupt, []string{"export", "--store", k.log, "--out", filepath.Join(dir, "x.npy")}},
		{cli.ExitCorrupt, []string{"log", "--store", k.log}},
		{cli.ExitAbsent, []string{"status", "--run", "kitchen", "--url", "nats://127.0.0.1:1"}},
		{cli.ExitUsage, []string{"status", "--nothing"}},
	} {
		_, err := zofl(t, c.args...)
		if got := cli.ExitCode(err, false); got != c.want {
			t.Errorf("%v: exit code %d, want %d: %v", c.args, got, c.want, err)
		}
	}
	if got := cli.ExitCode(errors.New("x"), true); got != cli.ExitInterrupt {
		t.Errorf("interrupted: %d", got)
	}
	if got := cli.ExitCode(errors.New("x"), false); got != cli.ExitFailure {
		t.Errorf("another error: %d", got)
	}
}

// TestServeAwaitsItsBroker: a coordinator that starts before its broker waits for the broker.
// Without a plan, serve makes nothing for a run that does not exist.
func TestServeAwaitsItsBroker(t *testing.T) {
	address := freeport.Address(t)
	k := &kitchen{t: t, dir: t.TempDir(), url: "nats://" + address}
	k.plan = filepath.Join(k.dir, "plan.json")
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", "3", "--write", k.plan); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", k.plan, "--jetstream", "--allow-unsynced", "--url", k.url,
		"--lease", "1s")
	if _, err := k.ask("status"); !errors.As(err, new(cli.AbsentError)) {
		t.Errorf("without a broker: %v", err)
	}
	b, err := broker.Run(broker.Config{JetStream: t.TempDir(), Listen: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	if s := k.reach(1); s.State != "waiting" {
		t.Errorf("status %+v, want it to wait for devices", s)
	}
	_, err = zofl(t, "serve", "--jetstream", "--allow-unsynced", "--url", k.url, "--run", "typo")
	if !errors.As(err, new(cli.AbsentError)) || !strings.Contains(err.Error(), "PLAN") {
		t.Errorf("a run that there is not: %v, want an error that asks for its plan", err)
	}
	if _, err := zofl(t, "log", "--jetstream", "--url", k.url, "--run", "typo"); !errors.As(err,
		new(cli.AbsentError)) {
		t.Errorf("after that there is a log: %v", err)
	}
}
