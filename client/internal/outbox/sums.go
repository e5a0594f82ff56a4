package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// itemSums is the store's item for what this device relies on with secure=sum.
const itemSums = "sums"

// errSumsFile says that the stored item is not one that this device wrote.
var errSumsFile = errors.New("not what this device relies on with secure=sum")

// The content of the item is the highest quorum as LE32, and a byte 1 if devices agree on lists.
const (
	sumsMagic   = "zofl sums 1\n"
	sumsFileMax = len(sumsMagic) + files.Overhead + 5
)

// sums is what this device relies on with secure=sum. A coordinator writes the log, so the plan's
// quorum alone would protect nobody against a coordinator that changes it.
type sums struct {
	quorum uint32 // the highest that this device has seen: it adds to no sum of fewer devices
	agreed bool   // devices agree on lists
}

// seeChange notes what a record changes about the plan's sums, before the follower applies it.
func (o *Outbox) seeChange(r *wire.Record, before *plan.Plan) {
	if r.Kind != wire.KindChange {
		return
	}
	after := *before
	r.Change.Apply(&after)
	o.sums.quorum = max(o.sums.quorum, before.Quorum, after.Quorum)
	if after.Quorum == before.Quorum && after.Target == before.Target {
		return
	}
	say := o.cfg.Logger.Info
	if after.Quorum < before.Quorum || after.Target < before.Target {
		say = o.cfg.Logger.Warn
	}
	say("another quorum or target of sums", "record", r.N, "from", sizesOf(before), "to",
		sizesOf(&after))
}

// sizesOf says of how many devices a plan's sums are.
func sizesOf(p *plan.Plan) string { return fmt.Sprintf("quorum %d, target %d", p.Quorum, p.Target) }

// RelyOn returns a refusal if a sum under the plan could be of fewer devices than one that this
// device has relied on. first is the record with the plan that the run began with. err is the
// Recorder's.
func (o *Outbox) RelyOn(p *plan.Plan, first []byte) (refusal, err error) {
	held := sums{max(o.sums.quorum, p.Quorum), p.SecureLists > 0}
	if r, fault := wire.DecodeRecord(first); fault == nil && r.Plan != nil {
		held.quorum = max(held.quorum, r.Plan.Quorum)
	}
	if o.sums = held; o.kept != held && o.cfg.Files != nil {
		content := binary.LittleEndian.AppendUint32(nil, held.quorum)
		content = append(content, p.SecureLists)
		if err = o.cfg.Files.SaveFile(itemSums, sumsMagic, content); err == nil {
			o.kept = held
		}
		err = o.cfg.Files.Check(itemSums, err)
	}
	if !p.Private() && !o.warned {
		o.warned = true
		o.cfg.Logger.Warn("this run has no secret: a coordinator that poses as the other devices " +
			"reads what this device sends; make the plan with zofl plan --secret FILE")
	}
	if p.Quorum < held.quorum {
		refusal = &plan.Error{Field: "quorum", Value: p.Quorum, Remedy: fmt.Sprintf("this device has "+
			"seen a quorum of %d, and adds to no sum of fewer devices: `zofl change quorum=%d`, or "+
			"make a run of another name", held.quorum, held.quorum)}
	}
	return refusal, err
}

// loadSums loads what an earlier process relied on.
func (o *Outbox) loadSums() error {
	take := func(content []byte) error {
		if len(content) != 5 || content[4] > 1 {
			return errSumsFile
		}
		o.kept = sums{binary.LittleEndian.Uint32(content), content[4] > 0}
		o.sums.quorum = max(o.sums.quorum, o.kept.quorum)
		o.cfg.Log.HoldSums(o.kept.agreed)
		return nil
	}
	return o.cfg.Files.LoadFile(itemSums, sumsMagic, sumsFileMax, errSumsFile, take)
}
