package main

import (
	"bytes"
	"context"
	"iter"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"

	"github.com/google/pprof/profile"
)

// The parts that share the process. A goroutine belongs to the part that started it; a label, which
// goroutines inherit, names the part.
const (
	brokerPart      = "broker"
	coordinatorPart = "coordinator"
	devicesPart     = "devices"
	runtimePart     = "runtime" // no label: the garbage collector and the scheduler
)

var parts = []string{brokerPart, coordinatorPart, devicesPart, runtimePart}

// as runs f as a part, on a separate goroutine, and returns when f has returned.
func as(part string, f func()) {
	var running sync.WaitGroup
	running.Go(func() {
		pprof.Do(context.Background(), pprof.Labels("part", part),
			func(context.Context) { f() })
	})
	running.Wait()
}

// A sampler samples the CPU.
type sampler struct{ profile bytes.Buffer }

func (s *sampler) start() error { return pprof.StartCPUProfile(&s.profile) }

// stop returns the share of each part in the samples, and the number of samples.
func (s *sampler) stop() (shares map[string]float64, samples int64, err error) {
	pprof.StopCPUProfile()
	p, err := profile.ParseData(s.profile.Bytes())
	if err != nil {
		return nil, 0, err
	}
	counts := map[string]int64{}
	for _, sample := range p.Sample {
		counts[partOf(sample)] += sample.Value[0]
		samples += sample.Value[0]
	}
	shares = map[string]float64{}
	for part, n := range counts {
		shares[part] = float64(n) / float64(samples)
	}
	return shares, samples, nil
}

// partOf returns the part to which a sample of the CPU belongs. bus.Memory has no goroutine between
// a sender and a receiver: the sender's goroutine does its work.
func partOf(s *profile.Sample) string {
	label := s.Label["part"]
	if len(label) == 0 {
		return runtimePart
	}
	for name := range functions(s) {
		if strings.HasSuffix(name, "bus.(*Memory).Publish") ||
			strings.HasSuffix(name, "bus.(*Memory).Request") {
			return brokerPart
		}
	}
	return label[0]
}

// heapOf splits the live heap by the code that allocated it. The heap profile is a sample; heapOf
// scales the sum of the sample to the whole heap.
func heapOf() (parted map[string]int64, stacks int64, err error) {
	runtime.GC()
	runtime.GC() // the profile shows the heap after the collection before the last
	var b bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&b, 0); err != nil {
		return nil, 0, err
	}
	p, err := profile.Parse(&b)
	if err != nil {
		return nil, 0, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	sampled, sum := map[string]int64{}, int64(0)
	inUse := len(p.SampleType) - 1
	for _, s := range p.Sample {
		sampled[allocator(s)] += s.Value[inUse]
		sum += s.Value[inUse]
	}
	parted = map[string]int64{}
	for part, size := range sampled {
		parted[part] = int64(float64(m.HeapAlloc) * float64(size) / float64(max(sum, 1)))
	}
	return parted, int64(m.StackInuse), nil
}

// allocator returns the part whose code allocated a sample of the heap. Allocations by goroutines
// of nats.go count for the devices, because the coordinator has only one connection.
func allocator(s *profile.Sample) string {
	part := runtimePart
	for name := range functions(s) {
		switch {
		case strings.Contains(name, "/nats-server/"), strings.Contains(name, "bus.(*Memory)"):
			return brokerPart
		case strings.Contains(name, "zofl/coordinator.("),
			strings.Contains(name, "zofl/coordinator/internal/"):
			return coordinatorPart
		case strings.Contains(name, "zofl/client"), strings.Contains(name, "/nats%2ego."):
			part = devicesPart
		}
	}
	return part
}

// functions yields the functions on a sample's stack, innermost first.
func functions(s *profile.Sample) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if !yield(line.Function.Name) {
					return
				}
			}
		}
	}
}
