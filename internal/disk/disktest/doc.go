// Package disktest simulates, in memory, a disk whose power can be cut. The package is for
// simulations, and for tests of programs that must survive a power cut.
//
// A [Disk] is a [disk.FS] that knows which of its content would certainly survive a power cut.
// [Disk.States] enumerates the states that a power cut could leave, [Disk.Crash] draws one of them,
// and [Crashes] cuts the power after every change that a program makes.
//
// # States after a power cut
//
// These decisions are independent, so every combination is possible:
//
//   - The bytes that a file had at its last Sync are kept. Each sector of 512 bytes of a later
//     write is kept or lost; beyond the end that the file had at its last Sync, it may also hold
//     zeros. A later Truncate is kept or lost. The file may end at any byte beyond the end that it
//     had at its last Sync.
//   - For names in a folder that no SyncDir covers yet, each creation and removal is kept or lost,
//     and each renaming is kept, lost, or leaves both names.
//   - The bytes that a failed Sync should have stored may be on the disk or not, whatever later
//     Syncs return, until a program overwrites them or cuts them off. The names that a failed
//     SyncDir should have stored are stored by the next successful SyncDir.
//   - Locks and open files are gone.
//
// A process that dies loses only its locks and open files ([Disk.Kill]).
//
// # Determinism
//
// The same calls with the same seeds give the same states.
package disktest
