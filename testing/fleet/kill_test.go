//go:build linux && !race

package fleet

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/servers"
)

var (
	killSeed = flag.Uint64("kill.seed", 1, "of the moments at which the TestKill tests kill")
	killAll  = flag.Bool("kill.all", false,
		"also rounds that close at a quorum, over brokers of their own")
)

// A killRun is a run whose parties are separate processes.
type killRun struct {
	t       *testing.T
	dir     string
	url     string
	plan    string
	leads   []*party
	devices []*party
	rounds  uint64
	phases  uint64
	killed  int  // killed processes of the program
	broken  int  // brokers killed or paused
	passes  bool // over records that cannot be made: the log has others in their place
}

const (
	killDevices = 8
	killRounds  = 200
	killDim     = 300
)

// killPlan writes the plan of a run; each round waits for target devices.
func killPlan(
	t *testing.T, dir, run string, target, quorum uint32, edits ...func(*plan.Plan),
) string {
	t.Helper()
	p, err := preset.Unbound("decomfl", run, killDim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32) // the same in all runs that are compared
	p.Members, p.Target, p.Quorum, p.Rounds = killDevices, target, quorum, killRounds
	p.Perturbations, p.StepSize, p.MaxAttempts, p.OverSample = 2, 0.05, 1000, 1
	p.Deadline, p.Reannounce, p.DigestEvery = 1000, 250, 16
	p.Bound = 1.2 // changes many contributions: a new leader must change the same
	for _, edit := range edits {
		edit(p)
	}
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, run+".json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts the devices.
func (k *killRun) start(run string) {
	for i := range killDevices {
		id := fmt.Sprintf("d%d", i)
		k.devices = append(k.devices,
			newParty(k.t, id, "client", "--url", k.url, "--run", run, "--id", id, "--json",
				"--objective", "bowl", "--dim", fmt.Sprint(killDim), "--delay", "5ms", "--store",
				filepath.Join(k.dir, id)))
	}
}

// killsFor is how long the test kills processes: on a slow machine a round that waits for all
// devices might otherwise never find all devices alive.
const killsFor = patience / 3

// disturb kills processes one after another and restarts them, until all devices have reached the
// end of the run.
func (k *killRun) disturb(rng *rand.Rand, kills bool, others ...func()) {
	began := time.Now()
	for !k.over() {
		if time.Since(began) > patience {
			k.t.Fatalf("not over after %v: %v", patience, k.where())
		}
		k.supervise()
		if !kills || time.Since(began) > killsFor {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		// the seed determines the moment of the next kill
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		if i := rng.IntN(len(k.leads) + len(k.devices) + len(others)); i < len(k.leads) {
			k.hit(rng, k.leads[i])
		} else if i -= len(k.leads); i < len(k.devices) {
			k.hit(rng, k.devices[i])
		} else {
			others[i-len(k.devices)]()
		}
	}
}

// supervise restarts processes that ended with an error, and logs the error: no process should.
func (k *killRun) supervise() {
	for _, p := range append(k.leads[:len(k.leads):len(k.leads)], k.devices...) {
		if code, text := p.gaveUp(); code != 0 {
			k.t.Logf("%s gave up with %d:\n%s", p.name, code, text)
			p.start()
		}
	}
}

// hit kills a running party and restarts the party after a while.
func (k *killRun) hit(rng *rand.Rand, p *party) {
	if p.kill() {
		k.killed++
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		p.start()
	}
}

// over reports whether all devices have reached the end of the run.
func (k *killRun) over() bool {
	for _, d := range k.devices {
		if !d.ended() {
			return false
		}
	}
	return true
}

// where returns the progress of all parties as text.
func (k *killRun) where() string {
	text := ""
	for _, d := range k.devices {
		text += fmt.Sprintf("\n%s: %v", d.name, d.report())
	}
	return text
}

// verdict is the output of `zofl verify`.
type verdict struct {
	Records uint64 `json:"records"`
	Rounds  uint64 `json:"rounds"`
	Epoch   uint64 `json:"epoch"`
	Digest  string `json:"digest"`
	Ended   string `json:"ended"`
}

// judge checks that the log is complete and that every device ended with the log's state. judge
// returns the digest.
func (k *killRun) judge(log ...string) string {
	k.t.Helper()
	var v verdict
	command(k.t, &v, append([]string{"verify", "--json"}, log...)...)
	over := v.Records - (k.rounds*k.phases + 2)
	if v.Rounds != k.rounds || over != 0 && !k.passes || over > k.rounds || v.Ended != "rounds" {
		k.t.Errorf("the log has %d records and %d rounds, ended %q; want a plan, %d rounds of "+
			"%d records and an end",
			v.Records, v.Rounds, v.Ended, k.rounds, k.phases)
	}
	for _, d := range k.devices {
		r := d.report()
		if r["digest"] != v.Digest || r["n"] != float64(v.Records) {
			k.t.Errorf("%s ended with %v, want the log's record %d, digest %s",
				d.name, r, v.Records, v.Digest)
		}
	}
	k.t.Logf("%d processes killed, %d brokers killed or paused, epoch %d", k.killed, k.broken, v.Epoch)
	return v.Digest
}

// embedded runs a coordinator with its own embedded broker and its log on disk.
func embedded(
	t *testing.T, run string, target, quorum uint32, edits ...func(*plan.Plan),
) *killRun {
	t.Helper()
	k := &killRun{t: t, dir: t.TempDir(), rounds: killRounds, phases: 1}
	address := freeport.Address(t)
	k.url = "nats://" + address
	plan := killPlan(t, k.dir, run, target, quorum, edits...)
	k.leads = []*party{newParty(t, "coordinator", "serve", plan, "--store",
		filepath.Join(k.dir, "log"), "--listen", address, "--json")}
	k.start(run)
	return k
}

// finish stops the coordinator and judges the run.
func (k *killRun) finish() string {
	k.t.Helper()
	for _, l := range k.leads {
		l.kill()
	}
	return k.judge("--store", filepath.Join(k.dir, "log"))
}

// shared runs two coordinators, of which one leads, over external brokers. The log is in the
// brokers' JetStream.
func shared(t *testing.T, brokers *servers.Cluster, run string, target, quorum uint32) *killRun {
	t.Helper()
	k := &killRun{t: t, dir: t.TempDir(), url: brokers.URL(), rounds: killRounds, phases: 1}
	plan := killPlan(t, k.dir, run, target, quorum)
	for i := range 2 {
		k.leads = append(k.leads,
			newParty(t, fmt.Sprintf("coordinator %d", i), "serve", plan, "--url", k.url,
				"--jetstream", "--replicas", fmt.Sprint(len(brokers.Servers)), "--lease", "2s",
				"--allow-unsynced", // these servers sync, but have no system user whom serve could ask
				"--json"))
	}
	k.start(run)
	return k
}

// disturbBrokers returns functions that kill and pause servers, including the server that leads the
// log's stream.
func (k *killRun) disturbBrokers(brokers *servers.Cluster, run string, rng *rand.Rand) []func() {
	some := func() *servers.Server { return brokers.Servers[rng.IntN(len(brokers.Servers))] }
	if len(brokers.Servers) > 1 {
		some = func() *servers.Server { return brokers.Leader(k.t, "ZO_"+run+"_LOG") }
	}
	kill := func() {
		s := some()
		s.Kill()
		k.broken++
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		s.Restart(k.t)
	}
	pause := func() {
		s := some()
		s.Pause()
		k.broken++
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		s.Continue()
	}
	return []func(){kill, pause}
}

// calm returns the digest of an undisturbed run, in which each round waits for its whole
// cohort.
func calm(t *testing.T) string {
	t.Helper()
	undisturbed.mu.Lock()
	defer undisturbed.mu.Unlock()
	if undisturbed.digest == "" {
		k := embedded(t, "whole", killDevices, killDevices)
		k.disturb(nil, false)
		undisturbed.digest = k.finish()
	}
	return undisturbed.digest
}

var undisturbed struct {
	mu     sync.Mutex
	digest string
}

// must checks that the test killed and paused enough processes to be meaningful.
func (k *killRun) must(kills, broken int) {
	k.t.Helper()
	if k.killed < kills || k.broken < broken {
		k.t.Errorf("%d processes and %d brokers were disturbed: too few to show anything",
			k.killed, k.broken)
	}
}

func killer(more uint64) *rand.Rand { return rand.New(rand.NewPCG(*killSeed, more)) }

// TestKillEmbedded kills processes at random moments. If each round waits for its whole
// cohort, the result is bit-identical to that of an undisturbed run.
func TestKillEmbedded(t *testing.T) {
	if testing.Short() {
		t.Skip("tens of seconds of processes that are killed")
	}
	t.Parallel()
	whole := embedded(t, "whole", killDevices, killDevices)
	whole.disturb(killer(0), true)
	if got, want := whole.finish(), calm(t); got != want {
		t.Errorf("the disturbed run ended with digest %s, want the undisturbed run's %s", got, want)
	}
	whole.must(10, 0)

	quorum := embedded(t, "quorum", killDevices-2, killDevices/2)
	quorum.disturb(killer(1), true)
	quorum.finish()
	quorum.must(10, 0)
}

// TestKillServer does the same as TestKillEmbedded with two coordinators and an external broker.
// The test kills and pauses the broker too.
func TestKillServer(t *testing.T) { killBrokers(t, 1) }

// TestKillCluster does the same as TestKillServer with three brokers. The test kills and pauses the
// broker that leads the log's stream too.
func TestKillCluster(t *testing.T) { killBrokers(t, 3) }

func killBrokers(t *testing.T, n int) {
	if testing.Short() {
		t.Skip("tens of seconds of processes that are killed")
	}
	t.Parallel()
	brokers := servers.Start(t, n)
	for i, c := range []struct {
		run            string
		target, quorum uint32
	}{{"whole", killDevices, killDevices}, {"quorum", killDevices - 2, killDevices / 2}} {
		if i > 0 && !*killAll {
			continue
		}
		k := shared(t, brokers, c.run, c.target, c.quorum)
		rng := killer(uint64(10*n + i))
		k.disturb(rng, true, k.disturbBrokers(brokers, c.run, rng)...)
		for _, l := range k.leads {
			l.kill()
		}
		got := k.judge("--url", k.url, "--run", c.run, "--jetstream")
		if c.run == "whole" {
			if want := calm(t); got != want {
				t.Errorf("the disturbed run ended with digest %s, want the undisturbed run's %s", got, want)
			}
		}
		k.must(10, 2)
	}
}
