package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// later returns a frame or record of a later version.
func later(frame []byte) []byte {
	b := append([]byte(nil), frame...)
	b[1]++
	return b
}

// A forgery is an answer that would end a device's part in the run, if the coordinator had sent it.
type forgery struct {
	subject string // a part of the subject of the requests; "": the forgery is announced
	frame   func(h *host, m bus.Message) []byte
}

func forgeries() map[string]forgery {
	reply := func(r wire.JoinReply) func(*host, bus.Message) []byte {
		return func(*host, bus.Message) []byte { return r.Append(nil) }
	}
	records := func(record func(h *host) []byte) func(*host, bus.Message) []byte {
		return func(h *host, m bus.Message) []byte {
			request, _ := wire.DecodeCatchUpRequest(m.Data)
			r := wire.CatchUpReply{From: request.From, Last: h.last() + 1}
			r.Records.Add(record(h))
			return r.Append(nil)
		}
	}
	announced := func(record func(h *host) []byte) func(*host, bus.Message) []byte {
		return func(h *host, _ bus.Message) []byte {
			a := h.announcement()
			a.N++
			a.Records = wire.Records{}
			a.Records.Add(record(h))
			return a.Append(nil)
		}
	}
	next := func(h *host, r wire.Record) []byte {
		r.N, r.Prev, r.Epoch = h.last()+1, h.tip(), h.epoch
		return r.Append(nil)
	}
	ofVersion := func(h *host) []byte { return later(h.records[h.last()-1]) }
	ofKind := func(h *host) []byte {
		b := next(h, wire.Record{Kind: wire.KindEnd, End: &wire.End{}})
		for i := len(b) - 1; i > 0; i-- { // the kind follows the hash and the epoch
			if b[i] == byte(wire.KindEnd) {
				c := append([]byte(nil), b...)
				c[i] = 111
				if _, err := wire.DecodeRecord(c); errors.Is(err, wire.ErrUpgrade) {
					return c
				}
			}
		}
		panic("no record of an unknown kind")
	}
	return map[string]forgery{
		"join, version": {".j.", func(*host, bus.Message) []byte {
			return []byte{0x91, wire.FrameVersion + 1}
		}},
		"join, denied": {".j.", reply(wire.JoinReply{Status: wire.JoinDenied, Reason: "go"})},
		"join, full":   {".j.", reply(wire.JoinReply{Status: wire.JoinFull, Reason: "go"})},
		"join, status": {".j.", reply(wire.JoinReply{Status: 77, Reason: "go"})},
		"catch-up, version": {".c.", func(*host, bus.Message) []byte {
			return []byte{0x91, wire.FrameVersion + 1}
		}},
		"catch-up, record's version":     {".c.", records(ofVersion)},
		"catch-up, record's kind":        {".c.", records(ofKind)},
		"announcement, record's version": {"", announced(ofVersion)},
		"announcement, record's kind":    {"", announced(ofKind)},
		"announcement, version": {"", func(h *host, _ bus.Message) []byte {
			a := h.announcement()
			return later(a.Append(nil))
		}},
	}
}

// forging makes somebody answer in the host's place, until the caller calls stop.
func (h *host) forging(f forgery) (stop func()) {
	h.answers(func(m bus.Message) bool {
		if f.subject == "" || !strings.Contains(m.Subject, f.subject) {
			return false
		}
		h.publish(m.Reply, f.frame(h, m))
		return true
	})
	return func() { h.answers(nil) }
}

// Without a pinned key anybody can send an answer that would end a device's part in the run. The
// device, and a witness, asks again, and goes on after two minutes of forged answers as if there
// had been none.
func TestForgedClaims(t *testing.T) {
	for name, f := range forgeries() {
		for _, passive := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					h := newHost(t, testPlan(small))
					for h.last() < 3 {
						h.commit()
					}
					var d *device
					if passive {
						d = h.passive("w", nil, 0)
					} else {
						d = h.device("d0", bowlLoss(small, 0))
					}
					h.announce()
					h.agrees(d, 3)
					stop := h.forging(f)
					for range 24 {
						h.commit() // missed: so the device asks
						h.commit()
						if f.subject == "" {
							h.sendFrame(f.frame(h, bus.Message{}))
						} else if f.subject == ".c." {
							h.announce(h.bring(h.last()))
						}
						pass(5 * time.Second)
					}
					stop()
					for range 3 {
						h.announce()
						pass(time.Minute)
					}
					h.agrees(d, h.last())
					if len(d.ended) > 0 {
						t.Fatalf("Run returned %v", d.result())
					}
				})
			})
		}
	}
}

// The same answers in between good ones end nothing, however many come.
func TestGoodAnswersClearDoubts(t *testing.T) {
	for name, f := range forgeries() {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				d := h.device("d0", bowlLoss(small, 0))
				for range 5 {
					stop := h.forging(f)
					for range 20 {
						h.commit()
						h.commit()
						if f.subject == "" {
							h.sendFrame(f.frame(h, bus.Message{}))
						} else if f.subject == ".c." {
							h.announce(h.bring(h.last()))
						}
						pass(5 * time.Second)
					}
					stop()
					for range 3 {
						h.announce()
						pass(time.Minute)
					}
					h.agrees(d, h.last())
				}
				if len(d.ended) > 0 {
					t.Fatalf("Run returned %v", d.result())
				}
			})
		})
	}
}

// A fresh device that is refused says why within seconds, but not after one answer.
func TestFreshRefusal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.forging(forgeries()["join, denied"])
		began := time.Now()
		err := h.device("d0", bowlLoss(small, 0)).final()
		if !errors.Is(err, client.ErrRefused) || h.joins != 3 || time.Since(began) > 10*time.Second {
			t.Errorf("%v after %d joins and %v, want %v after 3 joins", err, h.joins,
				time.Since(began), client.ErrRefused)
		}
	})
}

// With a pinned key, the coordinator's own answers end Run at once.
func TestSignedClaims(t *testing.T) {
	for name, f := range forgeries() {
		if f.subject != ".j." {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				pin := h.sign()
				h.answers(func(m bus.Message) bool { h.respond(m, f.frame(h, m)); return true })
				began := time.Now()
				err := h.device("d0", bowlLoss(small, 0), pin).final()
				if err == nil || h.joins != 1 {
					t.Errorf("Run returned %v after %d joins and %v, want an error after one", err,
						h.joins, time.Since(began))
				}
			})
		})
	}
}

// A forged snapshot of a later version ends nothing, with and without a pinned key: nobody signs
// snapshots.
func TestForgedSnapshotVersion(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			edits := []func(*client.Config){horizon}
			if pinned {
				edits = append(edits, h.sign())
			}
			for h.last() < 40 {
				h.commit()
			}
			asked := 0
			h.subscribe("zo."+runName+".s.*", func(m bus.Message) {
				asked++
				forged := later((&wire.SnapshotReply{}).Append(nil))
				if _, err := wire.DecodeSnapshotReply(forged); !errors.Is(err, wire.ErrUpgrade) {
					t.Errorf("got %v, want %v", err, wire.ErrUpgrade)
				}
				h.publish(m.Reply, forged)
			})
			d := h.device("d0", bowlLoss(small, 0), edits...)
			h.announce()
			pass(time.Minute)
			h.announce()
			h.agrees(d, 40)
			if len(d.ended) > 0 || asked == 0 {
				t.Fatalf("asked %d times, Run returned %v", asked, d.result())
			}
		})
	}
}
