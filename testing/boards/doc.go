// Package boards trains microcontrollers that QEMU models in whole runs, beside devices in Go. The
// firmware is c/examples/firmware. The core's other tests on boards are c/test/boards/run.sh.
package boards
