// Package transcript holds what a device of a real run received and sent, as text.
//
// The files are client/testdata/transcripts/*.txt, and docs/device.md says how to read them. With
// -update, TestTranscripts runs a coordinator and devices in memory, and writes what one of the
// devices got and gave. Without it, the test plays each file to a new client: what the device
// received at the same time, the losses as answers to the same points, and every frame that the
// client sends must be the file's. So a port can be tested with the same files.
package transcript
