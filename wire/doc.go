// Package wire holds everything that two parties of a Zofl run must agree on:
// the plan, the frames, the subjects, the record and its hash chain, the
// cohorts and the limits. It does no input or output.
//
// For most uses, start from a preset (package plan/preset) or a file (package
// plan/planfile), fill in the model, check the plan with package plan/plancheck,
// price it with package plan/cost, and hand it to a coordinator. A device receives
// it with its first record, and asks package plan/valid whether it can run. The
// frames are for the packages client and coordinator, and for ports of Zofl to
// other languages; docs/wire.md gives them byte by byte, and testdata holds vectors.
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
