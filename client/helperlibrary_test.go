package client_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A library serves snapshots in a way that a test controls.
type library struct {
	h     *host
	n     uint64 // record that the library names
	tip   wire.Tip
	file  []byte
	piece uint64 // most bytes of a piece
	asked []wire.SnapshotRequest
	edit  func(request wire.SnapshotRequest,
		reply *wire.SnapshotReply) (answers bool) // nil: honest
}

// library makes a library with the state after record n.
func (h *host) library(n uint64) *library {
	h.t.Helper()
	l := &library{h: h, piece: wire.MaxFrame - 128}
	l.hold(h.witness(n), replica.History{})
	h.subscribe(subjects.AllSnapshots(runName), l.serve)
	return l
}

func (l *library) hold(r *replica.Replica, history replica.History) {
	l.n, l.tip, l.file = r.N(), r.Hash().Tip(), stateOf(l.h.t, r, history)
}

func (l *library) serve(m bus.Message) {
	request, err := wire.DecodeSnapshotRequest(m.Data)
	if err != nil {
		l.h.t.Error(err)
		return
	}
	l.asked = append(l.asked, request)
	reply := wire.SnapshotReply{N: l.n, Tip: l.tip, Size: uint64(len(l.file)),
		Offset: request.Offset}
	left := l.file[min(request.Offset, uint64(len(l.file))):]
	reply.Data = left[:min(request.MaxBytes, l.piece, uint64(len(left)))]
	if l.edit == nil || l.edit(request, &reply) {
		l.h.publish(m.Reply, reply.Append(nil))
	}
}

// resum corrects the checksum of an edited file.
func (l *library) resum() {
	end := 17 + int(binary.LittleEndian.Uint32(l.file[13:]))
	sum := sha256.Sum256(l.file[:end])
	copy(l.file[end:], sum[:])
}

// pieces returns how many pieces devices requested.
func (l *library) pieces() int {
	n := 0
	for _, r := range l.asked {
		if r.MaxBytes > 0 {
			n++
		}
	}
	return n
}

// horizon makes a device take a snapshot if it is more than 20 records behind.
func horizon(c *client.Config) { c.Horizon = 20 }

// liar makes a library whose file is valid but whose vectors are not the run's.
func (h *host) liar(n uint64) *library {
	r := h.witness(n)
	r.Params()[3] = float32(math.Pi)
	l := h.library(n)
	l.hold(r, replica.History{})
	return l
}
