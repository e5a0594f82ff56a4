//go:build js && wasm

package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"net/url"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/examples/browser/digits"
	"github.com/zofl/zofl/plan"
)

// A device is a client of the library that trains on the images of digits of its page. No part of
// the library is special to browsers, except the connection of socket.go and the store of store.go.
type device struct {
	model  *digits.Model
	store  *store
	conn   *nats.Conn
	client *client.Client
	leave  context.CancelFunc
	rounds uint64 // of the plan; 0: no end is known
	scored uint64 // round of the last score
}

// start joins the run.
func start(m message) (*device, error) {
	d := &device{model: digits.New(m.id)}
	var err error
	if d.store, err = openStore(m.place, m.run); err != nil {
		return nil, err
	}
	if err := d.store.eachDrawing(d.model.Draw); err != nil {
		return nil, err
	}
	u, err := url.Parse(m.address)
	if err != nil {
		return nil, err
	}
	// nats.go speaks its protocol as over a plain connection; the browser adds WebSocket and TLS.
	d.conn, err = nats.Connect("nats://"+u.Host, append(client.ConnectOptions(m.id),
		nats.SetCustomDialer(dialer{u.Scheme}), nats.SkipHostLookup(),
		nats.IgnoreDiscoveredServers())...)
	if err != nil {
		return nil, err
	}
	d.client, err = client.New(client.Config{
		Conn: d.conn, Run: m.run, ID: m.id, Objective: d.model, Store: d.store,
		Accept: d.accept, Recorder: client.RecorderFunc(d.record),
	})
	if err != nil {
		d.conn.Close()
		return nil, err
	}
	var ctx context.Context
	ctx, d.leave = context.WithCancel(context.Background())
	go d.run(ctx)
	d.tellDrawn()
	return d, nil
}

// run takes part in the training run until the run ends or the page asks to leave.
func (d *device) run(ctx context.Context) {
	defer d.conn.Close()
	if err := d.client.Run(ctx); err != nil && ctx.Err() == nil {
		failed(err)
		return
	}
	n, digest := d.client.Digest()
	tell(map[string]any{"kind": "stopped", "n": n, "digest": hex.EncodeToString(digest[:]),
		"left": ctx.Err() != nil})
}

// accept accepts every plan that fits the memory limit, and stores the plan's last round.
func (d *device) accept(p *plan.Plan) error {
	d.rounds = p.Rounds
	return nil
}

// record reports the client's progress to the page, and from time to time the model's score.
func (d *device) record(p client.Progress) error {
	m := map[string]any{"kind": "progress", "state": p.State.String(), "reason": p.Reason,
		"n": p.N, "last": p.Last, "round": p.Round, "rounds": d.rounds, "queries": p.Queries}
	if p.Contributed && !math.IsNaN(p.Loss) {
		m["loss"] = p.Loss
	}
	if p.Err != nil {
		m["fault"] = p.Err.Error()
	}
	tell(m)
	const often, of = 20, 500
	if p.Round >= d.scored+often || p.State == client.Ended && p.Round > d.scored {
		if x, ok := d.params(); ok {
			d.scored = p.Round
			tell(map[string]any{"kind": "score", "right": d.model.Score(x, of), "of": of})
		}
	}
	return nil
}

// params returns the model, if there is one yet.
func (d *device) params() ([]float32, bool) {
	x := make([]float32, digits.Dim)
	n, err := d.client.Params(x)
	return x, n > 0 && err == nil
}

// do carries out a request of the page.
func (d *device) do(m message) {
	switch m.kind {
	case "leave":
		d.leave()
	case "draw", "guess":
		image, err := digits.Fit(m.ink, m.side)
		if err == nil && m.kind == "draw" {
			err = d.draw(image, m.label)
		}
		if err != nil {
			tell(map[string]any{"kind": "guess", "text": fmt.Sprint(err, ".")})
			return
		}
		d.guess(image)
	}
}

// draw adds a drawing to the samples of the device. The page counts a drawing only once draw has
// stored it, so that a reload of the page loses no counted drawing.
func (d *device) draw(image []uint8, label int) error {
	if err := d.model.Draw(image, label); err != nil {
		return err
	}
	err := d.store.saveDrawing(d.model.Drawn()-1, image, label)
	d.tellDrawn()
	return err
}

func (d *device) tellDrawn() {
	tell(map[string]any{"kind": "drawn", "count": d.model.Drawn()})
}

// guess tells the page which digit the model recognizes in an image.
func (d *device) guess(image []uint8) {
	m := map[string]any{"kind": "guess", "text": "I have no model yet."}
	if x, ok := d.params(); ok {
		odds, err := d.model.Odds(x, image)
		if err != nil {
			failed(err)
			return
		}
		m["text"], m["odds"] = digits.Words(odds), odds
	}
	tell(m)
}
