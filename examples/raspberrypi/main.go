// Command raspberrypi is a whole device. Together with others it trains a forecast of a sensor's
// next reading. The readings stay where they are.
//
//	device URL RUN NAME FILE
//
// FILE has one reading on each line, the oldest first. NAME is this device's in the run, unlike any
// other's, and what the device must not forget is in the folder NAME.state.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// dim is the number of parameters: the next change of the sensor is forecast from that many earlier
// changes.
const dim = 4

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 5 {
		log.Fatal("usage: device URL RUN NAME FILE")
	}
	url, run, name, file := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	last, changes, err := read(file)
	check(err)
	store, err := client.OpenStore(name + ".state") // survives a power cut
	check(err)
	conn, err := nats.Connect(url, client.ConnectOptions(name)...) // TLS and users: more options
	check(err)
	device, err := client.New(client.Config{
		Conn: conn, Run: run, ID: name, Store: store,
		Objective: objective.Func(dim, changes.loss), // all that Zofl asks of an app
	})
	check(err)
	check(device.Run(ctx)) // takes part until the run has ended
	x := make([]float32, dim)
	record, err := device.Params(x) // the model, at any time
	check(err)
	fmt.Printf("record %d, model %v\nnext reading %.2f\n", record, x, last+changes.next(x))
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // it names the remedy; the store takes a kill at any point
	}
}

// changes are the differences between one reading and the next.
type changes []float64

// loss returns the squared error of all forecasts made with parameters x, divided by the squared
// error of the forecast of no change. It takes all readings, as they are few, whatever the
// minibatch.
func (c changes) loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	var with, without float64
	for i := dim; i < len(c); i++ {
		miss := c[i] - c[:i].next(x)
		with += miss * miss
		without += c[i] * c[i]
	}
	return with / without, nil
}

// next forecasts the change after these.
func (c changes) next(x []float32) (change float64) {
	for i, weight := range x {
		change += float64(weight) * c[len(c)-1-i]
	}
	return change
}

func read(file string) (last float64, c changes, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, nil, err
	}
	for i, line := range strings.Fields(strings.TrimPrefix(string(text), "\ufeff")) {
		reading, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return 0, nil, fmt.Errorf("%s: reading %d: %w", file, i+1, err)
		}
		if i > 0 {
			c = append(c, reading-last)
		}
		last = reading
	}
	if !slices.ContainsFunc(c[min(dim, len(c)):], func(v float64) bool { return v != 0 }) {
		return 0, nil, fmt.Errorf("%s: no change after reading %d: record more", file, dim+1)
	}
	return last, c, nil
}
