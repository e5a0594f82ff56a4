// Command hello is a whole device in one file: it takes part in a run that trains a forecast on
// numbers which never leave it.
//
//	hello URL RUN NAME FILE
//
// FILE has one reading a line, oldest first. NAME is the device's in the run, unlike any other's,
// and its state is in the folder NAME.state. When the run has ended, hello prints its forecast of
// the next reading, made with the model that all devices trained.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// lags is the number of parameters: the next change is forecast from so many changes before it.
const lags = 4

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: hello URL RUN NAME FILE")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, name, id, file string) (err error) {
	d, err := read(file)
	if err != nil {
		return err
	}
	// The state of a device is on disk, so that one that is switched off goes on where it was.
	store, err := client.OpenStore(id + ".state")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// The connection is the app's: TLS and credentials are options of it. client.ConnectOptions
	// has those that a device wants: it waits for a broker that is away.
	conn, err := nats.Connect(url, client.ConnectOptions(id)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := client.New(client.Config{
		Conn: conn, Run: name, ID: id, Store: store,
		// This is all that Zofl asks of an app: the loss, at parameters that it names.
		Objective: objective.Func(lags, d.loss),
		Recorder:  client.RecorderFunc(tell),
	})
	if err != nil {
		return err
	}
	// Run takes part until the run has ended, or ctx has.
	if err := c.Run(ctx); err != nil {
		return err
	}
	x := make([]float32, lags) // the model, at any time
	if _, err := c.Params(x); err != nil {
		return err
	}
	record, digest := c.Digest()
	fmt.Printf("record %d, digest %x\n", record, digest)
	fmt.Printf("error %.4f, of the last reading as a forecast %.4f\n", d.error(x),
		d.error(make([]float32, lags)))
	fmt.Printf("next reading %.2f\n", d.next(x))
	return nil
}

// tell prints now and then how the run goes.
func tell(p client.Progress) error {
	if p.Contributed && p.Round%100 == 0 {
		fmt.Printf("round %d: loss %.4f\n", p.Round, p.Loss)
	}
	return nil
}

// A device has the changes between its readings, as multiples of their usual size.
type device struct {
	changes     []float64
	last, usual float64
}

func read(file string) (*device, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	d := &device{}
	scan := bufio.NewScanner(in)
	for n := 1; scan.Scan(); n++ {
		v, err := strconv.ParseFloat(strings.TrimSpace(scan.Text()), 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if n > 1 {
			d.changes = append(d.changes, v-d.last)
			d.usual += max(v-d.last, d.last-v)
		}
		d.last = v
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	if len(d.changes) <= lags || d.usual == 0 {
		return nil, fmt.Errorf("%s: %d changes: give more than %d, and not all 0", file,
			len(d.changes), lags)
	}
	d.usual /= float64(len(d.changes))
	for i := range d.changes {
		d.changes[i] /= d.usual
	}
	return d, nil
}

// loss is the mean square error of parameters x on a minibatch. The batch has a seed: all losses
// of a step are on the same examples, or their differences would say nothing about x.
func (d *device) loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	size := int(b.Size)
	if size == 0 { // all examples
		return d.error(x), nil
	}
	random, sum := rand.New(rand.NewPCG(b.Seed, 0)), 0.0
	for range size {
		sum += d.square(x, lags+random.IntN(len(d.changes)-lags))
	}
	return sum / float64(size), nil
}

// error is the mean square error on all that this device has.
func (d *device) error(x []float32) float64 {
	sum := 0.0
	for i := lags; i < len(d.changes); i++ {
		sum += d.square(x, i)
	}
	return sum / float64(len(d.changes)-lags)
}

func (d *device) square(x []float32, i int) float64 {
	err := d.forecast(x, i) - d.changes[i]
	return err * err
}

// forecast is of change i: sum_j x[j] change[i-1-j].
func (d *device) forecast(x []float32, i int) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v) * d.changes[i-1-j]
	}
	return sum
}

// next forecasts the reading after the last.
func (d *device) next(x []float32) float64 {
	return d.last + d.usual*d.forecast(x, len(d.changes))
}
