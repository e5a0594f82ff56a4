package policies

import (
	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/wire"
)

// claims are the samples that vectors claimed in the last rounds.
type claims struct{ median.Running }

func (c *claims) Kind() uint8 { return 3 }

func (c *claims) Append(b []byte, _ wire.RecordKind) []byte { return c.Running.Append(b) }
