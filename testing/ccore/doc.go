// Package ccore compares the core in C with the Go code. c/test/verdict.c is a child process that
// judges frames and replays logs; the tests send it the project's vectors and logs as they are and
// with bytes changed, and the logs of random plans. Both sides must read a frame alike, refuse the
// same records, and come to equal digests.
package ccore
