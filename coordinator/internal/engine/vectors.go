package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/wire"
)

// Vectors are the vectors that are arriving, and the vectors that the log keeps.
type vectors struct {
	uploads gather.Uploads
	due     bool // one was stored, and those too old are not yet deleted
}

// moved follows the log.
func (v *vectors) moved(r *wire.Record, t transport) {
	v.due = v.due || r.Kind == wire.KindRound && t.vectors()
}
