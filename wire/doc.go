// Package wire has the frames of a Zofl run (announcements, replies, records and their hash chain),
// and the cohorts that frames ask. It does no input or output.
//
// The frames are for the packages client and coordinator, and for ports of Zofl to other languages;
// docs/wire.md gives them byte by byte, and testdata holds vectors. Package plan has what a run's
// parties agree on.
//
// # Frames
//
// A frame is a msgpack array. It is written and read by hand in shortest forms only, so that
// decoded bytes re-encode to the same bytes. Every length is checked against the remaining bytes
// before anything is allocated, and no bytes from a network can cause a panic. Package
// internal/codec reads and writes msgpack values, and says why the msgpack library does not.
//
// # Compatibility
//
// Plans and records never grow: an unknown version, kind or field is an error that matches
// [ErrUpgrade], because a replica that guesses would diverge. All other frames may grow at their
// end: bytes after the known fields are kept verbatim in Rest.
package wire
