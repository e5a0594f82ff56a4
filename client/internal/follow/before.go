package follow

import (
	"errors"
	"io"
	"io/fs"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// itemBefore is the item with the state of an earlier run. The earlier run did not end as this
// device knew: the run's log lost records, or another run began under the run's name. The item's
// state may be the last copy of the model. An empty item holds no state.
const itemBefore = "checkpoint-before"

// KeepBefore saves the state as the state of a run that the follower is about to forget. KeepBefore
// does not replace a saved state with more records. An error is an error of Report.
func (f *Follower) KeepBefore() error {
	c, s := &f.checkpoints, f.cfg.Files
	n := f.replica.N()
	if s == nil || n < 2 || n <= c.before {
		return nil
	}
	r, h := f.replica, f.history()
	if !f.whole() {
		var err error
		if r, h, err = f.loadCheckpoint(); err != nil || r.N() <= c.before {
			return nil // r is of no use: it lacks a later record's vector
		}
		n = r.N()
	}
	err := s.Save(itemBefore, func(w io.Writer) error { return r.Save(w, h) })
	if err == nil {
		c.before, c.spare, c.ran = n, 0, wire.KeyTip(r.Plan())
		f.cfg.Logger.Warn("keeping the model of the run before", "item", itemBefore, "record", n)
	} else {
		// The checkpoint of that run is the last copy of its model. So do not replace that checkpoint
		// with the checkpoint of a shorter run.
		c.spare = c.stored.n
	}
	return s.Check(itemBefore, err)
}

// openBefore notes which state an earlier process kept. openBefore never sets the item aside: an
// operator may need the item, whatever this client finds wrong with it.
func (f *Follower) openBefore() error {
	f.checkpoints.before = 0
	err := f.cfg.Files.Load(itemBefore, func(file *io.SectionReader) error {
		if file.Size() == 0 {
			return nil
		}
		h, err := replica.ReadHead(file)
		if err == nil {
			f.checkpoints.before, f.checkpoints.ran = h.N, wire.KeyTip(h.Plan)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, replica.ErrState) {
		return nil
	}
	return f.cfg.Files.Check(itemBefore, err)
}

// dropBefore removes the state of the run before, once the present run's checkpoint has more
// records. At that point an operator has accepted that the earlier records are lost: otherwise this
// device would still wait. If another run has taken the name, or the run has ended, nobody has
// accepted the loss. Then dropBefore keeps the state.
func (f *Follower) dropBefore() error {
	c := &f.checkpoints
	if c.before == 0 || c.stored.n <= c.before || f.replica.Ended() != nil ||
		c.ran != wire.KeyTip(f.Plan()) {
		return nil
	}
	err := f.cfg.Files.Save(itemBefore, func(io.Writer) error { return nil })
	if err == nil {
		f.cfg.Logger.Info("the run is longer than the one before: dropping that model",
			"record", c.before)
		c.before = 0
	}
	return f.cfg.Files.Check(itemBefore, err)
}
