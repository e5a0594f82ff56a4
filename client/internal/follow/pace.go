package follow

import (
	"math"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// byteSeconds is the least cost of a byte: the time that the byte takes at 2 Mbit/s. Also on a
// faster network bytes cost money or energy.
const byteSeconds = 4e-6

// The device takes a snapshot only if the snapshot is this much cheaper than a replay.
const (
	snapshotGain   = 2.0 // seconds
	snapshotFactor = 1.25
)

// worthTiming is how many bytes an answer must have so that the device measures the network's speed
// with it.
const worthTiming = 16 << 10

// A pace holds this device's measurements of how fast it catches up.
type pace struct {
	applied time.Duration // time spent on applying rounds
	rounds  float64       // applied in that time
	work    float64       // elements of those rounds
	waited  time.Duration // time spent on waiting for long answers
	bytes   float64       // of those answers
	records float64       // number of records fetched
	size    float64       // bytes of the answers that brought them
}

// apply notes that d is the time to apply rounds with the given number of elements in total.
func (p *pace) apply(d time.Duration, rounds int, elements float64) {
	p.applied += d
	p.rounds += float64(rounds)
	p.work += elements
}

// replays estimates how long it takes to apply the given number of elements. Before the first
// measurement, replays returns the longest duration.
func (p *pace) replays(elements float64) time.Duration {
	if p.work == 0 {
		return math.MaxInt64
	}
	return time.Duration(min(p.applied.Seconds()/p.work*elements, 1e9) * float64(time.Second))
}

// fetched notes an answer that took d.
func (p *pace) fetched(d time.Duration, bytes int) {
	if bytes >= worthTiming {
		p.waited += d
		p.bytes += float64(bytes)
	}
}

// perByte returns the cost of a byte in seconds.
func (p *pace) perByte() float64 {
	if p.bytes == 0 {
		return byteSeconds
	}
	return max(byteSeconds, p.waited.Seconds()/p.bytes)
}

// replay estimates the seconds for fetching and applying the given number of records. replay
// assumes perRecord bytes a record, unless the device has measured some records.
func (p *pace) replay(records uint64, perRecord float64) float64 {
	if p.records > 0 {
		perRecord = p.size / p.records
	}
	seconds := perRecord * p.perByte()
	if p.rounds > 0 {
		seconds += p.applied.Seconds() / p.rounds
	}
	return float64(records) * seconds
}

// snapshot estimates the seconds for a snapshot of this many bytes and for the records after it.
func (p *pace) snapshot(bytes, after uint64, perRecord float64) float64 {
	return float64(bytes)*p.perByte() + p.replay(after, perRecord)
}

// better says whether a snapshot is much cheaper than a replay. Both parameters are in seconds.
func better(snapshot, replay float64) bool {
	return replay > snapshotFactor*snapshot+snapshotGain
}

// elements is the cost of applying a round, in elements: d for each of the round's scalars. A round
// that names a vector costs next to no time.
func elements(plan *plan.Plan, round *wire.Round) float64 {
	if len(round.Object) > 0 {
		return 1
	}
	scalars := 0
	for i := range round.Terms {
		n := plan.TermPrecision().Len(round.Terms[i].Scalars)
		if n < 0 { // they are along the round's own directions
			n = int(plan.Steps) * int(round.Perturbations)
		}
		scalars += n
	}
	return float64(scalars) * float64(plan.Dim)
}
