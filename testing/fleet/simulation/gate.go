package simulation

import (
	"fmt"
	"io"

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
	return gatedFile{f, g}, nil
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
	g gate
}

// WriteAt implements [io.WriterAt].
func (f gatedFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.g.may("write"); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
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
	return f.File.Sync()
}
