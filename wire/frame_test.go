package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestTextsAreReadable: a frame with the text of an error can be decoded, whatever bytes the text
// has.
func TestTextsAreReadable(t *testing.T) {
	texts := []string{"", "why", strings.Repeat("x", wire.MaxReason),
		strings.Repeat("x", wire.MaxReason+1),
		strings.Repeat("x", wire.MaxReason-1) + "é", strings.Repeat("日", 1000), "\xff\xfe",
		strings.Repeat("\xe6x", 5000)}
	for _, text := range texts {
		a, err := wire.DecodeAnnouncement(
			(&wire.Announcement{State: wire.Paused, N: 2, Reason: text}).Append(nil))
		if err != nil {
			t.Errorf("announcement with %.20q: %v", text, err)
		}
		j, err := wire.DecodeJoinReply(
			(&wire.JoinReply{Status: wire.JoinDenied, Reason: text}).Append(nil))
		if err != nil {
			t.Errorf("join reply with %.20q: %v", text, err)
		}
		r, err := wire.DecodeRecord(
			(&wire.Record{N: 2, Kind: wire.KindEnd, End: &wire.End{Reason: 1, Text: text}}).Append(
				nil))
		if err != nil {
			t.Fatalf("end with %.20q: %v", text, err)
		}
		for _, got := range []string{a.Reason, j.Reason, r.End.Text} {
			if short := utf8.ValidString(text) && len(text) <= wire.MaxReason; short &&
				got != text {
				t.Errorf("got %q, want %q", got, text)
			}
			if utf8.ValidString(text) && !strings.HasPrefix(text, got) {
				t.Errorf("%q is not a start of %.20q", got, text)
			}
			if len(got) > wire.MaxReason ||
				len(text) >= wire.MaxReason && len(got) < wire.MaxReason-2 {
				t.Errorf("%.20q: got %d bytes", text, len(got))
			}
		}
	}
}

func TestRecordsEach(t *testing.T) {
	var r wire.Records
	want := [][]byte{vector(t, "record-end"), vector(t, "record-plan-full"),
		vector(t, "record-round")}
	for _, b := range want {
		r.Add(b)
	}
	reply, err := wire.DecodeCatchUpReply(
		(&wire.CatchUpReply{From: 1, Last: 3, Records: r}).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Records.Len(); got != 3 {
		t.Errorf("got %d records, want 3", got)
	}
	i := 0
	reply.Records.Each(func(b []byte) bool {
		if !bytes.Equal(b, want[i]) {
			t.Errorf("record %d: got %x, want %x", i, b, want[i])
		}
		i++
		return i < 2
	})
	if i != 2 {
		t.Errorf("Each went on to %d records after false at 2", i)
	}
	frame := (&wire.CatchUpReply{From: 1, Records: r}).Append(nil)
	without := (&wire.CatchUpReply{From: 1}).Append(nil)
	if got, want := r.Size(), len(frame)-len(without)+1; got != want {
		t.Errorf("Size: got %d, want %d", got, want)
	}
}

// TestAliasesDoNotOverwrite: appending to a part of a decoded frame does not change the
// rest of the frame.
func TestAliasesDoNotOverwrite(t *testing.T) {
	frame := vector(t, "reply-rest")
	r, err := wire.DecodeReply(frame)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(frame)
	_ = append(r.Values, 1, 2, 3, 4)
	if !bytes.Equal(frame, before) {
		t.Error("appending to Values overwrote Rest")
	}
}

// TestLargestRecordFitsEveryFrame: MaxRecord leaves room for a frame's other fields.
func TestLargestRecordFitsEveryFrame(t *testing.T) {
	var r wire.Records
	r.Add(make([]byte, wire.MaxRecord))
	largest := uint64(1<<63 - 1)
	frames := map[string][]byte{
		"announcement": (&wire.Announcement{
			State: wire.Paused, N: largest, Attempt: 1<<32 - 1, Epoch: largest, Left: 1<<32 - 1,
			Cohort:   wire.Cohort{Sampled: wire.FullThreshold, Members: plan.MaxMembers},
			StepSize: 1, Perturbations: 1 << 15,
			Reason: strings.Repeat("x", wire.MaxReason), Records: r,
		}).Append(nil),
		"catch-up reply": (&wire.CatchUpReply{
			From: largest, Last: largest, Records: r,
		}).Append(nil),
		"join reply": (&wire.JoinReply{
			Slot: plan.MaxMembers - 1, Last: largest, Plan: make([]byte, wire.MaxRecord),
			Reason:       strings.Repeat("x", wire.MaxReason),
			Announcement: make([]byte, wire.MaxHead),
		}).Append(nil),
	}
	if _, err := wire.DecodeAnnouncement(frames["announcement"]); err != nil {
		t.Error(err)
	}
	for name, frame := range frames {
		if len(frame) > wire.MaxFrame {
			t.Errorf("%s: %d bytes, over %d", name, len(frame), wire.MaxFrame)
		}
	}
}

// TestLargestContributionFits: MaxScalars scalars fit in a reply and in a record.
func TestLargestContributionFits(t *testing.T) {
	scalars := wire.AppendScalars(nil, make([]float32, plan.MaxScalars)...)
	reply := (&wire.Reply{Kind: wire.Contribution, N: 1 << 62, Weight: plan.MaxWeight,
		Values: scalars}).Append(nil)
	if _, err := wire.DecodeReply(reply); err != nil {
		t.Errorf("reply of %d bytes: %v", len(reply), err)
	}
	record := (&wire.Record{N: 1 << 62, Epoch: 1 << 62, Kind: wire.KindRound, Round: &wire.Round{
		Round: 1 << 62, Attempt: 1 << 31, StepSize: 1, Perturbations: 1 << 15, Contributors: 1 << 31,
		Terms: []wire.Term{{Scalars: scalars}},
	}}).Append(nil)
	if _, err := wire.DecodeRecord(record); err != nil {
		t.Errorf("record of %d bytes: %v", len(record), err)
	}
	if _, err := wire.DecodeRecord(append(record, make([]byte, wire.MaxRecord)...)); err == nil {
		t.Error("a record over MaxRecord was read")
	}
}

// TestLargestPieceFits: MaxPiece leaves room for a frame's other fields, and decoders refuse a
// piece of MaxPiece + 1 bytes.
func TestLargestPieceFits(t *testing.T) {
	const size = 4 * plan.MaxDense
	for length, want := range map[int]error{wire.MaxPiece: nil, wire.MaxPiece + 1: wire.ErrLimit} {
		data, offset := make([]byte, length), uint64(size-length)
		u := wire.Upload{N: 1<<63 - 1, Weight: plan.MaxWeight, Size: size, Offset: offset,
			Data: data}
		r := wire.ObjectReply{Size: size, Offset: offset, Data: data}
		for name, frame := range map[string][]byte{"upload": u.Append(nil),
			"object-reply": r.Append(nil)} {
			again, err := frames[name](frame)
			if !errors.Is(err, want) || want == nil && !bytes.Equal(again, frame) {
				t.Errorf("%s of %d bytes: got %v, want %v", name, length, err, want)
			}
			if length == wire.MaxPiece && len(frame) > wire.MaxFrame {
				t.Errorf("%s: %d bytes, over %d", name, len(frame), wire.MaxFrame)
			}
		}
	}
}

// TestPiecesMakeTheVector: a vector survives upload and download in pieces of any length.
func TestPiecesMakeTheVector(t *testing.T) {
	vector := make([]byte, 4*999)
	for i := range vector {
		vector[i] = byte(i * 31)
	}
	digest := wire.HashObject(vector)
	for _, piece := range []int{1, 4, 100, 3996, 5000} {
		var up, down []byte
		for at := 0; at < len(vector); at += piece {
			data := vector[at:min(at+piece, len(vector))]
			u, err := wire.DecodeUpload(
				(&wire.Upload{N: 9, Weight: 1, Size: uint64(len(vector)), Digest: digest,
					Offset: uint64(at), Data: data}).Append(nil))
			if err != nil || u.Offset != uint64(len(up)) || u.Digest != digest {
				t.Fatalf("byte %d: got %+v, %v", at, u, err)
			}
			r, err := wire.DecodeObjectReply(
				(&wire.ObjectReply{Size: u.Size, Offset: u.Offset, Data: u.Data}).Append(nil))
			if err != nil || r.Offset != u.Offset || r.Size != u.Size {
				t.Fatalf("byte %d: got %+v, %v", at, r, err)
			}
			up, down = append(up, u.Data...), append(down, r.Data...)
		}
		if wire.HashObject(up) != digest || !bytes.Equal(down, vector) {
			t.Errorf("pieces of %d bytes make another vector", piece)
		}
	}
	vector[0]++
	if wire.HashObject(vector) == digest {
		t.Error("another vector has the same digest")
	}
}

func TestScalars(t *testing.T) {
	want := []float32{0.5, -1.25, 3}
	s := wire.AppendScalars(nil, want...)
	if s.Len() != len(want) {
		t.Fatalf("got %d scalars, want %d", s.Len(), len(want))
	}
	for i, v := range want {
		if got := s.At(i); got != v {
			t.Errorf("scalar %d: got %v, want %v", i, got, v)
		}
	}
}

// TestNames checks the texts for people, also for numbers unknown to this version.
func TestNames(t *testing.T) {
	_, err := wire.DecodeReply(vector(t, "reply-kind-new"))
	tests := []struct {
		got  any
		want string
	}{
		{err, "wire: reply: kind: unknown to this version, upgrade"},
		{wire.KindRollback, "rollback"}, {wire.RecordKind(9), "unknown(9)"},
		{wire.RecordKind(0), "unknown(0)"},
		{wire.EndDiverged, "diverged"}, {wire.EndPatience, "patience"},
		{wire.Contribution, "contribution"},
		{wire.DeclineBusy, "busy"},
		{wire.DeclineReason(200), "unknown(200)"}, {wire.JoinFull, "roster full"},
		{wire.Paused, "paused"},
		{plan.Central, "central"}, {plan.TorchMomentum, "torch-momentum"},
		{plan.NormalFill, "normal"}, {plan.Fill(9), "unknown(9)"},
		{wire.UploadBusy, "busy"}, {wire.UploadState(0), "unknown(0)"},
		{plan.DenseVectors, "dense"}, {plan.LocalAdam, "adam"},
		{plan.Surrogate, "surrogate"}, {plan.CorrectionTheory, "theory"},
		{plan.AtRound, "round"}, {plan.Estimator(2), "unknown(2)"},
	}
	for _, test := range tests {
		if got := fmt.Sprint(test.got); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestSubjects(t *testing.T) {
	tests := [][2]string{
		{subjects.Announce("r1", 0), "zo.r1.a.0"},
		{subjects.Announce("r1", 1295), "zo.r1.a.zz"},
		{subjects.Reply("r1", 35, "phone"), "zo.r1.p.z.phone"},
		{subjects.Join("r1", "phone"), "zo.r1.j.phone"},
		{subjects.CatchUp("r1", "phone"), "zo.r1.c.phone"},
		{subjects.AllReplies("r1"), "zo.r1.p.*.*"},
		{subjects.AllShards("r1", "phone"), "zo.r1.p.*.phone"},
		{subjects.AllAnnouncements("r1"), "zo.r1.a.*"},
		{subjects.Inbox("phone"), "_INBOX_phone"},
		{subjects.AllJoins("r1"), "zo.r1.j.*"},
		{subjects.AllCatchUps("r1"), "zo.r1.c.*"},
		{subjects.Snapshot("r1", "phone"), "zo.r1.s.phone"},
		{subjects.AllSnapshots("r1"), "zo.r1.s.*"},
		{subjects.Log("r1"), "zo.r1.h"},
		{subjects.Members("r1"), "zo.r1.m"},
		{subjects.History("r1"), "zo.r1.t"},
		{subjects.Lead("r1"), "zo.r1.l"},
		{subjects.Operator("r1", "pause"), "zo.r1.o.pause"},
		{subjects.Upload("r1", "phone"), "zo.r1.u.phone"},
		{subjects.AllUploads("r1"), "zo.r1.u.*"},
		{subjects.Object("r1", "phone"), "zo.r1.d.phone"},
		{subjects.AllObjects("r1"), "zo.r1.d.*"},
		{subjects.ID("zo.r1.p.z.phone"), "phone"},
		{subjects.ID("phone"), "phone"},
	}
	for _, test := range tests {
		if test[0] != test[1] {
			t.Errorf("got %s, want %s", test[0], test[1])
		}
	}
	for _, name := range []string{"a", "A-z_0", strings.Repeat("x", plan.MaxName)} {
		if err := plan.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "a.b", "a*", ">", "a b", "é", "a\n",
		strings.Repeat("x", plan.MaxName+1)} {
		if plan.CheckName(name) == nil {
			t.Errorf("%q is accepted as a token", name)
		}
	}
	if err := plan.CheckName("caf\u00e9"); !strings.Contains(err.Error(), "'\u00e9'") {
		t.Errorf("%v, want the character that is wrong", err)
	}
	for subject, want := range map[string]bool{
		"_INBOX.x": true, "zone.1": true, "zo": true, "": false, "zo.r1.h": false,
		"$JS.API.INFO": false,
	} {
		if subjects.Answerable(subject) != want {
			t.Errorf("%q: answerable %v, want %v", subject, !want, want)
		}
	}
}

// TestReference: a reference may follow an announcement; any other bytes there belong to a later
// version.
func TestReference(t *testing.T) {
	want := wire.Reference{N: 64, Tip: wire.Tip{1, 2}, Digest: [8]byte{3, 4}}
	for _, rest := range [][]byte{want.Append(nil), append(want.Append(nil), 0xa1, 'x')} {
		a, err := wire.DecodeAnnouncement((&wire.Announcement{N: 70, Rest: rest}).Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := a.Reference(); !ok || got != want {
			t.Errorf("rest %x: got %+v, %v, want %+v", rest, got, ok, want)
		}
	}
	whole := want.Append(nil)
	none := [][]byte{nil, {7}, {0xa1, 'x'}, (&wire.Reference{}).Append(nil),
		{0xdd, 0xff, 0xff, 0xff, 0xff}}
	for n := range whole {
		none = append(none, whole[:n])
	}
	for _, rest := range none {
		a := wire.Announcement{N: 70, Rest: rest}
		if got, ok := a.Reference(); ok || got != (wire.Reference{}) {
			t.Errorf("rest %x is read as %+v", rest, got)
		}
	}
}
