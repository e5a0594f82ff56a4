package wire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/zofl/zofl/wire"
)

// These tests compare frames with the msgpack library. Outside tests Zofl uses only the library's
// type codes: package internal/codec says why.

func TestLibraryDecodesFrames(t *testing.T) {
	prev, tip, object := wire.Hash{1, 2, 3}, wire.Tip{4, 5, 6}, [wire.ObjectLen]byte{7, 8, 9}
	scalars := wire.AppendScalars(nil, 1, -2)
	round := wire.Record{N: 300, Prev: prev, Epoch: 70000, Kind: wire.KindRound, Round: &wire.Round{
		Round: 299, StepSize: 0.5, Perturbations: 2, Contributors: 40, Slots: []uint32{1, 200},
		Terms: []wire.Term{{Scalars: scalars}, {Back: 5, Source: 3, Scalars: scalars}},
	}}
	var records wire.Records
	records.Add(round.Append(nil))
	terms := []any{[]any{int8(0), int8(0), []byte(scalars)},
		[]any{int8(5), int8(3), []byte(scalars)}}
	tests := []struct {
		name  string
		frame []byte
		want  any
	}{
		{"record", round.Append(nil),
			[]any{int8(1), int8(2), uint16(300), prev[:], uint32(70000), map[any]any{
				int8(1): uint16(299), int8(3): float32(0.5), int8(4): int8(2), int8(5): int8(40),
				int8(6): []any{int8(1), uint8(200)}, int8(7): terms,
			}}},
		{"announcement",
			(&wire.Announcement{State: wire.Paused, N: 301, Epoch: 1 << 40, StepSize: 0.5,
				Reason: "why", Records: records}).Append(nil),
			[]any{int8(1), int8(1), uint16(301), int8(0), uint64(1 << 40), int8(0), int8(0),
				int8(0), float32(0.5), int8(0), "why",
				[]any{round.Append(nil)}}},
		{"reply", (&wire.Reply{Kind: wire.Contribution, N: 9, Tip: tip, Weight: 128, Loss: 2,
			Values: scalars}).Append(nil),
			[]any{int8(1), int8(1), int8(9), tip[:], uint8(128), float32(2), []byte(scalars)}},
		{"join reply",
			(&wire.JoinReply{Status: wire.JoinFull, Last: 7, Plan: []byte{1}, Reason: "full",
				Announcement: []byte{2}}).Append(nil),
			[]any{int8(1), int8(1), int8(0), int8(7), []byte{1}, "full", []byte{2}}},
		{"upload",
			(&wire.Upload{N: 9, Tip: tip, Weight: 128, Loss: 2, Size: 1 << 20, Digest: object,
				Offset: 300, Data: []byte{1}}).Append(nil),
			[]any{int8(1), int8(9), tip[:], uint8(128), float32(2), uint32(1 << 20), object[:],
				uint16(300), []byte{1}}},
		{"upload reply", (&wire.UploadReply{N: 9, State: wire.UploadBusy, Wait: 2000}).Append(nil),
			[]any{int8(1), int8(9), int8(3), int8(0), uint16(2000)}},
		{"object request",
			(&wire.ObjectRequest{Digest: object, Offset: 61440, MaxBytes: 65536}).Append(nil),
			[]any{int8(1), object[:], uint16(61440), uint32(65536)}},
		{"object reply",
			(&wire.ObjectReply{Size: 400, Offset: 300, Data: []byte{1, 2}}).Append(nil),
			[]any{int8(1), uint16(400), uint16(300), []byte{1, 2}}},
		{"dense round",
			(&wire.Record{N: 9, Prev: prev, Kind: wire.KindRound,
				Round: &wire.Round{Round: 8, StepSize: 0.5, Phase: 2, Object: object[:]}}).Append(nil),
			[]any{int8(1), int8(2), int8(9), prev[:], int8(0), map[any]any{
				int8(1): int8(8), int8(3): float32(0.5), int8(7): []any{}, int8(9): object[:],
				int8(10): int8(2)}}},
		{"catch-up request", (&wire.CatchUpRequest{From: 5, MaxBytes: 65536}).Append(nil),
			[]any{int8(1), int8(5), uint32(65536)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := msgpack.NewDecoder(bytes.NewReader(test.frame))
			d.SetMapDecoder(func(d *msgpack.Decoder) (any, error) { return d.DecodeUntypedMap() })
			got, err := d.DecodeInterface()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

func TestDecodesLibraryFrames(t *testing.T) {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	e.UseCompactInts(true)
	values := binary.LittleEndian.AppendUint32(nil, math.Float32bits(-0.5))
	if err := e.EncodeMulti(
		[]any{uint64(1), uint64(1), uint64(70000), []byte("8 bytes."), uint64(600), float32(2.5),
			values}); err != nil {
		t.Fatal(err)
	}
	got, err := wire.DecodeReply(b.Bytes())
	want := wire.Reply{
		Kind: wire.Contribution, N: 70000, Tip: wire.Tip([]byte("8 bytes.")),
		Weight: 600, Loss: 2.5, Values: wire.AppendScalars(nil, -0.5),
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if again := got.Append(nil); !bytes.Equal(again, b.Bytes()) {
		t.Errorf("re-encoded %x, the library wrote %x", again, b.Bytes())
	}
}

// TestLibraryAgreesOnEveryInteger compares integers at the limits of each form.
func TestLibraryAgreesOnEveryInteger(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32,
		math.MaxUint32 + 1, math.MaxInt64} {
		var b bytes.Buffer
		e := msgpack.NewEncoder(&b)
		e.UseCompactInts(true)
		if err := e.EncodeMulti([]any{uint64(1), v, uint64(0)}); err != nil {
			t.Fatal(err)
		}
		if got := (&wire.CatchUpRequest{From: v}).Append(nil); !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%d: got %x, the library writes %x", v, got, b.Bytes())
		}
	}
}
