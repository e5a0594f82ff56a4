package simulation

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// A gate is a party's disk in one life of the party. The life may crash at any operation of the
// gate.
type gate struct {
	*disktest.Disk
	p *process
}

var _ disk.FS = gate{}

func (g gate) may(operation string) error {
	g.p.w.mu.Lock()
	defer g.p.w.mu.Unlock()
	if !g.p.may(operation) {
		return fmt.Errorf("simulation: disk: %s: %w", operation, errDead)
	}
	return nil
}

// Mkdir implements [disk.FS].
func (g gate) Mkdir(path string) error {
	if err := g.may("mkdir"); err != nil {
		return err
	}
	return g.Disk.Mkdir(path)
}

// Open implements [disk.FS].
func (g gate) Open(path string, flag int) (disk.File, error) {
	if err := g.may("open"); err != nil {
		return nil, err
	}
	f, err := g.Disk.Open(path, flag)
	if err != nil {
		return nil, err
	}
	return gatedFile{f, g, path}, nil
}

// Rename implements [disk.FS].
func (g gate) Rename(from, to string) error {
	if err := g.may("rename"); err != nil {
		return err
	}
	return g.Disk.Rename(from, to)
}

// Remove implements [disk.FS].
func (g gate) Remove(path string) error {
	if err := g.may("remove"); err != nil {
		return err
	}
	return g.Disk.Remove(path)
}

// SyncDir implements [disk.FS].
func (g gate) SyncDir(path string) error {
	if err := g.may("syncdir"); err != nil {
		return err
	}
	return g.Disk.SyncDir(path)
}

// Lock implements [disk.FS].
func (g gate) Lock(path string) (io.Closer, error) {
	if err := g.may("lock"); err != nil {
		return nil, err
	}
	return g.Disk.Lock(path)
}

type gatedFile struct {
	disk.File
	g    gate
	path string
}

// astray returns where a write really goes, and notes what it damages.
func (f gatedFile) astray(b []byte, off int64) int64 {
	w := f.g.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.parties[f.g.p.order]
	if p.astray == 0 || f.g.p.dead || p.broker != nil && (f.path != filepath.Join(logDir, "log") ||
		off < minAstray) {
		return off
	}
	was, err := content(p.disk, f.path)
	if err != nil { // the disk fails now
		return off
	}
	at := max(off-p.astray, 0)
	p.astray = 0
	w.count("a write went astray")
	w.note(f.g.p, "writes to %s at %d instead of %d", f.path, at, off)
	if p.broker != nil {
		p.damage = &damage{path: f.path, was: was, whole: true}
	}
	return at
}

// minAstray spares the head of a log.
const minAstray = 200

// linger waits as long as a slow disk needs for a sync, or until the process ends.
func (g gate) linger() {
	w, slow := g.p.w, time.Duration(0)
	w.locked(func() {
		if slow = w.parties[g.p.order].slow; slow > 0 {
			g.p.syncs++
			w.count("a slow sync")
		}
	})
	if slow == 0 {
		return
	}
	t := time.NewTimer(slow)
	defer t.Stop()
	select {
	case <-t.C:
	case <-g.p.ctx.Done():
	}
	w.locked(func() {
		g.p.syncs--
		w.signal()
	})
}

// WriteAt implements [io.WriterAt].
func (f gatedFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.g.may("write"); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, f.astray(b, off))
}

// Truncate implements [disk.File].
func (f gatedFile) Truncate(size int64) error {
	if err := f.g.may("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Sync implements [disk.File].
func (f gatedFile) Sync() error {
	if err := f.g.may("sync"); err != nil {
		return err
	}
	f.g.linger()
	return f.File.Sync()
}
