// Fleet runs a whole fleet in one process: the production coordinator, production devices whose
// loss costs nothing, and a broker between them. Fleet measures the cost of a round and of each
// part, and checks that no message was lost.
//
//	go -C testing run ./cmd/fleet --devices 1000 --rounds 200
//	    [--broker memory|embedded|URL] [--target N] [--store DIR] [--json]
//
// The broker is memory (bus.Memory), embedded (a nats-server in this process, with pipes as
// connections) or the URL of a server elsewhere.
//
// Fleet counts every message of a device to the coordinator when the device passes the message to
// the bus. A message is lost if no counter of the coordinator counts it. Fleet fails if any message
// was lost or came twice, or if a device does not end with the state of the log. If a round takes
// longer than the plan's reannounce, the coordinator asks again. Fleet then counts duplicate
// messages, but does not fail because of them.
//
//	go -C testing run ./cmd/fleet --soak 1h --chaos SEED [--devices 100] [--stall 1m]
//
// applies faults to a fleet for an hour: see testing/fleet/soak. The command prints a line a
// minute, and fails with the seed if it found an error.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/zofl/zofl/testing/fleet/soak"
)

// options are the command line.
type options struct {
	devices, rounds, warmup int

	broker, store string
	target        uint

	json bool

	soak, stall time.Duration
	chaos       uint64
}

func main() {
	var o options
	flag.IntVar(&o.devices, "devices", 100, "devices, each with a connection of its own")
	flag.IntVar(&o.rounds, "rounds", 200, "rounds that are measured")
	flag.IntVar(&o.warmup, "warmup", 10, "rounds before them")
	flag.StringVar(&o.broker, "broker", "embedded", "memory, embedded, or a server's URL")
	flag.StringVar(&o.store, "store", "", "directory of a file log; empty: the log is in memory")
	flag.UintVar(&o.target, "target", 0, "contributions that close a round; 0: of all devices")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.DurationVar(&o.soak, "soak", 0, "instead of measuring, how long to watch the fleet")
	flag.Uint64Var(&o.chaos, "chaos", 0, "with --soak: seed of faults; 0: none")
	flag.DurationVar(&o.stall, "stall", time.Minute, "with --soak: longest time without a round")
	flag.Parse()
	if err := command(os.Stdout, &o); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func command(out io.Writer, o *options) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("unknown arguments %q: give flags only", flag.Args())
	case o.devices < 1 || o.rounds < 1 || o.warmup < 1:
		return fmt.Errorf("--devices %d, --rounds %d, --warmup %d: give at least 1 of each",
			o.devices, o.rounds, o.warmup)
	case o.target > uint(o.devices):
		return fmt.Errorf("--target %d: there are only %d devices", o.target, o.devices)
	}
	if o.soak > 0 {
		return soakFor(out, o)
	}
	r, err := measure(o)
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		err = e.Encode(r)
	} else {
		r.print(out)
	}
	return errors.Join(err, r.fault())
}

// soakFor applies faults to a fleet.
func soakFor(out io.Writer, o *options) error {
	err := soak.Run(soak.Config{Devices: o.devices, For: o.soak, Seed: o.chaos, Stall: o.stall,
		Line: min(time.Minute, o.soak/5), Check: min(3*time.Minute, o.soak/3), Out: out})
	if err != nil {
		return fmt.Errorf("seed %d: %w", o.chaos, err)
	}
	return nil
}
