// Package wire defines the frames of a Zofl run (announcements, replies, records and their hash
// chain), and the cohorts of devices that announcements ask. Package wire does no input or output.
//
// The frames are for the packages client and coordinator, and for ports of Zofl to other languages;
// docs/wire.md specifies the frames byte by byte, and testdata holds test vectors. Package plan
// defines the plan, on which all parties of a run agree.
//
// # Frames
//
// A frame is a msgpack array. Decoders accept only the shortest form of each value, so that decoded
// bytes re-encode to the same bytes. Decoders check every length against the remaining bytes before
// they allocate anything. No bytes from a network can cause a panic. Package internal/codec reads
// and writes msgpack values, and says why Zofl does not use a msgpack library for that.
//
// # Compatibility
//
// Plans and records never grow: an unknown version, kind or field is an error that matches
// [ErrUpgrade], because a replica that guesses would diverge. All other frames may grow at their
// end: bytes after the known fields are kept verbatim in Rest.
package wire
