package runlog

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/zofl/zofl/wire"
)

// Logs that store decisions beside the records implement Decider, so that a pause outlives the
// coordinator. Every log of this module implements Decider.
type Decider interface {
	// Decisions returns what the last Decide stored.
	Decisions(ctx context.Context) (Decisions, error)

	// Decide stores decisions in place of the earlier ones. When Decide returns nil, the decisions
	// survive a crash. Only the leading coordinator may call Decide. The error matches [ErrDeposed] if
	// another coordinator has stored decisions since.
	Decide(ctx context.Context, d Decisions) error
}

// Decisions are what a log stores of a run beside its records: why the run is paused or will be,
// which lost records a person has accepted as lost, and which record has the best model.
type Decisions struct {
	Pause    *Pause  `json:"pause,omitempty"`    // nil: the run is not paused
	Planned  *Pause  `json:"planned,omitempty"`  // a pause to come, after round After
	Accepted []Claim `json:"accepted,omitempty"` // ascending; records whose loss was accepted
	Best     *Best   `json:"best,omitempty"`     // nil: the plan has no best, or no value of it yet
}

// None says whether nothing was decided.
func (d *Decisions) None() bool {
	return d.Pause == nil && d.Planned == nil && len(d.Accepted) == 0 && d.Best == nil
}

// A Pause lasts until a person ends it.
type Pause struct {
	Reason string `json:"reason"`          // for people
	By     string `json:"by,omitempty"`    // who asked for the pause; empty: the coordinator
	After  uint64 `json:"after,omitempty"` // of a planned pause: the round after which it begins
	Claim  *Claim `json:"claim,omitempty"` // the claim that caused the pause; nil: none did
}

// A Claim is a record that a device has and the log lacks. An accepted claim without a tip covers
// all claims of records up to N.
type Claim struct {
	N   uint64
	Tip wire.Tip // of record N
}

// MarshalText writes N:TIP, or N without a tip.
func (c Claim) MarshalText() ([]byte, error) {
	if c.Tip == (wire.Tip{}) {
		return strconv.AppendUint(nil, c.N, 10), nil
	}
	return fmt.Appendf(nil, "%d:%v", c.N, c.Tip), nil
}

// UnmarshalText reads what MarshalText wrote.
func (c *Claim) UnmarshalText(text []byte) (err error) {
	n, tip, has := bytes.Cut(text, []byte{':'})
	if c.N, err = strconv.ParseUint(string(n), 10, 63); err != nil || !has {
		return err
	}
	if len(tip) != 2*len(c.Tip) {
		return fmt.Errorf("tip %q has not %d digits", tip, 2*len(c.Tip))
	}
	_, err = hex.Decode(c.Tip[:], tip)
	return err
}

// Accepts says whether a person has accepted the loss of a claimed record. began is the number of
// records that the log had when the coordinator began. A claim of one of these records is older
// than the acceptance, so an accepted claim with the same or a larger N covers it. A claim of a
// later record counts as accepted only if an accepted claim equals it, or if an accepted claim
// without a tip has the same or a larger N. So the tips distinguish the records of a second loss
// from those of the first.
func (d *Decisions) Accepts(c Claim, began uint64) bool {
	for _, a := range d.Accepted {
		if a == c || c.N <= a.N && (c.N <= began || a.Tip == wire.Tip{}) {
			return true
		}
	}
	return false
}

// mostAccepted is how many accepted claims Accept keeps. Devices that applied the same records make
// the same claim, so one loss makes only a few claims.
const mostAccepted = 64

// Accept notes that a person accepted the loss of a claimed record, and says whether that is new.
// If there are more than mostAccepted claims, Accept drops those with the smallest N.
func (d *Decisions) Accept(c Claim) bool {
	at := 0
	for i, a := range d.Accepted {
		if a == c {
			return false
		}
		if a.N <= c.N {
			at = i + 1
		}
	}
	list := append(append(append([]Claim(nil), d.Accepted[:at]...), c), d.Accepted[at:]...)
	d.Accepted = list[max(len(list)-mostAccepted, 0):]
	return true
}

// decisionsHead is the first line of the text of decisions. The second line is JSON, and the third
// a checksum of the first two.
const decisionsHead = "zofl decisions 1\n"

// maxDecisions bounds the text of decisions.
const maxDecisions = 64 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Text returns the form in which logs store d, as docs/state.md specifies.
func (d *Decisions) Text() ([]byte, error) {
	line, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	text := seal(append(append([]byte(decisionsHead), line...), '\n'))
	if len(text) > maxDecisions {
		return nil, fmt.Errorf("decisions: %d bytes, at most %d are kept: give a shorter reason",
			len(text), maxDecisions)
	}
	return text, nil
}

// seal appends the checksum.
func seal(text []byte) []byte {
	return fmt.Appendf(text, "%08x\n", crc32.Checksum(text, castagnoli))
}

// ReadDecisions reads what [Decisions.Text] returned. The error matches [ErrCorrupt].
func ReadDecisions(text []byte) (d Decisions, err error) {
	body := text[:max(len(text)-len("01234567\n"), 0)]
	line, ok := bytes.CutPrefix(body, []byte(decisionsHead))
	switch {
	case len(text) > maxDecisions:
		return d, fmt.Errorf("decisions: %w: %d bytes", ErrCorrupt, len(text))
	case !ok || string(seal(body[:len(body):len(body)])) != string(text):
		return d, fmt.Errorf("decisions: %w: checksum differs: remove them if the run may go on",
			ErrCorrupt)
	}
	if err := json.Unmarshal(line, &d); err != nil {
		return Decisions{}, fmt.Errorf("decisions: %w: %w", ErrCorrupt, err)
	}
	return d, nil
}

// DecisionsOf returns the decisions that a log stores, or none if the log is no [Decider].
func DecisionsOf(ctx context.Context, log Log) (d Decisions, err error) {
	if decider, ok := log.(Decider); ok {
		d, err = decider.Decisions(ctx)
	}
	return d, err
}
