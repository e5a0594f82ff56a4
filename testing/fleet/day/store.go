package day

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/client"
)

// errDead is the error of a killed process's store.
var errDead = errors.New("day: this process was killed")

// A disk is the part of a phone's store that survives from one session to the next.
type disk map[string][]byte

// A store is a disk in one session.
type store struct {
	disk disk
	dead func() bool
}

var _ client.Store = (*store)(nil)

// Save implements [client.Store].
func (s *store) Save(item string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if s.dead() {
		return errDead
	}
	s.disk[item] = b.Bytes()
	return nil
}

// Load implements [client.Store].
func (s *store) Load(item string, read func(*io.SectionReader) error) error {
	b, ok := s.disk[item]
	if !ok {
		return fmt.Errorf("day: %s: %w", item, fs.ErrNotExist)
	}
	return read(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
}

// SetAside implements [client.Store].
func (s *store) SetAside(item string) error {
	delete(s.disk, item)
	return nil
}

// Close implements [client.Store].
func (s *store) Close() error { return nil }
