package main

import (
	"fmt"
	"io"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// A result holds the measurements of one run. Times are in milliseconds, of one round.
type result struct {
	Devices int    `json:"devices"`
	Rounds  int    `json:"rounds"`
	Broker  string `json:"broker"`
	Dim     uint64 `json:"dim"`

	RoundsPerSecond float64 `json:"rounds_per_second"`
	P50             float64 `json:"p50_ms"`
	P99             float64 `json:"p99_ms"`
	Longest         float64 `json:"longest_ms"`

	CPU        float64         `json:"cpu_ms"`
	CPUSamples int64           `json:"cpu_samples"`
	Parts      map[string]part `json:"parts"`
	Stacks     int64           `json:"stack_bytes"`

	// Bytes at the sockets of devices, of one device in one round; 0: the bus has no sockets.
	Up   float64 `json:"bytes_up"`
	Down float64 `json:"bytes_down"`

	Sent       uint64 `json:"messages_sent"`
	Arrived    uint64 `json:"messages_arrived"`
	Lost       int64  `json:"messages_lost"`
	Duplicates uint64 `json:"messages_duplicate"`
	Repeated   uint64 `json:"messages_repeated"` // after a round longer than reannounce
	Dropped    uint64 `json:"messages_dropped"`
	Differing  int    `json:"devices_differing"`

	drops []report.Drop
}

// A part is the cost of the broker, the coordinator, the devices or the runtime.
type part struct {
	CPU  float64 `json:"cpu_ms"`
	Heap int64   `json:"heap_bytes"`
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func newResult(m *meter, f *fleet, c report.Counters) *result {
	o := m.o
	var sum time.Duration
	for _, d := range m.rounds {
		sum += d
	}
	per := 1 / float64(o.rounds)
	r := &result{
		Devices: o.devices, Rounds: o.rounds, Broker: o.broker, Dim: dim,
		RoundsPerSecond: float64(o.rounds) / sum.Seconds(),
		P50:             ms(quantile(m.rounds, 0.5)), P99: ms(quantile(m.rounds, 0.99)),
		Longest: ms(quantile(m.rounds, 1)),
		CPU:     ms(m.cpu) * per, CPUSamples: m.samples, Parts: map[string]part{},
		Stacks: m.stacks,
		Up:     float64(m.up) * per / float64(o.devices),
		Down:   float64(m.down) * per / float64(o.devices),
		Sent:   f.tally.sum(), Arrived: c.Messages(), Duplicates: c.Duplicate,
		Repeated: c.Repeated,
		Dropped:  c.Dropped(), drops: c.Drops(),
	}
	r.Lost = int64(r.Sent) - int64(r.Arrived)
	for _, name := range parts {
		r.Parts[name] = part{CPU: r.CPU * m.shares[name], Heap: m.heap[name]}
	}
	return r
}

// print writes a table of figures, and says how each figure was measured.
func (r *result) print(out io.Writer) {
	fmt.Fprintf(out, "%d devices, d = %d, broker %s, %d rounds\n", r.Devices, r.Dim, r.Broker,
		r.Rounds)
	fmt.Fprintf(out, "rounds/s %.4g; a round in ms: p50 %.3g, p99 %.3g, longest %.3g\n",
		r.RoundsPerSecond, r.P50, r.P99, r.Longest)
	fmt.Fprintf(out, "%-12s %12s %12s\n", "", "CPU ms/round", "heap MiB")
	for _, name := range parts {
		p := r.Parts[name]
		fmt.Fprintf(out, "%-12s %12.3g %12.3g\n", name, p.CPU, mib(p.Heap))
	}
	fmt.Fprintf(out, "%-12s %12.3g\n%-12s %12s %12.3g\n", "all", r.CPU, "stacks", "",
		mib(r.Stacks))
	if r.Down > 0 {
		fmt.Fprintf(out, "bytes a device and round, at its socket: %.1f up, %.1f down\n", r.Up,
			r.Down)
	}
	fmt.Fprintf(out, "messages: %d sent, %d lost, %d duplicate, %d asked for again, "+
		"%d dropped", r.Sent, r.Lost, r.Duplicates, r.Repeated, r.Dropped)
	for _, d := range r.drops {
		if d.Count > 0 {
			fmt.Fprintf(out, ", %d %s", d.Count, d.Cause)
		}
	}
	fmt.Fprintf(out, "\nCPU: of the process by getrusage, split by %d samples of 10 ms, whose "+
		"goroutines bear\nthe name of their part; runtime is the garbage collector and the "+
		"scheduler, which have none.\nHeap: live after the warm-up, split by the code that "+
		"allocated it, from samples of 512 KiB.\n", r.CPUSamples)
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// fault returns an error if an event occurred that must not happen in an undisturbed run.
func (r *result) fault() error {
	switch {
	case r.Lost != 0:
		return fmt.Errorf("%d messages of %d are in no counter of the coordinator", r.Lost,
			r.Sent)
	case r.Duplicates > 0:
		return fmt.Errorf("%d messages came twice", r.Duplicates)
	case r.Differing > 0:
		return fmt.Errorf("%d devices of %d differ from the log", r.Differing, r.Devices)
	}
	return nil
}
