package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// JoinStatus is the coordinator's answer to a join. A device treats an unknown status
// as a refusal.
type JoinStatus uint8

const (
	JoinOK     JoinStatus = 0
	JoinFull   JoinStatus = 1 // the roster has no room
	JoinDenied JoinStatus = 2 // the coordinator refuses this device
	// JoinPlan: the join reply holds the plan, but no slot. A device that accepts the plan sends a
	// second join request. Only a device that sent a [Known] gets JoinPlan or JoinLater.
	JoinPlan  JoinStatus = 3
	JoinLater JoinStatus = 4 // the run admits no device now; Reason says why
)

func (s JoinStatus) String() string {
	return codec.Name([]string{"ok", "roster full", "denied", "plan", "later"}, int(s))
}

// A JoinRequest asks for a slot and the plan. The device's id is in the NATS subject. Rest begins
// with a [Known].
type JoinRequest struct {
	Rest []byte
}

// Append appends the encoding of r to b: the array [version], then Rest.
func (r *JoinRequest) Append(b []byte) []byte {
	return append(append(codec.AppendArray(b, 1), FrameVersion), r.Rest...)
}

// DecodeJoinRequest reads a join request.
func DecodeJoinRequest(b []byte) (JoinRequest, error) {
	d := newReader("join request", b)
	d.Head(FrameVersion, 1)
	return JoinRequest{Rest: d.Rest()}, d.err()
}

// A JoinReply gives a device its slot and record 1, the plan. A refused device gets neither a slot
// nor the plan, and Reason says what to do. With JoinPlan the device gets the plan but no slot.
type JoinReply struct {
	Status JoinStatus
	Slot   uint32 // 0 with an open roster, which has no slots
	Last   uint64 // the log's last record
	Plan   []byte // record 1, encoded
	Reason string
	// Announcement is the current announcement, encoded, without records. Announcement is empty before
	// the first announcement of the run. A device that subscribes to announcements before it joins
	// misses none.
	Announcement []byte
	Rest         []byte
}

// Append appends the encoding of r to b: the array [version, status, slot,
// last, plan, reason, announcement], then Rest.
func (r *JoinReply) Append(b []byte) []byte {
	b = codec.AppendArray(b, 7)
	b = codec.AppendUint(append(b, FrameVersion), uint64(r.Status))
	b = codec.AppendUint(b, uint64(r.Slot))
	b = codec.AppendUint(b, r.Last)
	b = codec.AppendBin(b, r.Plan)
	b = codec.AppendText(b, r.Reason, MaxReason)
	b = codec.AppendBin(b, r.Announcement)
	return append(b, r.Rest...)
}

// DecodeJoinReply reads a join reply. Plan, Announcement and Rest alias b.
func DecodeJoinReply(b []byte) (JoinReply, error) {
	d := newReader("join reply", b)
	d.Head(FrameVersion, 7)
	r := JoinReply{
		Status: JoinStatus(d.Uint("status", math.MaxUint8)),
		Slot:   uint32(d.Uint("slot", plan.MaxMembers-1)),
		Last:   d.Uint("last", math.MaxInt64),
		Plan:   d.Bin("plan", MaxRecord),
		Reason: d.String("reason", MaxReason),

		Announcement: d.Bin("announcement", MaxHead),
		Rest:         d.Rest(),
	}
	if !d.OK() {
		return JoinReply{}, d.err()
	}
	return r, nil
}

// A CatchUpRequest asks for the records from index From on, in a reply of at most about MaxBytes
// bytes.
type CatchUpRequest struct {
	From     uint64
	MaxBytes uint64
	Rest     []byte
}

// Append appends the encoding of r to b: the array [version, from, maxBytes],
// then Rest.
func (r *CatchUpRequest) Append(b []byte) []byte {
	b = append(codec.AppendArray(b, 3), FrameVersion)
	b = codec.AppendUint(b, r.From)
	b = codec.AppendUint(b, r.MaxBytes)
	return append(b, r.Rest...)
}

// DecodeCatchUpRequest reads a catch-up request.
func DecodeCatchUpRequest(b []byte) (CatchUpRequest, error) {
	d := newReader("catch-up request", b)
	d.Head(FrameVersion, 3)
	r := CatchUpRequest{
		From:     d.Uint("from", math.MaxInt64),
		MaxBytes: d.Uint("max bytes", math.MaxUint32),
		Rest:     d.Rest(),
	}
	d.Positive("from", r.From)
	if !d.OK() {
		return CatchUpRequest{}, d.err()
	}
	return r, nil
}

// A CatchUpReply carries the records From, From+1, ...: as many as fit in a frame, or none if the
// log ends before From.
type CatchUpReply struct {
	From    uint64
	Last    uint64 // the log's last record
	Records Records
	Rest    []byte
}

// Append appends the encoding of r to b: the array [version, from, last,
// records], then Rest.
func (r *CatchUpReply) Append(b []byte) []byte {
	b = append(codec.AppendArray(b, 4), FrameVersion)
	b = codec.AppendUint(b, r.From)
	b = codec.AppendUint(b, r.Last)
	b = r.Records.append(b)
	return append(b, r.Rest...)
}

// DecodeCatchUpReply reads a catch-up reply. Records and Rest alias b.
func DecodeCatchUpReply(b []byte) (CatchUpReply, error) {
	d := newReader("catch-up reply", b)
	d.Head(FrameVersion, 4)
	r := CatchUpReply{
		From:    d.Uint("from", math.MaxInt64),
		Last:    d.Uint("last", math.MaxInt64),
		Records: d.records(),
		Rest:    d.Rest(),
	}
	d.Positive("from", r.From)
	if !d.OK() {
		return CatchUpReply{}, d.err()
	}
	return r, nil
}
