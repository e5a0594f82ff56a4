package runlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zofl/zofl/wire"
)

// A Memory is a [Log] for tests and simulations. The log survives a coordinator, but not the
// process. Coordinators may share one Memory. Each Begin deposes the earlier coordinator, but
// Append still accepts records from that coordinator. The zero value is an empty log. Any goroutine
// may call any method.
type Memory struct {
	mu      sync.Mutex // guards what follows
	records [][]byte
	members []string
	retired []string
	epoch   uint64
	lost    chan struct{} // made by the last Begin
	objects map[ObjectName][]byte
	decided []byte // what [Decisions.Text] returned; nil: nothing

	handovers map[wire.Tip][]byte // by the record with which they are to be stored
	handed    []byte              // with the last record
}

var (
	_ Log     = (*Memory)(nil)
	_ Objects = (*Memory)(nil)
	_ Decider = (*Memory)(nil)

	_ Handovers = (*Memory)(nil)
)

// Begin implements [Log].
func (m *Memory) Begin(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.records); n > 0 {
		last, err := wire.DecodeRecord(m.records[n-1])
		if err != nil {
			return 0, fmt.Errorf("log: record %d: %w: %w", n, ErrCorrupt, err)
		}
		m.epoch = max(m.epoch, last.Epoch)
	}
	m.epoch++
	if m.lost != nil {
		close(m.lost)
	}
	m.lost = make(chan struct{})
	return m.epoch, nil
}

func (m *Memory) LastEpoch(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epoch, nil
}

func (m *Memory) PassEpochs(_ context.Context, last uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch = max(m.epoch, last)
	return nil
}

// Lost implements [Log].
func (m *Memory) Lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// Append implements [Log].
func (m *Memory) Append(_ context.Context, n uint64, record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > 0 && n <= uint64(len(m.records)) {
		if stored := m.records[n-1]; !bytes.Equal(stored, record) {
			return &ConflictError{N: n, Record: bytes.Clone(stored)}
		}
		return nil
	}
	if n != uint64(len(m.records))+1 {
		return fmt.Errorf("log: append of record %d after %d: %w", n, len(m.records), ErrOrder)
	}
	m.records = append(m.records, bytes.Clone(record))
	m.handed, m.handovers = m.handovers[wire.HashRecord(record).Tip()], nil
	return nil
}

// Last implements [Log].
func (m *Memory) Last() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

// Read implements [Log].
func (m *Memory) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	m.mu.Lock()
	records := m.records
	m.mu.Unlock()
	for n := max(from, 1); n <= uint64(len(records)); n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !f(n, records[n-1]) {
			break
		}
	}
	return nil
}

// AddMembers implements [Log].
func (m *Memory) AddMembers(_ context.Context, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members = append(m.members, ids...)
	return nil
}

// Members implements [Log].
func (m *Memory) Members() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.members), nil
}

// Retire implements [Log].
func (m *Memory) Retire(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	due, err := MayRetire(m.members, m.retired, id)
	if due {
		m.retired = append(m.retired, id)
	}
	return err
}

// Retired implements [Log].
func (m *Memory) Retired() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.retired), nil
}

// Decisions implements [Decider].
func (m *Memory) Decisions(context.Context) (Decisions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.decided == nil {
		return Decisions{}, nil
	}
	return ReadDecisions(m.decided)
}

// Decide implements [Decider].
func (m *Memory) Decide(_ context.Context, d Decisions) error {
	text, err := d.Text()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.decided = text
	}
	return err
}

// HandOver implements [Handovers].
func (m *Memory) HandOver(_ context.Context, _ uint64, tip wire.Tip, state []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handovers == nil {
		m.handovers = map[wire.Tip][]byte{}
	}
	m.handovers[tip] = bytes.Clone(state)
	return nil
}

// HandedOver implements [Handovers].
func (m *Memory) HandedOver(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.handed, nil
}

// PutObject implements [Objects].
func (m *Memory) PutObject(_ context.Context, name ObjectName, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		m.objects = map[ObjectName][]byte{}
	}
	m.objects[name] = bytes.Clone(data)
	return nil
}

// Object implements [Objects].
func (m *Memory) Object(_ context.Context, name ObjectName) ([]byte, error) {
	m.mu.Lock()
	data, ok := m.objects[name]
	m.mu.Unlock()
	err := ErrNoObject
	if ok {
		err = name.Check(data)
	}
	if err != nil {
		return nil, fmt.Errorf("log: vector of record %d: %w", name.N, err)
	}
	return data, nil
}

// KeepObjects implements [Objects].
func (m *Memory) KeepObjects(_ context.Context, n uint64, names []ObjectName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.objects {
		if name.N <= n && !slices.Contains(names, name) {
			delete(m.objects, name)
		}
	}
	return nil
}

// ObjectNames returns the names of the vectors that m stores, ascending by record.
func (m *Memory) ObjectNames() []ObjectName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Keys(m.objects),
		func(a, b ObjectName) int { return cmp.Compare(a.N, b.N) })
}

// Close implements [Log]. Close does nothing, because the records stay.
func (m *Memory) Close() error { return nil }
