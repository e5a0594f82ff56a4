// Package wire holds everything that two parties of a Zofl run must agree on:
// the plan, the frames, the subjects, the record and its hash chain, the
// cohorts and the limits. It does no input or output.
//
// For most uses, start from a preset (package wire/preset), fill in the model, call
// [Plan.Validate], and hand the plan to a coordinator; a device receives it
// with its first record. The frames are for the packages client and
// coordinator, and for whoever ports Zofl to another language; SPEC.md gives
// them byte by byte, testdata holds vectors.
//
// # Frames
//
// A frame is a msgpack array that is written and read by hand, in shortest
// forms only, so that what decodes re-encodes to the same bytes. Every length
// is checked against the bytes that remain before anything is allocated;
// nothing that comes from a network panics.
//
// # Compatibility
//
// Plans and records never grow: an unknown version, kind or field is an error
// that matches [ErrUpgrade], because a replica that guesses would diverge.
// All other frames may grow at their end: bytes after the fields known here are
// kept verbatim in Rest.
package wire
