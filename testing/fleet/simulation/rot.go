package simulation

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// Files of a log rot: bits flip, ranges become zeros, ends are missing, or somebody sets the whole
// folder back. A coordinator must not lead a damaged log as if it were whole. The operator then
// puts back what was there, from a copy.

// rots are the faults of files of logs, and of the states of devices.
var rots = []fault{
	{"rot a log", ownLog, (*world).rotLog},
	{"write into a log", ownLog, (*world).writeIntoLog},
	{"set a log back", ownLog, (*world).setBack},
	{"put back", ownLog, func(w *world, _ *party) bool { return w.repair(w.parties[0]) }},
	{"a write goes astray", nil, (*world).misdirect},
	{"a slow disk", nil, (*world).slowDown},
	{"rot a state", func(s *scenario.Scenario) bool { return s.Stored }, (*world).rotState},
}

func ownLog(s *scenario.Scenario) bool { return !s.Shared }

// A damage is a change to a file that no program of the run made.
type damage struct {
	path  string
	at    int64
	was   []byte // the bytes there before
	size  int64  // of the file afterwards, at least
	whole bool   // was is all that the file had
}

func (d *damage) String() string {
	return fmt.Sprintf("%s: %d bytes from %d on", d.path, len(d.was), d.at)
}

// rotLog ends the life of the coordinator, and damages a file of its log meanwhile.
func (w *world) rotLog(*party) bool {
	p := w.parties[0]
	if p.damage != nil || p.p == nil || p.faulty {
		return false
	}
	w.kill(p, func() {
		name := scenario.Pick(w.rng, "log", "log", "log", "roster", "epoch", "seen", "decisions")
		if w.noted(p) {
			p.damage = w.harm(p, filepath.Join(logDir, name))
		}
	})
	return true
}

// mostWrites is how often somebody writes into the log of one life of a coordinator. A log that
// often changes and has the same bytes again believes that the file system changes its times.
const mostWrites = 3

// writeIntoLog damages the file of records while the coordinator leads the run.
func (w *world) writeIntoLog(*party) bool {
	p := w.parties[0]
	if p.damage != nil || w.leading(p) == nil || p.faulty || p.written == mostWrites || !w.noted(p) {
		return false
	}
	p.written++
	p.damage = w.harm(p, filepath.Join(logDir, "log"))
	return p.damage != nil
}

// kill makes a party crash. do changes the party's disk before its next life.
func (w *world) kill(p *party, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.p.dead, p.down = true, do
	w.note(nil, "%s is killed", p.name)
}

// noted reports whether the log's own note says that it has all records. A power cut may lose the
// note's last value. Then only devices know of a record that rots.
func (w *world) noted(p *party) bool {
	text, _ := content(p.disk, filepath.Join(logDir, "seen"))
	var n uint64
	_, err := fmt.Sscanf(string(text), "zofl seen 1\n%d\n", &n)
	w.mu.Lock()
	defer w.mu.Unlock()
	return err == nil && n >= w.book.Last()
}

// harm damages a file of a party's disk. It returns nil if nothing changed.
func (w *world) harm(p *party, path string) *damage {
	was, err := content(p.disk, path)
	if err != nil || len(was) == 0 {
		return nil
	}
	at := w.rng.IntN(len(was))
	end := min(at+1+w.rng.IntN(100), len(was))
	now := bytes.Clone(was)
	switch w.rng.IntN(3) {
	case 0:
		end = at + 1
		now[at] ^= 1 << w.rng.IntN(8)
	case 1:
		clear(now[at:end])
	default:
		now, end = now[:at], len(was)
	}
	if bytes.Equal(now, was) || put(p.disk, path, now) != nil {
		return nil
	}
	d := &damage{path: path, at: int64(at), was: was[at:end], size: int64(len(now))}
	w.locked(func() { w.note(nil, "rot on the disk of %s: %v", p.name, d) })
	return d
}

// misdirect makes the next write to the log of the coordinator, or to the store of a device, go to
// another place of the file. The disk reports that it was done.
func (w *world) misdirect(p *party) bool {
	if p.p == nil || p.damage != nil || p.faulty ||
		p.broker != nil && (w.scenario.Shared || !w.noted(p)) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.astray = int64(1 + w.rng.IntN(100))
	p.faulty = p.device != nil // its last reply may not be on its disk
	w.note(nil, "the next write of %s goes astray by %d bytes", p.name, p.astray)
	return true
}

// slowDown makes each sync of a party's disk take long, in this life of the party.
func (w *world) slowDown(p *party) bool {
	if p.p == nil || p.slow > 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.slow = scenario.Pick(w.rng, 100*time.Millisecond, 2*time.Second, 20*time.Second) +
		time.Duration(7*p.order)*time.Microsecond // no two end at one moment
	w.note(nil, "each sync of %s takes %v", p.name, p.slow)
	return true
}

// repair puts back what was there before a damage.
func (w *world) repair(p *party) bool {
	d := p.damage
	if d == nil {
		return false
	}
	now, err := content(p.disk, d.path)
	if err != nil {
		return false
	}
	w.locked(func() {
		if int64(len(now)) < d.size {
			w.find("nothing that was stored is cut", "%s: %s has %d bytes, after a damage it had %d",
				p.name, d.path, len(now), d.size)
		}
		w.note(nil, "an operator puts back %v", d)
	})
	if d.whole {
		return w.restored(p, d, d.was)
	}
	now = append(now[:min(int(d.at), len(now))], append(bytes.Clone(d.was),
		now[min(int(d.at)+len(d.was), len(now)):]...)...)
	return w.restored(p, d, now)
}

// restored writes what a file had before a damage. A disk that fails needs another try.
func (w *world) restored(p *party, d *damage, data []byte) bool {
	if put(p.disk, d.path, data) != nil {
		d.whole, d.was, d.size = true, data, 0
		return false
	}
	p.damage = nil
	w.locked(func() { w.count("a damaged file is put back") })
	return true
}

// A backup is a copy of the folder of a log.
type backup struct {
	files   map[string][]byte
	records uint64
}

// setBack copies the folder of the log, or restores a copy while the coordinator is down.
func (w *world) setBack(*party) bool {
	p := w.parties[0]
	if p.damage != nil || p.faulty || w.scenario.Plan.Transport == plan.DenseVectors {
		return false
	}
	old := p.backup
	ended, last := false, uint64(0)
	w.locked(func() { ended, last = w.book.Ended(), w.book.Last() })
	if old == nil || w.rng.IntN(4) == 0 {
		p.backup = &backup{files: folder(p.disk), records: last}
		return last > 0
	}
	if p.p == nil || ended || last <= old.records {
		return false
	}
	w.kill(p, func() { w.restore(p, old) })
	return true
}

// restore puts a copy in the place of a log's folder.
func (w *world) restore(p *party, old *backup) {
	for name := range folder(p.disk) {
		if p.disk.Remove(filepath.Join(logDir, name)) != nil {
			return
		}
	}
	for name, data := range old.files {
		if put(p.disk, filepath.Join(logDir, name), data) != nil {
			return
		}
	}
	_ = p.disk.SyncDir(logDir)
	w.locked(func() {
		w.note(nil, "the log of %s is set back to record %d", p.name, old.records)
		w.book.SetBack(old.records)
	})
}

// rotState damages a file in the store of a stopped device.
func (w *world) rotState(*party) bool {
	for _, p := range w.parties {
		if p.device == nil || p.p != nil || p.device.ended || p.device.flipped {
			continue
		}
		names, err := p.disk.ReadDir(storeDir)
		if err != nil || len(names) == 0 {
			continue
		}
		path := filepath.Join(storeDir, names[w.rng.IntN(len(names))])
		if d := w.harm(p, path); d != nil {
			w.locked(func() { w.book.Forget(p.name) })
			return true
		}
	}
	return false
}

// content returns the bytes of a file.
func content(d disk.FS, path string) ([]byte, error) {
	f, err := d.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, size))
}

// put gives a file other bytes, durably.
func put(d disk.FS, path string, data []byte) error {
	f, err := d.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}

// folder returns the files of a log, but for its lock.
func folder(d disk.FS) map[string][]byte {
	files := map[string][]byte{}
	names, _ := d.ReadDir(logDir)
	for _, name := range names {
		if data, err := content(d, filepath.Join(logDir, name)); err == nil && name != "lock" {
			files[name] = data
		}
	}
	return files
}
