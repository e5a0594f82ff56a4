package coordinator

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

// MemoryLog is a [Log] for tests and simulations: it survives a coordinator,
// not the process. The zero value is an empty log.
type MemoryLog struct {
	mu      sync.Mutex // guards what follows
	records [][]byte
	members []string
}

var _ Log = (*MemoryLog)(nil)

// Append implements [Log].
func (m *MemoryLog) Append(n uint64, record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n != uint64(len(m.records))+1 {
		return fmt.Errorf("log: append of record %d after %d: %w", n, len(m.records), ErrOrder)
	}
	m.records = append(m.records, bytes.Clone(record))
	return nil
}

// Last implements [Log].
func (m *MemoryLog) Last() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

// Read implements [Log].
func (m *MemoryLog) Read(from uint64, f func(n uint64, record []byte) bool) error {
	m.mu.Lock()
	records := m.records
	m.mu.Unlock()
	for n := max(from, 1); n <= uint64(len(records)); n++ {
		if !f(n, records[n-1]) {
			break
		}
	}
	return nil
}

// AddMembers implements [Log].
func (m *MemoryLog) AddMembers(ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members = append(m.members, ids...)
	return nil
}

// Members implements [Log].
func (m *MemoryLog) Members() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.members), nil
}

// Close implements [Log]; what is stored stays.
func (m *MemoryLog) Close() error { return nil }
