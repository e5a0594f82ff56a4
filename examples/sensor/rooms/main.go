// Command rooms writes simulated thermometer readings for the rooms of a house, and an
// agent's configuration for each room. The data are for a walk-through and for tests.
//
//	rooms DIR [rooms=3] [days=28] [seed=1] [speed=43200]
//
// Rooms writes room-1.csv and room-1.conf, room-2.csv and so on. Rooms also writes windows.csv,
// with the times at which a window was open. No agent reads windows.csv. The same arguments give
// the same readings.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Options are the command's arguments.
type Options struct {
	Dir         string
	Rooms, Days int
	Seed        uint64
	Speed       float64 // speed of the replay in the configurations; 0: without pauses
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = write(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(1)
	}
	fmt.Printf("%d rooms, %d days in %s\n", o.Rooms, o.Days, o.Dir)
}

func parse(args []string) (Options, error) {
	o := Options{Rooms: 3, Days: 28, Seed: 1, Speed: 43200}
	if len(args) == 0 || strings.Contains(args[0], "=") {
		return o, fmt.Errorf("usage: rooms DIR [rooms=%d] [days=%d] [seed=%d] [speed=%v]",
			o.Rooms, o.Days, o.Seed, o.Speed)
	}
	o.Dir = args[0]
	for _, arg := range args[1:] {
		if err := o.set(arg); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (o *Options) set(arg string) (err error) {
	name, value, _ := strings.Cut(arg, "=")
	switch name {
	case "rooms":
		o.Rooms, err = strconv.Atoi(value)
	case "days":
		o.Days, err = strconv.Atoi(value)
	case "seed":
		o.Seed, err = strconv.ParseUint(value, 10, 64)
	case "speed":
		o.Speed, err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("%s: choose rooms, days, seed or speed", arg)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: give a number", arg)
	case o.Rooms < 1 || o.Rooms > 1000 || o.Days < 1 || o.Days > 3650 ||
		!(o.Speed >= 0 && o.Speed <= 1e9):
		return fmt.Errorf("%s: give 1 to 1000 rooms, 1 to 3650 days, a speed of 0 to 1e9", arg)
	}
	return nil
}
