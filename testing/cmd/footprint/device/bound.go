package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// bound takes part in a run through client/mobile, as gobind's bindings do.
func bound(ctx context.Context, s *settings, m *marker) error {
	ca, err := os.ReadFile(s.ca)
	if err != nil {
		return err
	}
	cfg := mobile.NewConfig()
	cfg.Run, cfg.Device, cfg.Dim = s.run, s.id, s.dim
	if err := errors.Join(cfg.AddServer(s.url), cfg.SetCA(string(ca))); err != nil {
		return err
	}
	if s.face == "mobile" {
		cfg.SetObjective(whole{})
	} else {
		cfg.SetBlockObjective(byBlocks(make([]byte, 4*min(block, s.dim))))
	}
	cfg.SetListener(listener{m})
	m.began = time.Now()
	c, err := mobile.NewClient(cfg)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.Stop)()
	return c.Run()
}

func first(params []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(params)))
}

type whole struct{}

func (whole) Loss(params []byte) (float64, error) { return first(params), nil }

type byBlocks []byte

func (b byBlocks) Loss(r *mobile.Round) (float64, error) {
	for off := 0; off < r.Dim(); {
		n, err := r.ReadParams(off, b)
		if err != nil {
			return 0, err
		}
		off += n
	}
	return first(b), nil
}

// A listener receives events on one goroutine. The goroutine may miss all events but the latest.
type listener struct{ m *marker }

func (l listener) OnProgress(_, _, _, contributions int64, _ float64) error {
	return l.m.reached(contributions)
}

func (listener) OnState(int, string) error { return nil }

func (listener) OnFault(code, message string) error {
	os.Stderr.WriteString(code + ": " + message + "\n")
	return nil
}
