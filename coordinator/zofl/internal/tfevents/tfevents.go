// Package tfevents writes scalars as TensorBoard reads them: event files, which are records of
// TFRecord with an Event message of TensorFlow's event.proto each.
package tfevents

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the messages Event, Summary and Summary.Value.
const (
	eventWallTime    = 1 // double, seconds since 1970
	eventStep        = 2 // int64
	eventFileVersion = 3 // string
	eventSummary     = 5 // Summary

	summaryValue = 1 // repeated Summary.Value

	valueTag    = 1 // string
	valueSimple = 2 // float
)

// fileVersion is the text in the first event of a file.
const fileVersion = "brain.Event:2"

// A Scalar is a number with a name. TensorBoard groups names by the part before the slash.
type Scalar struct {
	Tag   string
	Value float64
}

// A Writer writes events.
type Writer struct{ out io.Writer }

// New returns a Writer that has begun a file.
func New(out io.Writer, now time.Time) (*Writer, error) {
	w := &Writer{out}
	event := protowire.AppendTag(begin(now), eventFileVersion, protowire.BytesType)
	return w, w.record(protowire.AppendString(event, fileVersion))
}

// Write writes scalars of a step, in one call of the underlying writer. Values that are not finite
// are left out: TensorBoard draws no line through them.
func (w *Writer) Write(now time.Time, step uint64, scalars []Scalar) error {
	var summary []byte
	for _, s := range scalars {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		value := protowire.AppendTag(nil, valueTag, protowire.BytesType)
		value = protowire.AppendString(value, s.Tag)
		value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(s.Value)))
		summary = protowire.AppendTag(summary, summaryValue, protowire.BytesType)
		summary = protowire.AppendBytes(summary, value)
	}
	event := protowire.AppendTag(begin(now), eventStep, protowire.VarintType)
	event = protowire.AppendVarint(event, step)
	event = protowire.AppendTag(event, eventSummary, protowire.BytesType)
	return w.record(protowire.AppendBytes(event, summary))
}

// begin returns an event that has its time.
func begin(now time.Time) []byte {
	event := protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type)
	return protowire.AppendFixed64(event, math.Float64bits(float64(now.UnixNano())/1e9))
}

// record writes a record: the length, its checksum, the data and theirs.
func (w *Writer) record(data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, checksum(data))
	_, err := w.out.Write(b)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C, turned and shifted: a file that holds records would otherwise have
// checksums of checksums, which are weak.
func checksum(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
