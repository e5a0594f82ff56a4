package logtest

import (
	"context"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// memory returns a place whose log is in memory.
func memory(testing.TB, string) Opener {
	log := &runlog.Memory{}
	return func(context.Context) (runlog.Log, error) { return log, nil }
}

func TestMemory(t *testing.T) { Run(t, Config{Place: memory}) }

// A bare log is neither Objects nor Epochs nor a Decider nor Handovers.
func TestBare(t *testing.T) {
	Run(t, Config{NoObjects: true, NoEpochs: true, NoDecisions: true, NoHandovers: true,
		Place: func(testing.TB, string) Opener {
			log := struct{ runlog.Log }{&runlog.Memory{}}
			return func(context.Context) (runlog.Log, error) { return log, nil }
		}})
}

// A faulty log is a Memory some of whose methods are wrong.
type faulty struct {
	*runlog.Memory
	append  func(n uint64, record []byte) error
	last    func() uint64
	read    func(ctx context.Context, from uint64, f func(uint64, []byte) bool) error
	begin   func(ctx context.Context) (uint64, error)
	lost    func() <-chan struct{}
	add     func(ids []string) error
	retire  func(id string) error
	put     func(name runlog.ObjectName, data []byte) error
	object  func(name runlog.ObjectName) ([]byte, error)
	keep    func(n uint64, names []runlog.ObjectName) error
	passing func(last uint64) error
	latest  func() uint64
	decide  func(d runlog.Decisions) error
	handing func(tip wire.Tip, state []byte) error
	handed  func() ([]byte, error)
}

func (f *faulty) Append(ctx context.Context, n uint64, record []byte) error {
	if f.append != nil {
		return f.append(n, record)
	}
	return f.Memory.Append(ctx, n, record)
}

func (f *faulty) Last() uint64 {
	if f.last != nil {
		return f.last()
	}
	return f.Memory.Last()
}

func (f *faulty) Read(ctx context.Context, from uint64, each func(uint64, []byte) bool) error {
	if f.read != nil {
		return f.read(ctx, from, each)
	}
	return f.Memory.Read(ctx, from, each)
}

func (f *faulty) Begin(ctx context.Context) (uint64, error) {
	if f.begin != nil {
		return f.begin(ctx)
	}
	return f.Memory.Begin(ctx)
}

func (f *faulty) Lost() <-chan struct{} {
	if f.lost != nil {
		return f.lost()
	}
	return f.Memory.Lost()
}

func (f *faulty) AddMembers(ctx context.Context, ids []string) error {
	if f.add != nil {
		return f.add(ids)
	}
	return f.Memory.AddMembers(ctx, ids)
}

func (f *faulty) Retire(ctx context.Context, id string) error {
	if f.retire != nil {
		return f.retire(id)
	}
	return f.Memory.Retire(ctx, id)
}

func (f *faulty) PutObject(ctx context.Context, name runlog.ObjectName, data []byte) error {
	if f.put != nil {
		return f.put(name, data)
	}
	return f.Memory.PutObject(ctx, name, data)
}

func (f *faulty) Object(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	if f.object != nil {
		return f.object(name)
	}
	return f.Memory.Object(ctx, name)
}

func (f *faulty) KeepObjects(ctx context.Context, n uint64, names []runlog.ObjectName) error {
	if f.keep != nil {
		return f.keep(n, names)
	}
	return f.Memory.KeepObjects(ctx, n, names)
}

func (f *faulty) LastEpoch(ctx context.Context) (uint64, error) {
	if f.latest != nil {
		return f.latest(), nil
	}
	return f.Memory.LastEpoch(ctx)
}

func (f *faulty) PassEpochs(ctx context.Context, last uint64) error {
	if f.passing != nil {
		return f.passing(last)
	}
	return f.Memory.PassEpochs(ctx, last)
}

func (f *faulty) Decide(ctx context.Context, d runlog.Decisions) error {
	if f.decide != nil {
		return f.decide(d)
	}
	return f.Memory.Decide(ctx, d)
}

func (f *faulty) HandOver(ctx context.Context, n uint64, tip wire.Tip, state []byte) error {
	if f.handing != nil {
		return f.handing(tip, state)
	}
	return f.Memory.HandOver(ctx, n, tip, state)
}

func (f *faulty) HandedOver(ctx context.Context) ([]byte, error) {
	if f.handed != nil {
		return f.handed()
	}
	return f.Memory.HandedOver(ctx)
}
