package run

import "github.com/zofl/zofl/fleet/traffic"

// Traffic is the traffic in one direction, and Totals is that of all clients.
type (
	Traffic = traffic.Sum
	Totals  = traffic.Totals
)
