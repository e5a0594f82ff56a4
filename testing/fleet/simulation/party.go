package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	_ "github.com/zofl/zofl/coordinator/filelog" // opened by seam
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/internal/seam"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
	"github.com/zofl/zofl/wire"
)

// A party is a coordinator or a device, as a sequence of lives.
type party struct {
	name    string
	order   int
	lives   int
	p       *process  // nil while the party is down
	away    time.Time // when it restarts
	disk    *disktest.Disk
	faulty  bool          // its disk failed in this life
	core    bool          // it heals at the end
	written int           // how often somebody wrote into its log, in this life
	astray  int64         // by so many bytes its next write goes astray
	slow    time.Duration // that a sync of its disk takes
	down    func()        // what happens to its disk before its next life
	damage  *damage       // of a file of its log
	backup  *backup       // of its log
	broken  bool          // its disk fails for ever
	loops   int           // how often it is still restarted in a loop
	orderly bool          // its lives in the loop stop in an orderly way
	device  *device       // either this or broker is set
	broker  *broker
}

// A device has its store in storeDir on its disk. A coordinator has its log in logDir.
const (
	storeDir = "store"
	logDir   = "log"
)

// A broker is the party that runs a coordinator. If several coordinators share a log, one
// coordinator leads.
type broker struct {
	w      *world
	party  *party
	c      *coordinator.Coordinator // nil until it leads; guarded by the world's lock
	handle *handle                  // of this life; guarded by the world's lock
	queued int                      // replies and joins waiting behind its log
}

// live is one life of a coordinator: while another coordinator leads, this coordinator stands by.
func (b *broker) live(p *process) error {
	log, err := b.open(p)
	if err != nil {
		return err
	}
	defer log.Close()
	linger := b.w.scenario.Linger
	if b.w.calm {
		linger = -1 // until the last device has seen the end
	}
	for {
		c, err := coordinator.New(p.ctx, coordinator.Config{
			Bus: p, Plan: b.w.scenario.Plan, Log: watch(log, p), Linger: linger,
			Queue: 64, UploadMemory: b.w.scenario.Uploads, Witnesses: []string{witnessName},
			Recorder: report.RecorderFunc(func(e report.Event) error { return b.record(p, &e) }),
		})
		if err != nil {
			return err
		}
		b.set(c)
		err = c.Run(p.ctx)
		b.set(nil)
		b.count(p, c)
		if !errors.Is(err, runlog.ErrDeposed) {
			return err
		}
	}
}

func (b *broker) set(c *coordinator.Coordinator) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	b.c = c
}

// count checks a coordinator's counters: no device may have sent a wrong frame.
func (b *broker) count(p *process, c *coordinator.Coordinator) {
	counters := c.Status().Counters
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if n := counters.WrongDigest + counters.TooLarge + counters.NonFinite; n > 0 {
		b.w.find("vectors arrive as they were sent", "%v dropped %d: %+v", p, n, counters)
	}
}

func (b *broker) open(p *process) (runlog.Log, error) {
	if !b.w.scenario.Shared {
		return seam.FileLog(gate{b.party.disk, p}, logDir)
	}
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	b.handle = b.w.server.open(p)
	return b.handle, nil
}

func (b *broker) record(p *process, e *report.Event) error {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if p.dead {
		return errDead
	}
	b.w.count("event " + e.Kind.String())
	switch e.Kind {
	case report.SameID:
		b.w.find("every device has an id of its own", "%v says that two send as %s", p, e.ID)
	case report.RoundDone:
		b.w.book.Done(p, e.N, wire.KindRound)
	case report.Changed:
		b.w.book.Done(p, e.N, wire.KindChange)
	case report.RolledBack:
		b.w.book.Done(p, e.N, wire.KindRollback)
	case report.RunEnded:
		b.w.book.Done(p, e.N, wire.KindEnd)
	}
	b.w.note(p, "event: %v n=%d attempt=%d contributors=%d %s",
		e.Kind, e.N, e.Attempt, e.Contributors, e.Reason)
	return nil
}

// witnessName is the id of the passive replica.
const witnessName = "w"

// A device is a party with a replica, contributing or passive.
type device struct {
	w         *world
	party     *party
	id        string
	c         *client.Client // of this life; guarded by the world's lock
	objective *countingLoss  // nil: passive
	ended     bool           // it saw the end of the run
	old       bool           // it is of an earlier version
	left      bool           // it was told that it is retired
	flipped   bool           // a bit of its checkpoint was wrong, and may still be
	tainted   bool           // the device's state is wrong for the same reason
	checked   uint64         // record of the last state checked
	params    []float32
}

// check checks the replica of a device: the parameters after each step, and the whole state after
// each record. The caller holds the world's lock.
func (d *device) check() {
	if d.objective != nil {
		if d.params == nil {
			d.params = make([]float32, d.w.scenario.Plan.Dim)
		}
		n, err := d.c.Params(d.params)
		if err != nil {
			d.w.find("replicas hold the log's states", "%s: %v", d.id, err)
		}
		if !d.flipped {
			d.w.book.Models(d.id, n, d.params)
		}
		if n == d.checked && !d.flipped {
			return
		}
	}
	n, digest := d.c.Digest()
	if d.checked == 0 && n > 1 {
		d.w.count("on from a checkpoint")
	}
	fresh := d.checked == 0
	d.checked = n
	if !d.flipped {
		d.w.book.Holds(d.id, n, digest)
		d.w.book.Keeps(d.id, fresh || d.old, n, digest) // an earlier version claims nothing
		return
	}
	was := d.tainted
	d.tainted = n > 1 && !d.w.book.Had(n, digest) // again, if it returns to its checkpoint
	if was && !d.tainted && n > 1 {
		d.w.count("rid of a wrong bit")
		d.w.note(nil, "%s holds a state of the log again", d.id)
	}
}

// live is one life of a device.
func (d *device) live(p *process) error {
	cfg := client.Config{
		Bus: p, Run: scenario.RunName, ID: d.id,
		// The timeouts of devices differ, so that no two timeouts end at one moment.
		RequestTimeout: 5*time.Second + time.Duration(13+d.party.order)*time.Microsecond,
		Recorder:       client.RecorderFunc(func(g client.Progress) error { return d.record(p, &g) }),
	}
	if d.objective == nil {
		cfg.Passive = &client.Passive{}
	} else {
		cfg.Objective, cfg.Horizon = d.objective, d.w.scenario.Horizon
		cfg.NotStrict = true // losses fail by chance, also in the first rounds
	}
	if d.w.scenario.Stored {
		store, err := dirstore.Open(gate{d.party.disk, p}, storeDir)
		if err != nil {
			return err
		}
		defer store.Close()
		cfg.Store, cfg.CheckpointEvery = store, d.w.scenario.Checkpoints
		if d.objective == nil {
			cfg.Passive.SnapshotEvery = d.w.scenario.Snapshots
		}
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	d.w.mu.Lock()
	d.c, d.checked, d.tainted = c, 0, false
	d.w.mu.Unlock()
	return c.Run(p.ctx)
}

func (d *device) record(p *process, g *client.Progress) error {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if p.dead {
		return errDead
	}
	text := fmt.Sprintf("%v n=%d last=%d", g.State, g.N, g.Last)
	if g.Declined != 0 {
		text += fmt.Sprintf(" declined: %v", g.Declined)
		d.w.count("declined " + g.Declined.String())
	}
	for _, e := range []error{client.ErrStore, client.ErrDiverged} {
		if errors.Is(g.Err, e) {
			d.w.count("device says: " + e.Error())
		}
	}
	if g.Err != nil {
		text += fmt.Sprintf(" (%v)", g.Err)
	}
	d.w.note(p, "is %s", text)
	return nil
}
