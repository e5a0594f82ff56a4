package run

import "github.com/zofl/zofl/fleet/traffic"

// Traffic counts one direction; Totals counts all clients.
type (
	Traffic = traffic.Sum
	Totals  = traffic.Totals
)
