// Package outbox keeps a device's last contribution, a reply or a vector. So the device sends the
// same bytes however often the coordinator asks. The package also keeps the device's control
// variates: its contributions that records include. Package outbox knows announcements, records and
// the store. The package does not know the model, and does not compute contributions.
package outbox

import (
	"context"
	"log/slog"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Items of the store.
const (
	itemReply    = "reply"    // the last contribution, to send again
	itemUpload   = "upload"   // the last contribution with transport=dense
	itemVariates = "variates" // with scaffold-2: contributions that records include
)

// A Log is the run's log, as far as this device has followed it.
type Log interface {
	// Plan is the plan with all changes so far; nil before record 1.
	Plan() *plan.Plan
	// N is the index of the last record that the device applied.
	N() uint64
	// Live says whether record n is part of the state: no rollback undid it.
	Live(n uint64) bool
	// Record fetches record n; nil: the log has none.
	Record(ctx context.Context, n uint64) ([]byte, error)
	// HoldSums refuses another log of this run without secure=sum or, if agreed, without
	// secure_lists=agreed.
	HoldSums(agreed bool)
}

// Config holds what an outbox needs.
type Config struct {
	Files  *files.Keeper // nil: this device has no store
	Log    Log
	Pauses *retry.Pauses
	Logger *slog.Logger
	// Upload sends a piece of a vector, or only a question, and returns the answer.
	Upload func(ctx context.Context, frame []byte) ([]byte, error)
	// Room returns how many bytes of at most most a piece may have.
	Room func(most uint64) uint64
	// Report reports to the app that the coordinator has received bytes of the vector of record n,
	// which has size bytes. An error of Report ends Run.
	Report func(n, received, size uint64) error
}

// An Outbox holds this device's last contribution, its last decline, and its control
// variates. The goroutine of Run owns it.
//
// Invariant: if there is a working store, a contribution is in the store before the device sends
// any byte of the contribution.
type Outbox struct {
	cfg      Config
	slot     uint32
	reply    reply  // the last contribution
	decline  reply  // the last decline
	upload   upload // the last contribution with transport=dense
	variates variates

	unmasking unmasking
	sums      sums
	kept      sums // what the store has of it
	warned    bool // that the run has no secret
}

// New returns an outbox.
func New(cfg Config) *Outbox { return &Outbox{cfg: cfg} }

// An Ask is an announcement, with what the optional fields at its end ask of this device.
type Ask struct {
	wire.Announcement
	Survey survey.Kind // None: a round
	Group  uint32      // where announcements name groups: this device's group
}

// A reply is this device's reply to a round. The outbox keeps the reply to send it again unchanged.
type reply struct {
	n       uint64
	tip     wire.Tip
	frame   []byte
	final   bool // a contribution; a decline is valid for its attempt only
	epoch   uint64
	attempt uint32
	step    float32 // the step size of the announcement
	p       uint32  // the announcement's perturbations
	survey  survey.Kind
	group   uint32 // of the contribution's directions
}

// answers says whether s replies to an announcement of a record that follows tip. A contribution
// along another group's directions is no reply: another coordinator may have put this device into
// another group.
func (s *reply) answers(a *Ask, tip wire.Tip) bool {
	return s.n == a.N && s.tip == tip && s.step == a.StepSize && s.p == a.Perturbations &&
		s.survey == a.Survey && (s.final && s.group == a.Group ||
		!s.final && s.epoch == a.Epoch && s.attempt == a.Attempt)
}

// Joined takes the slot that a coordinator gave the device. Joined forgets that a coordinator
// refused the device's vector: a coordinator that had lost its list of members may not have known
// the device.
func (o *Outbox) Joined(slot uint32) {
	o.slot = slot
	if o.upload.ending.state == wire.UploadRefused {
		o.upload.ending = ending{}
	}
}

// Frame returns the reply that already answers an announcement; nil: there is none.
func (o *Outbox) Frame(a *Ask, tip wire.Tip) []byte {
	for _, s := range []*reply{&o.reply, &o.decline} {
		if s.answers(a, tip) {
			return s.frame
		}
	}
	return nil
}

// Contributed says whether this device has contributed to record n, whatever the announcement was.
func (o *Outbox) Contributed(n uint64) bool { return o.reply.n == n && o.reply.frame != nil }

// Worked says whether this device has ever contributed, as far as it remembers.
func (o *Outbox) Worked() bool {
	if o.reply.survey == survey.Columns { // which needs no loss, and comes first
		return false
	}
	return o.reply.frame != nil || o.upload.n > 0 || o.unmasking.n > 0
}

// Kept says whether the store has the last contribution. If the store failed to save the
// contribution, Kept tries again. An error is the Recorder's.
func (o *Outbox) Kept() (bool, error) {
	s := o.cfg.Files
	if s == nil {
		return false, nil
	}
	if s.Failing(itemReply) {
		if err := o.saveReply(); err != nil {
			return false, err
		}
	}
	return !s.Failing(itemReply), nil
}

// Uploads says whether this device's vector answers an announcement.
func (o *Outbox) Uploads(a *Ask, tip wire.Tip) bool {
	return o.upload.answers(a, tip)
}

// Settled says whether the device need send nothing more in answer to an announcement.
func (o *Outbox) Settled(a *Ask, tip wire.Tip) bool {
	return o.Frame(a, tip) != nil || o.upload.answers(a, tip) && o.upload.over(&a.Announcement)
}

// replyRoom bounds the length of a reply without its values, in bytes.
const replyRoom = 40

// Promise makes r this device's reply to an announcement, and returns the frame to send. Promise
// stores r if r is a contribution.
func (o *Outbox) Promise(a *Ask, r *wire.Reply) ([]byte, error) {
	contributes := r.Kind == wire.Contribution
	keeps := contributes && o.cfg.Files != nil
	if keeps {
		// Save the control variate that came from the last contribution, before r replaces that.
		if err := o.saveVariates(); err != nil {
			return nil, err
		}
	}
	frame := r.Append(make([]byte, 0, replyRoom+len(r.Values)+len(r.Rest)))
	if !contributes && r.Reason == wire.DeclineBusy {
		return frame, nil // not stored: the device may soon be free
	}
	last := &o.decline
	if contributes {
		last = &o.reply
	}
	*last = reply{
		n: a.N, tip: r.Tip, frame: frame, final: contributes,
		epoch: a.Epoch, attempt: a.Attempt, step: a.StepSize, p: a.Perturbations,
		survey: a.Survey, group: a.Group,
	}
	if keeps {
		return frame, o.saveReply()
	}
	return frame, nil
}

// Open loads the items that an earlier process stored. An error is the Recorder's.
func (o *Outbox) Open() error {
	for _, load := range []func() error{o.loadReply, o.loadUpload, o.loadVariates,
		o.loadUnmasked, o.loadSums} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

// Forget drops what the outbox knows about the store, because another client of this device may
// have changed the store. Forget keeps a contribution that the store failed to save, because only
// this client knows what it sent.
func (o *Outbox) Forget() {
	if !o.cfg.Files.Failing(itemReply) {
		o.reply = reply{}
	}
	if !o.cfg.Files.Failing(itemUpload) {
		o.upload = upload{}
	}
	o.decline, o.variates = reply{}, variates{}
}
