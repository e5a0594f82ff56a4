// Package wire has the frames of a Zofl run: announcements, replies, records and their hash chain,
// and the cohorts that they ask. It does no input or output.
//
// The frames are for the packages client and coordinator, and for ports of Zofl to other languages;
// docs/wire.md gives them byte by byte, and testdata holds vectors. What a run's parties agree on
// is in package plan.
//
// # Frames
//
// A frame is a msgpack array, written and read by hand in shortest forms only,
// so that what decodes re-encodes to the same bytes. Every length is checked
// against the bytes that remain before anything is allocated, and no bytes
// from a network can cause a panic. Package internal/codec has the msgpack
// values, and says why the msgpack library does not read or write them.
//
// # Compatibility
//
// Plans and records never grow: an unknown version, kind or field is an error
// that matches [ErrUpgrade], because a replica that guesses would diverge.
// All other frames may grow at their end: bytes after the known fields are
// kept verbatim in Rest.
package wire
