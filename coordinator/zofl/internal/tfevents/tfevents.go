// Package tfevents writes scalars as TensorBoard reads them: event files. An event file consists of
// TFRecord records, each with one Event message of TensorFlow's event.proto.
package tfevents

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
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
type Writer struct{ io.WriteCloser }

// Create makes a directory with an event file, and returns a Writer of the file. TensorBoard shows
// all event files in one directory as one run.
func Create(dir string, now time.Time) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Join(dir, "events.out.tfevents.0.zofl"))
	if err != nil {
		return nil, err
	}
	w := &Writer{out}
	return w, w.begin(now)
}

func (w *Writer) begin(now time.Time) error {
	event := protowire.AppendTag(at(now), eventFileVersion, protowire.BytesType)
	return w.record(protowire.AppendString(event, fileVersion))
}

// Add writes scalars of a step, in one call of the underlying writer. Add leaves out scalars that
// are not finite, because TensorBoard draws no line through them.
func (w *Writer) Add(now time.Time, step uint64, scalars []Scalar) error {
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
	event := protowire.AppendTag(at(now), eventStep, protowire.VarintType)
	event = protowire.AppendVarint(event, step)
	event = protowire.AppendTag(event, eventSummary, protowire.BytesType)
	return w.record(protowire.AppendBytes(event, summary))
}

// at returns the bytes of an event with its time alone.
func at(now time.Time) []byte {
	event := protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type)
	return protowire.AppendFixed64(event, math.Float64bits(float64(now.UnixNano())/1e9))
}

// record writes a record: the length, the checksum of the length, the data, and the checksum of the
// data.
func (w *Writer) record(data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, checksum(data))
	_, err := w.Write(b)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C, rotated by 15 bits and increased by a constant. TFRecord masks checksums
// so because the CRC of data that itself contains CRCs is weak.
func checksum(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
