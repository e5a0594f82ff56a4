package follow

import (
	"math"
	"time"

	"github.com/zofl/zofl/wire"
)

// A byte is charged at least what it takes at 2 Mbit/s: where the network is
// faster, bytes still cost somebody something.
const byteSeconds = 4e-6

// A choice of the snapshot has to gain so much over a replay.
const (
	snapshotGain   = 2.0  // seconds
	snapshotFactor = 1.25 // times
)

// worthTiming is how long an answer has to be for its time to say something of
// the network's pace, in bytes.
const worthTiming = 16 << 10

// A pace is what this device measured of catching up.
type pace struct {
	applied time.Duration // of the rounds applied
	rounds  float64       // those
	work    float64       // their elements
	waited  time.Duration // for long answers
	bytes   float64       // of those
	records float64       // fetched
	size    float64       // their bytes
}

// apply notes that so many rounds of so many elements took d.
func (p *pace) apply(d time.Duration, rounds int, elements float64) {
	p.applied += d
	p.rounds += float64(rounds)
	p.work += elements
}

// replays is how long so many elements take to apply: longer than anything where
// it is not known yet.
func (p *pace) replays(elements float64) time.Duration {
	if p.work == 0 {
		return math.MaxInt64
	}
	return time.Duration(min(p.applied.Seconds()/p.work*elements, 1e9) * float64(time.Second))
}

// fetched notes an answer.
func (p *pace) fetched(d time.Duration, bytes int) {
	if bytes >= worthTiming {
		p.waited += d
		p.bytes += float64(bytes)
	}
}

// perByte is the seconds that a byte is charged.
func (p *pace) perByte() float64 {
	if p.bytes == 0 {
		return byteSeconds
	}
	return max(byteSeconds, p.waited.Seconds()/p.bytes)
}

// replay estimates the seconds of fetching and applying so many records, of
// perRecord bytes each unless some were measured.
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

// snapshot estimates the seconds of a snapshot of so many bytes, and of the
// records that follow it.
func (p *pace) snapshot(bytes, after uint64, perRecord float64) float64 {
	return float64(bytes)*p.perByte() + p.replay(after, perRecord)
}

// better says whether a snapshot that takes so many seconds is worth its trouble
// where a replay takes others.
func better(snapshot, replay float64) bool {
	return replay > snapshotFactor*snapshot+snapshotGain
}

// elements is what a round costs to apply, in elements: d for each scalar in it; next
// to nothing for one that names a vector.
func elements(plan *wire.Plan, round *wire.Round) float64 {
	if len(round.Object) > 0 {
		return 1
	}
	scalars := 0
	for i := range round.Terms {
		scalars += len(round.Terms[i].Scalars) / plan.Precision.Width()
	}
	return float64(scalars) * float64(plan.Dim)
}
